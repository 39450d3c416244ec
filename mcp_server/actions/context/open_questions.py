"""
open_questions: which two memories may be about the same thing, so that the person is asked.

Either a link says so (`contradicts`, or `supersedes` although both are active), or comparing found it.
Neither memory is hidden, and what comparing found is never written into a file.
"""

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from mcp_server.actions.files.shadows import shadowed
from mcp_server.adapters.index.events import settled_pairs
from mcp_server.adapters.index.memories import memories, pairs, relations, selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.errors import IndexUnavailable
from mcp_server.core.links import CONTRADICTS, SUPERSEDES
from mcp_server.store import Store

if TYPE_CHECKING:  # hooks load this module but read no file
    from mcp_server.actions.files.load import MemoryFile

MOST_OPEN = 20  # questions at a time; the next come up when these are settled


class Question(NamedTuple):
    """
    Two memories that are both shown: `rel` is the label of the link between them, '' if none.

    If one superseded the other, it counts as the newer. `differs` is what differs, '' for nothing that code
    can name; `fuller` is the one that says all that the other says.
    """

    newer: Row
    older: Row
    rel: str = ""
    differs: str = ""
    fuller: Row | None = None
    nearness: float = 0.0

    @property
    def holds(self) -> Row:
        """The memory that would replace the other: the one that says all of both, else the newer."""
        return self.fuller or self.newer

    @property
    def gives_way(self) -> Row:
        return self.older if self.holds == self.newer else self.newer


def open_questions(store: Store, db: sqlite3.Connection, *, about: int = 0) -> list[Question]:
    """
    Return the questions that are open here, at most 20: linked pairs first, then the nearest pairs.

    With *about*, the row of a memory, only those about it. The team's are for its curators to settle.
    """
    vaults = store.own
    stated = _linked_pairs(store, db, vaults)
    questions = [
        question for question in stated.values() if about in (0, question.newer.row, question.older.row)
    ]
    nearest = _compared_pairs(store, db, vaults, stated.keys(), about)
    return list(islice(chain(questions, nearest), MOST_OPEN))


def standing_beside(store: Store, file: "MemoryFile") -> tuple[str, ...]:
    """Return the ids of the active memories that superseded *file* once, or that it superseded."""
    with contextlib.suppress(IndexUnavailable), store.database.read() as db:
        row = selections.with_ref(db, file.ref)
        questions = open_questions(store, db, about=row.row) if row else []
        return tuple(
            question.older.id if question.newer == row else question.newer.id
            for question in questions
            if question.rel == SUPERSEDES
        )
    return ()


def fuller(store: Store, db: sqlite3.Connection) -> dict[int, Row]:
    """Return row → the memory that says all of it and more, which is shown in its place."""
    pairs_within = pairs.within(db, store.keys, private=store.private)
    whole = {pair.first if pair.fuller == pair.other else pair.other: pair.fuller for pair in pairs_within}
    if not whole:
        return {}
    shadowed_rows = shadowed(store, db)  # a memory that the project shadows takes no other's place there
    whole = {part: fuller_row for part, fuller_row in whole.items() if fuller_row not in shadowed_rows}
    by_row = memories.by_rows(db, {*whole, *whole.values()})
    settled = {
        part
        for part, fuller_row in whole.items()
        if settled_pairs.is_resolved(db, by_row[part], by_row[fuller_row])
    }
    rows = {}
    for part in whole.keys() - settled:
        last, visited = whole[part], {part}
        while last in whole.keys() - settled - visited:
            visited.add(last)
            last = whole[last]
        rows[part] = by_row[last]
    return rows


def newer_first(row: Row, other: Row) -> tuple[Row, Row]:
    """Return (the newer, the older) of two memories."""
    return (row, other) if (row.updated, row.row) >= (other.updated, other.row) else (other, row)


def _linked_pairs(
    store: Store, db: sqlite3.Connection, vaults: Sequence[str]
) -> dict[frozenset[int], Question]:
    """Return pair of rows → the question, for pairs whose link says that both cannot hold."""
    ends = relations.contradicting(db, vaults, private=store.private)
    # Across levels both stay active: the project's memory holds only in that project.
    replaced = [
        (row, other)
        for row, other in relations.contradicting(db, vaults, private=store.private, rel=SUPERSEDES)
        if row.vault == other.vault
    ]
    by_row = memories.by_rows(db, {end.row for pair in (*ends, *replaced) for end in pair})
    questions: dict[frozenset[int], Question] = {}
    for row, other in ends:
        pair = newer_first(by_row[row.row], by_row[other.row])
        questions.setdefault(frozenset((row.row, other.row)), Question(*pair, CONTRADICTS))
    for row, other in replaced:
        new, old = by_row[row.row], by_row[other.row]
        if not settled_pairs.is_resolved(db, new, old):
            questions.setdefault(frozenset((row.row, other.row)), Question(new, old, SUPERSEDES))
    return questions


def _compared_pairs(
    store: Store, db: sqlite3.Connection, vaults: Sequence[str], stated: Iterable[frozenset[int]], about: int
) -> Iterator[Question]:
    """Yield the nearest pairs that are neither linked nor settled, as long as the caller asks for more."""
    stated_pairs, shadowed_rows = set(stated), shadowed(store, db)
    for pair in pairs.nearest(db, vaults, private=store.private, row=about):
        if frozenset((pair.first, pair.other)) in stated_pairs:
            continue
        rows = memories.by_rows(db, (pair.first, pair.other))
        row, other = rows[pair.first], rows[pair.other]
        if row.vault != other.vault and not shadowed_rows.keys().isdisjoint(rows):
            continue  # one of them is shadowed in this project
        if relations.is_linked(db, row, other) or settled_pairs.is_resolved(db, row, other):
            continue
        yield Question(
            *newer_first(row, other),
            differs=pair.differs,
            fuller=rows.get(pair.fuller),
            nearness=pair.nearness,
        )
