"""ask: an answer to a question from what is remembered, with the ids it rests on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_server.actions.model.model_call import call_model
from mcp_server.actions.recall.recall import note_found, recall
from mcp_server.actions.recall.sent import sent
from mcp_server.adapters import files
from mcp_server.adapters.prompts import prompt
from mcp_server.core.errors import ModelUnavailable
from mcp_server.core.render import outdated, state_of, visible, within
from mcp_server.core.search.query import ANY_STATUS, Confidence, Filter, Hit, Query, check_question
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.text.private import without_private
from mcp_server.store import Store

MOST = 30  # memories that are put before the model: A-43 in docs/features.md
LONGEST = 2000  # characters of a question
BUDGET = 24_000  # characters of them
ANSWER_TOKENS = 1024  # of the model, at most
SHOWN = 5  # passages shown when no model answers

_MASK = re.compile(r"\[secret removed: [^\]\n]{1,120}\]")
_CITED = re.compile(r"([ \t]*)\[([a-z0-9][a-z0-9-]{0,79})\]")


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """
    An answer: its words, the ids it cites, and the memories it may rest on, best first.

    `words` is '' when no model answered, and `why` says why not.
    """

    words: str
    cited: tuple[str, ...]
    hits: tuple[Hit, ...]
    why: str = ""

    @property
    def known(self) -> bool:
        return bool(self.hits)


def ask(store: Store, question: str, *, given_to: str = "") -> CitedAnswer:
    """
    Return what the memory has to say to *question*.

    The model sees the thirty best memories and must cite them; ids that it was not given are taken out.
    Without consent, key or budget the best passages are the answer, and `why` says what was missing.
    What the person marked as private goes to no model.
    Raises Rejected for an empty question, IndexUnavailable.
    """
    question = check_question(redact(question.strip())[:LONGEST])
    query = Query(_MASK.sub(" ", question), limit=MOST, filter=Filter(statuses=ANY_STATUS))
    answer = recall(store, query, given_to=given_to)
    if not given_to:
        note_found(store, answer)
    if answer.verdict is Confidence.NONE:
        return CitedAnswer("", (), ())
    hits = answer.hits
    asked, notes = without_private(question).strip(), sent(store, hits)
    try:
        if not asked or not notes:
            raise ModelUnavailable("The question, or all that answers it, is private: no model is asked.")
        reply = call_model(
            store,
            item=_item(store, question),
            system=prompt("ask"),
            prompt=_request(asked, notes),
            most_tokens=ANSWER_TOKENS,
            patience=files.PATIENCE,
        )
    except ModelUnavailable as error:
        return CitedAnswer("", (), _shown(hits), why=error.with_hint)
    words = visible(redact(reply.text)).strip()
    if not words or "NOT KNOWN" in words:
        return CitedAnswer("", (), ())
    hit_ids = {hit.id for hit in hits}
    words = _CITED.sub(lambda match: match[0] if match[2] in hit_ids else "", words)
    cited = tuple(dict.fromkeys(memory_id for _, memory_id in _CITED.findall(words)))
    return CitedAnswer(words, cited, _shown(hits))


def _shown(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Return the first of *hits* on each shelf: a conversation may be all that answers."""
    knowledge, talks = [hit for hit in hits if not hit.below], [hit for hit in hits if hit.below]
    return (*knowledge[:SHOWN], *talks)


def _request(question: str, hits: Sequence[Hit]) -> str:
    notes = []
    for hit in hits:
        state = state_of(hit.status, shadowed_by=hit.shadowed_by) or outdated(hit.outdated_by)
        about = f"{hit.type} ({state})" if state else hit.type
        text = visible(hit.text).replace("</", "‹/")
        notes.append(f"[{hit.id}] {hit.updated:%Y-%m-%d} {about}: {visible(hit.title)}\n{text}")
    quoted, _ = within(notes, BUDGET, separator="\n\n")
    return "\n\n".join(["<notes>", *quoted, "</notes>", f"Question: {question}", "The answer:"])


def _item(store: Store, question: str) -> str:
    """Return a name for this one question: asked again later it is another item."""
    seed = f"ask\n{question}\n{store.clock().isoformat()}"
    return files.digest(seed.encode("utf-8", "surrogatepass"))
