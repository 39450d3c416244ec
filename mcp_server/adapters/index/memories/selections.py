"""The selections of memories that actions need: by id, by text, newest, hot, linked, counted."""

import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Literal

from mcp_server.adapters.index.memories import filters
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.memories.memories import MAY_WAIT, Row, rows
from mcp_server.adapters.index.table import Table
from mcp_server.core.memory_parts import DAY, Kind, Status, id_in, vault_in
from mcp_server.core.memory_types import TYPES
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL, SEARCHED_ALONE
from mcp_server.core.worth.ratings import HotRule

if TYPE_CHECKING:  # hooks load this module and make no queries
    from mcp_server.core.search.query import Filter

TABLES = (Table("facts", {"name": str, "value": str}, pk="name"),)
NEVER = tuple(sorted(SEARCHED_ALONE))  # sources of memories that are never shown unasked
SOURCES = (MANUAL, *NEVER)  # never wait for the person: they are shown anyway, or never
_SYNCED = "synced "  # how the facts begin that `synced` returns
ENDING = 4  # characters that `memory.new_id` appends to the title
Order = Literal["updated", "created"]  # which of a memory's times decides; the newest comes first
ORDERS: Mapping[Order, str] = {"updated": "updated DESC, id", "created": "created DESC, id"}


def with_id(db: sqlite3.Connection, vaults: Sequence[str], memory_id: str) -> Row | None:
    """Return the memory with that id; if there are several, the one in the last of *vaults*."""
    fitting = rows(db, f"id = ? AND {_in(vaults)}", (memory_id, *vaults))
    return max(fitting, key=lambda row: vaults.index(row.vault), default=None)


def with_ending(db: sqlite3.Connection, vaults: Sequence[str], ending: str) -> Row | None:
    """Return the only memory whose id ends in a hyphen and *ending*, four characters; None for several."""
    if len(ending) != ENDING or not ending.isalnum():
        return None
    fitting = rows(db, f"substr(id, ?) = ? AND {_in(vaults)}", (-ENDING - 1, f"-{ending}", *vaults))
    return fitting[0] if len(fitting) == 1 else None


def saying(db: sqlite3.Connection, vault: str, fingerprint: str, *, active: bool = True) -> Row | None:
    """Return a knowledge memory of *vault*, active or put away, whose text has that fingerprint."""
    # The pluses keep SQLite from scanning the whole vault in the order of its ids.
    fitting = rows(
        db,
        f"fingerprint = ? AND +vault = ? AND +status {'=' if active else '!='} 'active'"
        " AND +kind = 'knowledge'",
        (fingerprint, vault),
        "+id LIMIT 1",
    )
    return fitting[0] if fitting else None


def with_phrase(db: sqlite3.Connection, vaults: Sequence[str], phrase: str) -> list[Row]:
    """Return the active knowledge of *vaults* that may contain *phrase*: all its words in their order."""
    where, values = f"{_in(vaults)} AND kind = 'knowledge' AND status = 'active'", list(vaults)
    if phrase.isascii():  # without blanks between words, the index splits them otherwise than people
        where += " AND row IN (SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?)"
        # A quote would end the expression's phrase, and a NUL all of the expression.
        plain = phrase.replace('"', " ").replace("\0", " ")
        values.append(f'{{title text}} : "{plain}"')
    return rows(db, where, values, "updated DESC, id")


def named_like(db: sqlite3.Connection, vaults: Sequence[str], words: Sequence[str], most: int) -> list[Row]:
    """Return *most* memories with a name that has all *words* (`links.as_name`), active ones first."""
    named = " AND ".join(["instr(name, ?)"] * len(words))
    where = f"{_in(vaults)} AND row IN (SELECT memory FROM names WHERE {named})"
    order = f"status != 'active', kind != 'knowledge', updated DESC, row LIMIT {int(most)}"
    return rows(db, where, (*vaults, *words), order)


def superseded(db: sqlite3.Connection, vaults: Sequence[str], most: int) -> list[Row]:
    """Return the *most* superseded knowledge memories of *vaults* that changed last, latest first."""
    where = f"{_in(vaults)} AND kind = 'knowledge' AND status = 'superseded'"
    return rows(db, where, vaults, f"updated DESC, row LIMIT {int(most)}")


def is_anywhere(db: sqlite3.Connection, memory_id: str) -> bool:
    """Tell whether a memory of any project has that id."""
    return db.execute("SELECT 1 FROM memories WHERE id = ? LIMIT 1", (memory_id,)).fetchone() is not None


def page(
    db: sqlite3.Connection,
    filter: "Filter",
    vaults: Sequence[str],
    *,
    order: Order,
    limit: int,
    offset: int,
    without: Collection[int] = (),
) -> tuple[list[Row], int]:
    """
    Return (one page of the memories that *filter* lets through, how many there are in all).

    The rows *without* are left out.
    """
    where, values = filters.where(filter, vaults)
    if without:
        where += f" AND row NOT IN ({marks(without)})"
        values += without
    total = int(db.execute(f"SELECT count(*) FROM memories WHERE {where}", values).fetchone()[0])
    start = min(offset, total)  # a number beyond 64 bits is an error in SQL
    return rows(db, where, values, f"{ORDERS[order]} LIMIT {int(limit)} OFFSET {int(start)}"), total


def row_numbers(db: sqlite3.Connection, filter: "Filter", vaults: Sequence[str]) -> set[int]:
    """Return the rows of all memories that *filter* lets through."""
    where, values = filters.where(filter, vaults)
    return {row[0] for row in db.execute(f"SELECT row FROM memories WHERE {where}", values)}


def newest(
    db: sqlite3.Connection,
    vaults: Sequence[str],
    *,
    private: Sequence[str],
    types: Sequence[str] = (),
    kind: Kind = Kind.KNOWLEDGE,
    limit: int,
) -> list[Row]:
    """
    Return the active memories of that kind, and of *types* if there are any, updated last.

    Memories that are never shown unasked are left out, and so are those outside the *private* vaults or
    stored by Claude that are not accepted: enough of them would leave no room for what the person knows.
    """
    if not vaults:
        return []
    # Each type of each vault is an index range of its own, newest last. SQLite merges ranges of the same
    # order as the result: it sorts nothing and reads nothing beyond *limit*.
    parts: list[str] = []
    bound: list[str] = []
    for vault, type in product(vaults, types or TYPES):
        where = "vault = ? AND status = 'active' AND kind = ? AND type = ?"
        bound += [vault, kind.value, type]
        accepted = "digest IN (SELECT digest FROM accepted)"
        if vault in private:
            where += f" AND source NOT IN ({marks(NEVER)}) AND (source != ? OR {accepted})"
            bound += [*NEVER, ASSISTANT]
        else:
            where += f" AND {accepted}"
        parts.append(f"SELECT row, updated FROM memories WHERE {where}")
    chosen = f"{' UNION ALL '.join(parts)} ORDER BY updated DESC, row LIMIT {int(limit)}"
    return rows(db, f"row IN (SELECT row FROM ({chosen}))", bound, "updated DESC, id")


def hot(db: sqlite3.Connection, vaults: Sequence[str], rule: HotRule, *, now: int) -> list[Row]:
    """Return the active knowledge that is pinned, or by *rule* hot at *now*."""
    often = (
        "SELECT ref FROM usage WHERE (accesses - counted_from >= ? OR (promoted > 0 AND longest_pause < ?))"
        " AND max(last_access, promoted) > ?"
    )
    limits = (rule.accesses, rule.days * DAY, rule.since(now))
    used = [row[0].rsplit("/", 1) for row in db.execute(often, limits)]
    hot_rows = [with_id(db, [key], memory_id) for key, memory_id in used if key in vaults]
    chosen = [*rows(db, f"{_in(vaults)} AND pinned = 1", vaults), *filter(None, hot_rows)]
    return [
        row
        for row in {row.row: row for row in chosen}.values()
        if row.kind is Kind.KNOWLEDGE and row.status is Status.ACTIVE
    ]


def ids_of(db: sqlite3.Connection, vault: str) -> dict[str, str]:
    """Return path → id of all memories of *vault*."""
    return dict(db.execute("SELECT path, id FROM memories WHERE vault = ?", (vault,)).fetchall())


def with_ref(db: sqlite3.Connection, ref: str) -> Row | None:
    """Return the memory with the ledger's name *ref*."""
    vault, memory_id = vault_in(ref), id_in(ref)
    return with_id(db, [vault], memory_id)


def texts_of(db: sqlite3.Connection, memories: Collection[int]) -> dict[int, str]:
    """Return row number → title and text of *memories*, given by their row numbers."""
    rows = db.execute(
        f"SELECT row, title || char(10) || text FROM memories WHERE row IN ({marks(memories)})", [*memories]
    )
    return dict(rows.fetchall())


def not_accepted(db: sqlite3.Connection, vaults: Sequence[str], shared: Sequence[str]) -> list[Row]:
    """
    Return the active memories that wait for the person, in the order of their paths.

    They are those of *shared* vaults, what Claude stored by itself, and what reads like an instruction.
    """
    return rows(db, *_waiting(vaults, shared), "path")


def count_not_accepted(db: sqlite3.Connection, vaults: Sequence[str], shared: Sequence[str]) -> int:
    """Return how many memories `not_accepted` returns."""
    where, values = _waiting(vaults, shared)
    return int(db.execute(f"SELECT count(*) FROM memories WHERE {where}", values).fetchone()[0])


def _waiting(vaults: Sequence[str], shared: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return (SQL condition, values) of the memories that wait for the person."""
    waiting = (
        f"SELECT row FROM memories WHERE {_in(vaults)} AND {MAY_WAIT} AND source NOT IN ({marks(SOURCES)})"
    )
    of_others = [key for key in vaults if key in shared]
    if of_others:
        waiting += f" UNION SELECT row FROM memories WHERE {_in(of_others)}"
    return (
        f"row IN ({waiting}) AND kind IN ('knowledge', 'session') AND status = 'active'"
        " AND digest NOT IN (SELECT digest FROM accepted)",
        (*vaults, *SOURCES, *of_others),
    )


def unjudged(db: sqlite3.Connection, vaults: Sequence[str], session: str) -> list[Row]:
    """Return the active memories that Claude stored in *session* and that may not be shown unasked yet."""
    return rows(
        db,
        f"{_in(vaults)} AND session = ? AND source = ? AND kind IN ('knowledge', 'session')"
        " AND status = 'active' AND digest NOT IN (SELECT digest FROM accepted)",
        (*vaults, session, ASSISTANT),
        "updated DESC, id",
    )


def searched_alone(db: sqlite3.Connection, vaults: Sequence[str]) -> list[Row]:
    """Return the active knowledge of *vaults* that came from programs or documents, by path."""
    return rows(
        db,
        f"{_in(vaults)} AND source IN ({marks(NEVER)}) AND kind = 'knowledge' AND status = 'active'",
        (*vaults, *NEVER),
        "path",
    )


def linked_from(db: sqlite3.Connection, path: str, vaults: Sequence[str]) -> list[Row]:
    """Return the memories that the one at *path* links to by id, title or alias."""
    return rows(
        db,
        f"{_in(vaults)} AND row IN (SELECT n.memory FROM memories s JOIN links l ON l.memory = s.row"
        " JOIN names n ON n.name = l.name WHERE s.path = ?)",
        (*vaults, path),
    )


def superseded_by(db: sqlite3.Connection, memory_id: str, vaults: Sequence[str]) -> list[Row]:
    """Return the memories of *vaults* that the memory with that id supersedes."""
    return rows(
        db, f"{_in(vaults)} AND status = 'superseded' AND superseded_by = ?", (*vaults, memory_id), "id"
    )


def touching(db: sqlite3.Connection, vaults: Sequence[str], limit: int) -> list[Row]:
    """Return the active knowledge of *vaults* that is about files, updated last."""
    return rows(
        db,
        f"{_in(vaults)} AND status = 'active' AND kind = 'knowledge' AND touches != '[]'",
        vaults,
        f"updated DESC, id LIMIT {int(limit)}",
    )


def vaults_in_use(db: sqlite3.Connection) -> list[str]:
    """Return the keys of all vaults that have a memory in the index."""
    return [str(row[0]) for row in db.execute("SELECT DISTINCT vault FROM memories ORDER BY vault")]


def facts(db: sqlite3.Connection) -> set[str]:
    """Return the facts noted about the index as a whole."""
    return {str(row[0]) for row in db.execute("SELECT name FROM facts")}


def unread_paths(db: sqlite3.Connection, vaults: Sequence[str]) -> dict[str, list[str]]:
    """Return for each of *vaults* that has any the files that could not be read, sorted; for hooks."""
    sql = f"SELECT vault, path FROM unreadable WHERE vault IN ({marks(vaults)}) ORDER BY path"
    paths: dict[str, list[str]] = {}
    for vault, path in db.execute(sql, tuple(vaults)):
        paths.setdefault(vault, []).append(path)
    return paths


def synced(vault: str, root: str) -> str:
    """Return the fact that the index took in the vault with that key, at *root*, at least once."""
    # With the path: an index copied along with the store knows only the files at the old path.
    return f"{_SYNCED}{vault} at {root!a}"


def is_new(db: sqlite3.Connection) -> bool:
    """Tell whether the index took in no vault yet: it was just made, and holds nothing only for that."""
    return not any(fact.startswith(_SYNCED) for fact in facts(db))


def is_of_another_place(db: sqlite3.Connection, vault: str, root: str) -> bool:
    """Tell whether the index knows the files of *vault*, now at *root*, at another path: the store moved."""
    row = db.execute("SELECT path FROM memories WHERE vault = ? LIMIT 1", (vault,)).fetchone()
    return row is not None and not str(row[0]).startswith(f"{root}{os.sep}")


def note_facts(db: sqlite3.Connection, names: Sequence[str]) -> None:
    """Note facts about the index as a whole."""
    db.executemany("INSERT OR REPLACE INTO facts VALUES (?, '1')", [(name,) for name in names])


def _in(vaults: Sequence[str]) -> str:
    return f"vault IN ({marks(vaults)})"


def count_in(db: sqlite3.Connection, vaults: Sequence[str], *, category: str) -> int:
    """Return how many active memories of *vaults* are in *category*."""
    rows = db.execute(
        f"SELECT count(*) FROM memories WHERE vault IN ({marks(vaults)}) AND status = ? AND category = ?",
        (*vaults, Status.ACTIVE.value, category),
    )
    return int(rows.fetchone()[0])
