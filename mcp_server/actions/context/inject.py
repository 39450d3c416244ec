"""inject: the memories that a prompt calls for, shown unasked or pointed to; nothing is the normal answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_server.actions.context.brief import contested, told_by_auto_memory
from mcp_server.actions.files.sync import catch_up_if_free, ensure_synced
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.events import usage
from mcp_server.core.context.brief import (
    PROMPT_BUDGET,
    PROMPT_FRAME,
    BriefEntry,
    dated_line,
    entry_line,
    pointer_line,
)
from mcp_server.core.memory import Kind
from mcp_server.core.render import estimated_tokens, within
from mcp_server.core.search.prompt_parts import parts_of
from mcp_server.core.search.query import Confidence, Filter, Hit, Query
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.private import kept_of
from mcp_server.core.text.words import query_terms
from mcp_server.store import Store

SHORTEST_PROMPT = 8  # characters from which on a prompt may call for the text of a memory
MOST = 5
LINE = 480  # characters of one memory
RECEIPT = 80  # characters of the prompt that the ledger keeps

_NOT_ASKED = ("/", "<task-notification", "<local-command", "<command-", "<bash-")


@dataclass(frozen=True, slots=True)
class Called:
    """The text that a prompt calls for, '' for nothing, and the event to write once it was shown."""

    text: str = ""
    note: Mapping[str, Any] = field(default_factory=dict)


def inject(store: Store, prompt: str, *, session: str) -> str:
    """Return the text of `called_for` and note in the ledger that it was told. Raises IndexUnavailable."""
    called = called_for(store, prompt, session=session)
    note_told(store, called)
    return called.text


def note_told(store: Store, called: Called) -> None:
    """Note in the ledger that the session was told what its prompt *called* for."""
    if called.note:
        store.ledger.try_append("injected", store.clock(), **called.note)
        catch_up_if_free(store)


def called_for(store: Store, prompt: str, *, session: str) -> Called:
    """
    Return the text that should accompany *prompt*, at most 2,500 characters.

    Only memories that pass the gate, that may be shown unasked, and that this session was not given yet as
    they are now, neither by us nor by Claude Code's own memory. Of a memory that is not sure enough for its
    text only title and id are shown, once in a session: Claude reads it when it matters.
    Raises IndexUnavailable.
    """
    said = prompt.strip()
    store.database.require()
    if not said or said.startswith(_NOT_ASKED):
        return Called()
    only = Filter(kinds=(Kind.KNOWLEDGE,))
    # Hits that are not confident are not shown, so they need not be searched for secrets.
    query = Query(
        said,
        limit=2 * MOST,
        only_confident=True,
        examined=2 * MOST,
        filter=only,
        parts=parts_of(said),
        of_prompt=True,
    )
    ensure_synced(store)  # else the answer may come from the files alone
    answer = recall(store, query)
    if answer.verdict is Confidence.NONE:
        return _silent(store, session, said)
    catch_up_if_free(store)  # so that what the brief told this session counts
    with store.database.read() as db:
        given = usage.injected(db, session) | set(told_by_auto_memory(store, db).items())
        pointed = usage.pointed(db, session)
        otherwise = contested(store, db)
    fitting = [hit for hit in answer.hits if _fits(hit, given)]
    enough = len(said) >= SHORTEST_PROMPT
    sure = [hit for hit in fitting if enough and hit.confidence is not Confidence.LOW][:MOST]
    unsure = [hit for hit in fitting if hit not in sure and (hit.ref, hit.digest) not in pointed]
    terms = query_terms(said)
    lines, _ = within(
        [
            *(_line(hit, terms, otherwise.get(hit.ref, "")) for hit in sure),
            *(pointer_line(hit.id, hit.title) for hit in unsure),
        ],
        PROMPT_BUDGET - len(PROMPT_FRAME) - 1,
    )
    if not lines:
        return _silent(store, session, said)
    shown, titles = sure[: len(lines)], unsure[: max(0, len(lines) - len(sure))]
    note = {
        "refs": [hit.ref for hit in shown],
        "digests": [hit.digest for hit in shown],
        "scores": [round(hit.score, 3) for hit in shown],
        "tokens": [estimated_tokens(line) for line in lines[: len(shown)]],
        "pointers": [[hit.ref, hit.digest] for hit in titles],
        "prompt": redact(kept_of(said))[:RECEIPT],
        "session": session,
    }
    return Called("\n".join([PROMPT_FRAME, *lines]), note)


def _silent(store: Store, session: str, said: str) -> Called:
    """Return nothing; note in the ledger that a prompt long enough for a text (*said*) got none."""
    if len(said) >= SHORTEST_PROMPT:
        store.ledger.try_append("kept_silent", store.clock(), session=session)
    return Called()


def _fits(hit: Hit, given: set[tuple[str, str]]) -> bool:
    sure = hit.pushable and hit.confidence is not Confidence.NONE
    return sure and not hit.gone and (hit.ref, hit.digest) not in given


def _line(hit: Hit, terms: Sequence[str], otherwise: str) -> str:
    """Return one line about *hit*, with what it says of the *terms* of the prompt."""
    dated = dated_line(hit.updated.strftime("%Y-%m-%d"), stale=bool(hit.stale), otherwise=otherwise)
    bare = BriefEntry(hit.id, hit.ref, hit.digest, hit.type, hit.title, "", dated)
    room = LINE - len(f"{entry_line(bare, LINE)}: ")
    return entry_line(bare._replace(text=excerpt(hit.text, terms, room)), LINE)
