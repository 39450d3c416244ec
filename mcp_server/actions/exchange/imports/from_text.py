"""
Import from a source that has words alone: a document, or Claude Code's own memory.

Its records are stored and revised one by one, as `remember` and `revise` do, so that tags, links and other
things that a memory got here stay.
"""

from dataclasses import replace

from mcp_server.actions.exchange.imports.batch import Batch, Item, Outcome, note_outcome
from mcp_server.actions.exchange.imports.plan import Plan
from mcp_server.actions.files.commit import Accept
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.core.memory import Draft, Memory, as_draft
from mcp_server.core.memory_parts import Status
from mcp_server.core.provenance.provenance import ASSISTANT, waits
from mcp_server.store import Store


def remembered(store: Store, plan: Plan, digest: str, batch: Batch) -> None:
    """Store a record under its own id. Raises what `remember` raises."""
    remember(store, _draft(plan))
    note_outcome(plan, plan.vault.ref(plan.id), digest, batch, own=True)


def compared(store: Store, plan: Plan, digest: str, batch: Batch, *, supersedes: str = "") -> Item:
    """
    Store a record after comparing it: Claude may have stored the same from those sessions.

    Raises what `compare_and_store` raises.
    """
    outcome = compare_and_store(store, _draft(plan), supersedes=supersedes)
    now = read(store, outcome.id)
    note_outcome(plan, now.ref, digest, batch, own=not outcome.known or is_made_of(plan, now.memory, digest))
    why = f"replaces {', '.join(outcome.superseded)}" if outcome.superseded else ""
    return Item(plan.record.key, Outcome.MERGED if outcome.known else Outcome.TAKEN, outcome.id, why)


def reworded(store: Store, plan: Plan, file: MemoryFile, digest: str, batch: Batch, *, dry_run: bool) -> Item:
    """Revise the memory of *file* to say what its record says now. Raises what `revise` raises."""
    memory, new, key = file.memory, plan.memory, plan.record.key
    assert new
    if memory.status is not Status.ACTIVE:
        return Item(key, Outcome.LEFT, plan.id, f"it changed there, but its memory is {memory.status}")
    waits_apart = new.source == ASSISTANT != memory.source  # revised, it would be shown unasked as before
    if dry_run:
        return Item(key, Outcome.TAKEN if waits_apart else Outcome.REVISED, plan.id)
    if waits_apart:
        return compared(store, plan, digest, batch, supersedes=memory.id)
    revision = Revision(**{name: getattr(new, name) for name in plan.revises})
    accept = Accept.NO if waits(new.source, f"{new.title}\n{new.text}") else Accept.YES
    store = store.in_session(new.session or store.session)
    revise(store, plan.id, revision, version=file.digest, accept=accept)
    note_outcome(plan, file.ref, digest, batch, own=True)
    return Item(key, Outcome.REVISED, plan.id)


def is_made_of(plan: Plan, memory: Memory, digest: str) -> bool:
    """Tell whether an import made *memory* from the record of *plan*, and was killed before it noted that."""
    assert plan.memory
    is_same_content = plan.digest(memory) == digest and memory.source == plan.memory.source
    return is_same_content and set(plan.memory.notes) <= set(memory.notes)


def _draft(plan: Plan) -> Draft:
    memory = plan.memory
    assert memory
    return replace(as_draft(memory), level=plan.vault.level, id=plan.record.id)
