"""remember_marker: store what the person marks with #remember at once, word for word and as theirs."""

from dataclasses import dataclass, replace

from mcp_server.actions.files.read import is_shown, read, read_or_none
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.adapters.index.events import deeds
from mcp_server.core.authors import PERSON
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import fingerprint
from mcp_server.core.provenance.provenance import ASKED
from mcp_server.core.sessions.marked_prompt import marked
from mcp_server.core.text.titles import clipped, split_title
from mcp_server.store import Store

MARKED = "marked"  # the event: the words with that fingerprint are stored for this session
MOST = 1000  # marks of one session that are recognised
UNSEEN = "it waits for the person's word"  # instead of a title that may not be shown unasked


@dataclass(frozen=True, slots=True)
class Marked:
    """
    What became of what the person marked; `outcome` is None when the tag stood alone, meaning earlier words.

    `masked`: a secret in it was taken out.
    """

    outcome: DraftOutcome | None = None
    masked: bool = False


def remember_marked(store: Store, prompt: str) -> Marked | None:
    """
    Store what *prompt* marks with #remember; None when it marks nothing, or a command stores it anyway.

    When the transcript of this session is read later, it is not stored again. Raises Rejected, OSError.
    """
    words = None if prompt.lstrip().startswith(ASKED) else marked(prompt)
    if not words:
        return None if words is None else Marked()
    outcome = store_marked(store, words)
    near = tuple(
        memory if _is_shown(store, memory.id) else replace(memory, title=UNSEEN, differs="")
        for memory in outcome.near
    )
    return Marked(replace(outcome, near=near), "[secret removed" in words)


def _is_shown(store: Store, memory_id: str) -> bool:
    file = read_or_none(store, memory_id)
    return file is not None and is_shown(store, file)


def store_marked(store: Store, words: str, *, conversation: str = "") -> DraftOutcome:
    """Store *words*, which the person marked, as their deed, and note that. Raises Rejected, OSError."""
    store = store.acting_as(PERSON)
    title, text = split_title(words)
    draft = Draft(
        clipped(title), text, session=store.session, conversation=conversation, evidence=words[:200]
    )
    outcome = compare_and_store(store, draft, keep_secrets=True)  # the secrets are masked already
    ref, words_hash = read(store, outcome.id).ref, fingerprint("", words)
    store.record(MARKED, refs=[ref], said=words_hash)
    return outcome


def is_stored(store: Store, words: str) -> bool:
    """Tell whether *words* were marked in this session and stored when the person said them."""
    with store.database.read() as db:
        events = (
            deeds.listed(db, session=store.session, events=(MARKED,), limit=MOST) if store.session else []
        )
    return fingerprint("", words) in {deed.detail.get("said") for deed in events}
