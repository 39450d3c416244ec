"""Links as the index knows them: what a memory is linked with, and which memories contradict each other."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mcp_server.adapters.index.memories.filters import counting, marks
from mcp_server.adapters.index.memories.memories import Row, by_rows, rows
from mcp_server.core.links import CONTRADICTS, as_name
from mcp_server.core.memory_parts import ref_of


class End(NamedTuple):
    """A memory at one end of a link, by its row."""

    row: int
    vault: str
    id: str

    @property
    def ref(self) -> str:
        return ref_of(self.vault, self.id)


class Edge(NamedTuple):
    """
    One link, seen from the memory `near`.

    `target` is what the link says: an id, a title, an alias or a path. `other` is the memory at the other
    end, of whatever status; None for a file and for what does not exist.
    """

    near: Row
    rel: str
    outgoing: bool
    target: str
    other: Row | None
    notes: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[Row, Row | None]:
        """The memory at which the link starts, and the one to which it leads."""
        return (self.near, self.other) if self.outgoing or self.other is None else (self.other, self.near)


def is_linked(db: sqlite3.Connection, row: Row, other: Row) -> bool:
    """Tell whether one of two memories links to the other by its id, title or an alias."""
    rows = db.execute(
        "SELECT 1 FROM links l JOIN names n ON n.name = l.name"
        " WHERE (l.memory = :one AND n.memory = :other) OR (l.memory = :other AND n.memory = :one) LIMIT 1",
        {"one": row.row, "other": other.row},
    )
    return rows.fetchone() is not None


def contradicting(
    db: sqlite3.Connection, vaults: Sequence[str], *, private: Sequence[str], rel: str = CONTRADICTS
) -> list[tuple[End, End]]:
    """
    Return (linking, linked) for each `contradicts` link, or *rel*, between active memories of *vaults*.

    Only those memories count as linking that `counting` lets count.
    """
    counts, values = counting("s", private)
    within = f"vault IN ({marks(vaults)})"
    links = db.execute(
        "SELECT s.row, s.vault, s.id, l.name FROM links l JOIN memories s ON s.row = l.memory"
        f" WHERE l.rel = ? AND s.status = 'active' AND s.{within}"
        f" AND {counts} ORDER BY s.row, l.name",
        (rel, *vaults, *values),
    ).fetchall()
    if not links:
        return []
    ends = db.execute(
        "SELECT row, vault, id, name FROM names JOIN memories ON row = memory"
        f" WHERE name IN (SELECT value FROM json_each(?)) AND {within} AND status = 'active'",
        (json.dumps([name for *_, name in links]), *vaults),
    ).fetchall()
    pairs = [
        (End(source, vault, memory_id), End(row, place, id))
        for source, vault, memory_id, target in links
        for row, place, id, name in ends
        if row != source and target == name
    ]
    return list(dict.fromkeys(pairs))


def edges(db: sqlite3.Connection, vaults: Sequence[str], *, at: Iterable[int] | None = None) -> list[Edge]:
    """
    Return the links of the memories of *vaults*, with *at* those from and to the memories at these rows.

    Each comes once, seen from its start where that is one of *at*. A link leads to the memory that `called`
    gives for its target; a link of a memory to itself is left out.
    """
    centres = None if at is None else set(at)
    where, values = "", list[str]()
    if centres is not None:
        within = "IN (SELECT value FROM json_each(?))"
        where = f" AND (l.memory {within} OR l.name IN (SELECT name FROM names WHERE memory {within}))"
        values = [json.dumps(list(centres))] * 2
    # CROSS: otherwise SQLite may scan all memories of the vaults first.
    links = db.execute(
        "SELECT l.memory, s.vault, l.rel, l.target, l.name, l.notes FROM links l"
        f" CROSS JOIN memories s ON s.row = l.memory WHERE s.vault IN ({marks(vaults)}){where}"
        " ORDER BY l.memory, l.rel, l.target",
        (*vaults, *values),
    ).fetchall()
    ends = called(db, ((vault, name) for _, vault, _, _, name, _ in links), vaults)
    memories = by_rows(db, {row for row, *_ in links} | set(ends.values()))
    edges_by_key: dict[tuple[int, str, int | str], Edge] = {}
    for row, vault, rel, target, name, noted in links:
        end = ends.get((vault, name))
        notes = tuple(json.loads(noted)) if noted != "[]" else ()
        identity = (row, rel, name if end is None else end)
        if row == end or (identity in edges_by_key and not notes):
            continue  # the same link is also in the text, without notes
        if centres is None or row in centres:
            edges_by_key[identity] = Edge(
                memories[row], rel, True, target, memories[end] if end else None, notes
            )
        elif end in centres:
            edges_by_key[identity] = Edge(memories[end], rel, False, target, memories[row], notes)
    return sorted(edges_by_key.values(), key=lambda edge: not edge.outgoing)


def called(
    db: sqlite3.Connection, names: Iterable[tuple[str, str]], vaults: Sequence[str]
) -> dict[tuple[str, str], int]:
    """
    Return (vault, name) → the row of the memory that a link in a file of that vault means by *name*.

    An id goes before a title or an alias; then the vault of the link before others, a title before an alias,
    and a later one of *vaults* before an earlier one. *name* is normalised by `as_name`.
    """
    distinct = list(dict.fromkeys(names))
    candidates: dict[str, list[tuple[int, str, str, str]]] = {}
    for name, *candidate in db.execute(
        "SELECT name, row, vault, id, title FROM names CROSS JOIN memories ON row = memory"
        f" WHERE name IN (SELECT value FROM json_each(?)) AND vault IN ({marks(vaults)})",
        (json.dumps([name for _, name in distinct]), *vaults),
    ):
        candidates.setdefault(name, []).append(tuple(candidate))
    nearness = {vault: place for place, vault in enumerate(vaults)}
    numbers: dict[tuple[str, str], int] = {}
    for vault, name in distinct:
        if name in candidates:
            numbers[vault, name] = max(
                candidates[name],
                key=lambda row: (name == row[2], row[1] == vault, name == as_name(row[3]), nearness[row[1]]),
            )[0]
    return numbers


def is_called(db: sqlite3.Connection, name: str, *, but: tuple[str, str]) -> bool:
    """Tell whether a memory other than *but* (vault, id) links to *name*."""
    rows = db.execute(
        "SELECT 1 FROM links l JOIN memories s ON s.row = l.memory"
        " WHERE l.name = ? AND (s.vault, s.id) != (?, ?) LIMIT 1",
        (as_name(name), *but),
    )
    return rows.fetchone() is not None


def uncalled(db: sqlite3.Connection, names: Sequence[str], vaults: Sequence[str]) -> tuple[str, ...]:
    """Return those of *names* that no memory of *vaults* has as its id, title or alias."""
    numbers = called(db, (("", as_name(name)) for name in names), vaults)
    return tuple(name for name in names if ("", as_name(name)) not in numbers)


def carrying(db: sqlite3.Connection, tags: Sequence[str], vaults: Sequence[str]) -> list[Row]:
    """Return the active memories of *vaults* with any of *tags*: those with the most of them first."""
    with_tags = set(tags)
    candidates = rows(
        db,
        f"vault IN ({marks(vaults)}) AND status = 'active'"
        " AND row IN (SELECT memory FROM tags WHERE tag IN (SELECT value FROM json_each(?)))",
        (*vaults, json.dumps(list(tags))),
    )
    return sorted(candidates, key=lambda row: (-len(with_tags.intersection(row.tags)), -row.updated, row.id))
