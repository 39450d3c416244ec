"""outdated: which conversations say something superseded since, which memory holds now, what it replaced."""

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.actions.files.load import load
from mcp_server.adapters.index.memories import memories, selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.memories.shadows import Shadow
from mcp_server.core.errors import Unreadable
from mcp_server.core.memory_parts import Kind, Status, moment_in
from mcp_server.core.search.query import Hit
from mcp_server.core.sessions.conversation import parse_turns
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp_server.core.judge.restated import Stated

MOST = 500  # superseded memories, the latest, that are compared with conversations
MOST_REPLACED = 3  # that a hit names


def outdated(
    store: Store,
    db: sqlite3.Connection,
    hits: Sequence[Hit],
    rows: Mapping[str, Row],
    vaults: Sequence[str],
    shadows: Mapping[int, Shadow],
) -> list[Hit]:
    """
    Return *hits*; a conversation whose shown text is superseded gets the ids of the memories that hold now,
    and a memory those of the latest that it superseded.

    *rows* are the memories of the hits by their ref. Only what was said before is outdated.
    """
    superseded = selections.superseded(db, vaults, MOST) if any(hit.ref in rows for hit in hits) else []
    if not superseded:
        return [*hits]
    marked = []
    for hit in hits:
        row = rows.get(hit.ref)
        if row and row.kind is Kind.CONVERSATION and (statements := [*_statements(row, hit.text)]):
            by = [_holding(store, db, old, row, statements, shadows) for old in superseded]
            marked.append(replace(hit, outdated_by=tuple(dict.fromkeys(filter(None, by)))))
        elif row:
            olds = [old.id for old in superseded if (old.vault, old.superseded_by) == (row.vault, row.id)]
            marked.append(replace(hit, replaced=tuple(olds[:MOST_REPLACED])))
        else:
            marked.append(hit)
    return marked


def successor(db: sqlite3.Connection, row: Row, shadows: Mapping[int, Shadow]) -> Row:
    """Return the memory that superseded or shadows *row* here; *row* itself when none does."""
    visited = {row.id}
    while row.superseded_by and row.superseded_by not in visited:
        visited.add(row.superseded_by)
        successor = selections.with_id(db, [row.vault], row.superseded_by)
        if successor is None:
            break
        row = successor
    shadow = shadows.get(row.row)
    return memories.by_rows(db, [shadow.row]).get(shadow.row, row) if shadow else row


def _holding(
    store: Store,
    db: sqlite3.Connection,
    old: Row,
    talk: Row,
    statements: Sequence[tuple[int, "Stated"]],
    shadows: Mapping[int, Shadow],
) -> str:
    """Return the id of what holds instead of *old*, if *statements* in *talk* say what it said; else ''."""
    from mcp_server.core.judge.restated import restated  # slow to load, and mostly nothing was superseded

    every = [statement for _, statement in statements]
    words = [text for text in (old.text, *_evidence(store, old, talk)) if restated(every, text, "")]
    new = successor(db, old, shadows) if words else old
    if new.row == old.row or new.status is not Status.ACTIVE:
        return ""
    since = max(old.valid_to, new.created)
    before = [statement for at, statement in statements if at <= since]
    return new.id if any(restated(before, text, new.text) for text in words) else ""


def _statements(talk: Row, shown_text: str) -> Iterator[tuple[int, "Stated"]]:
    """Yield (Unix seconds, sentence) for each statement in *shown_text*, a part of *talk*."""
    from mcp_server.core.judge.restated import stated

    for turn in parse_turns(talk.text):
        moment = moment_in(turn.time)
        at = int(moment.timestamp()) if moment else talk.created
        yield from ((at, statement) for statement in stated(turn.words) if statement.text in shown_text)


def _evidence(store: Store, old: Row, talk: Row) -> list[str]:
    """Return the words of *talk* from which the memory *old* was made, if it was."""
    vault = store.vault(old.vault)
    if not talk.session or old.session != talk.session or vault is None:
        return []
    with contextlib.suppress(Unreadable, OSError):
        return [load(vault, Path(old.path)).memory.evidence]
    return []
