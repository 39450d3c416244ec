"""Links as the index knows them: what a memory is linked with, and who contradicts whom."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mcp_server.adapters.index.memories.filters import counting, marks
from mcp_server.adapters.index.memories.memories import Row, by_rows, rows
from mcp_server.core.links import CONTRADICTS, as_name


class End(NamedTuple):
    """A memory at one end of a link, by its row."""

    row: int
    vault: str
    id: str

    @property
    def ref(self) -> str:
        return f"{self.vault}/{self.id}"


@dataclass(frozen=True, slots=True)
class Edge:
    """
    One link, seen from the memory `near`.

    `target` is what the link says: an id, a title, an alias or a path. `other` is the memory at the other
    end, of whatever status; None for a file and for what is not there.
    """

    near: Row
    rel: str
    outgoing: bool
    target: str
    other: Row | None


def is_linked(db: sqlite3.Connection, one: Row, other: Row) -> bool:
    """Tell whether one of two memories links to the other by its id, title or an alias."""
    found = db.execute(
        "SELECT 1 FROM links l JOIN names n ON n.name = l.name"
        " WHERE (l.memory = :one AND n.memory = :other) OR (l.memory = :other AND n.memory = :one) LIMIT 1",
        {"one": one.row, "other": other.row},
    )
    return found.fetchone() is not None


def contradicting(
    db: sqlite3.Connection, vaults: Sequence[str], *, private: Sequence[str], rel: str = CONTRADICTS
) -> list[tuple[End, End]]:
    """
    Return (linking, linked) for each `contradicts` link, or *rel*, between active memories of *vaults*.

    Of what such a link says only that counts which `counting` lets count.
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
        for source, vault, memory_id, said in links
        for row, place, id, name in ends
        if row != source and said == name
    ]
    return list(dict.fromkeys(pairs))


def edges(db: sqlite3.Connection, numbers: Iterable[int], vaults: Sequence[str]) -> list[Edge]:
    """Return the links from and to the memories at the rows *numbers*, other ends in *vaults*."""
    here = by_rows(db, numbers)
    wanted = json.dumps(list(here))
    outgoing = db.execute(
        "SELECT memory, rel, target FROM links WHERE memory IN (SELECT value FROM json_each(?))"
        " ORDER BY memory, rel, target",
        (wanted,),
    ).fetchall()
    named = _named(db, {target for *_, target in outgoing}, vaults)
    found = [Edge(here[row], rel, True, target, named.get(as_name(target))) for row, rel, target in outgoing]
    incoming = db.execute(
        "SELECT n.memory, l.memory, l.rel, l.target FROM names n JOIN links l ON l.name = n.name"
        " JOIN memories s ON s.row = l.memory WHERE n.memory IN (SELECT value FROM json_each(?))"
        f" AND n.memory != l.memory AND s.vault IN ({marks(vaults)}) ORDER BY l.memory, l.rel, l.target",
        (wanted, *vaults),
    ).fetchall()
    sources = by_rows(db, {row for _, row, *_ in incoming})
    return found + [Edge(here[near], rel, False, target, sources[row]) for near, row, rel, target in incoming]


def names_of(db: sqlite3.Connection, row: int) -> set[str]:
    """Return what links may call the memory in *row*, as `core/links.py` compares it."""
    return {name for (name,) in db.execute("SELECT name FROM names WHERE memory = ?", (row,))}


def is_called(db: sqlite3.Connection, said: str, *, but: tuple[str, str]) -> bool:
    """Tell whether a memory links to what is called *said*, other than the one of (vault, id) *but*."""
    found = db.execute(
        "SELECT 1 FROM links l JOIN memories s ON s.row = l.memory"
        " WHERE l.name = ? AND (s.vault, s.id) != (?, ?) LIMIT 1",
        (as_name(said), *but),
    )
    return found.fetchone() is not None


def uncalled(db: sqlite3.Connection, names: Sequence[str], vaults: Sequence[str]) -> tuple[str, ...]:
    """Return those of *names* that no memory of *vaults* has as its id, title or alias."""
    known = _named(db, names, vaults)
    return tuple(name for name in names if as_name(name) not in known)


def carrying(db: sqlite3.Connection, tags: Sequence[str], vaults: Sequence[str]) -> list[Row]:
    """Return the active memories of *vaults* with any of *tags*: those with the most of them first."""
    wanted = set(tags)
    found = rows(
        db,
        f"vault IN ({marks(vaults)}) AND status = 'active'"
        " AND row IN (SELECT memory FROM tags WHERE tag IN (SELECT value FROM json_each(?)))",
        (*vaults, json.dumps(list(tags))),
    )
    return sorted(found, key=lambda row: (-len(wanted.intersection(row.tags)), -row.updated, row.id))


def _named(db: sqlite3.Connection, names: Iterable[str], vaults: Sequence[str]) -> dict[str, Row]:
    """Return name → the memory of that id, else of that title or alias; the last of *vaults* wins."""
    found = db.execute(
        "SELECT memory, name FROM names JOIN memories ON row = memory"
        f" WHERE name IN (SELECT value FROM json_each(?)) AND vault IN ({marks(vaults)})",
        (json.dumps([as_name(name) for name in names]), *vaults),
    ).fetchall()
    known = by_rows(db, {number for number, _ in found})
    named = [(name, known[number]) for number, name in found]

    def weight(one: tuple[str, Row]) -> tuple[bool, bool, int]:
        name, row = one
        return name == row.id, name == as_name(row.title), vaults.index(row.vault)

    return dict(sorted(named, key=weight))
