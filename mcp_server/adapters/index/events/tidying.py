"""
What tidying needs from the ledger and the index: when it is due, what it did, which memories are alike.

It is long because when it is due and what it did are read from the same tables, which stand here.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from mcp_server.adapters.index.events import EventRow, a_list, a_number, signs_of_life
from mcp_server.adapters.index.memories.memories import Row, rows
from mcp_server.adapters.index.table import Ref, Table
from mcp_server.core.memory_parts import DAY, Status
from mcp_server.core.runs import Change, RunEntry, entry_of

TABLES = (
    Table(
        "tidied",
        {"run": str, "vault": str, "step": str, "reason": str, "changes": str, "undone": int},
        indexes=(("run",),),
    ),
    Table("tidied_groups", {"digest": str}, pk="digest"),
    Table("put_away", {"ref": Ref, "status": str, "reason": str, "at": int}, pk="ref"),
    Table(
        "upkeep",
        {"scope": str, "tried": int, "at": int, "pieces": int, "active": int, "open": str, "left": int},
        pk="scope",
        defaults={"tried": 0, "at": 0, "pieces": 0, "active": 0, "open": "", "left": 0},
    ),
)
EVENTS = (
    EventRow("tidied", "", counted=True, local=True),
    EventRow("merged", "took over the uses of what it absorbed", alive=True),
    EventRow("unmerged", "gave back the uses of what it had absorbed"),
)
ALSO = frozenset({"restored", "transcript_kept", "transcript_learned"})
AT_MOST_EVERY = 3600  # seconds between two runs that start by themselves
PIECES = 10  # kept or learned pieces of transcript after which tidying is due: A-39 in docs/features.md
NEW_MEMORIES = 80  # active memories more than after the last run
LONGEST = 7 * DAY  # seconds without a run, whatever was learned: memories age, too
AGEING, ORPHANS, TRASH, COMPACTION = "ageing", "orphans", "trash", "compaction"
EXPIRY = "expired candidates"  # a step on candidates, not on memories
UPKEEP = (AGEING, ORPHANS, TRASH, COMPACTION)  # steps that do not look at texts
DROPS = "drops"  # a model said that a memory is useless
FORGETTING = "forget session"  # a step outside tidying, with its own undo
SETTLING = "settled"  # the person merged two memories; only `undo` takes that back


def add(db: sqlite3.Connection, event: str, data: dict[str, Any], at: int) -> None:
    """Take in one event of the ledger; one with invalid values is left out."""
    refs = [str(ref) for ref in a_list(data.get("refs"))]
    match event:
        case "transcript_kept" | "transcript_learned":
            if data.get("turns"):
                _upkeep(db, "", "pieces = pieces + 1")
        case "merged" | "unmerged":
            _inherit(db, refs, [str(ref) for ref in a_list(data.get("from"))], back=event == "unmerged")
        case "restored":
            _touch(db, refs, at)
        case "tidied":
            _add_run(db, data, at)


def scope_of(private: Sequence[str]) -> str:
    """Return the one of the *private* vaults, the user vault first, whose runs count for a project."""
    return private[-1]


def is_due(db: sqlite3.Connection, scope: str, now: int, *, captures: bool = True) -> bool:
    """
    Tell whether to tidy the memories of *scope* (the key of a vault) without being asked.

    Never within an hour of the last attempt, unless a wrong clock dated that in the future. Where nothing
    *captures* sessions, one new memory is enough.
    """
    rows = db.execute(
        "SELECT 1 FROM (SELECT coalesce(max(u.tried), 0) AS tried, coalesce(max(u.at), 0) AS last,"
        " coalesce(max(u.pieces), 0) AS pieces, coalesce(max(u.active), 0) AS active,"
        " (SELECT coalesce(max(pieces), 0) FROM upkeep WHERE scope = '') AS now_pieces,"
        " (SELECT count(*) FROM memories WHERE vault = :scope AND status = 'active' AND kind = 'knowledge')"
        "   AS now_active FROM upkeep u WHERE u.scope = :scope)"
        " WHERE (tried <= :now - :hour OR tried > :now)"
        " AND (now_pieces >= pieces + :pieces OR now_active > active + :new"
        "  OR (:alone AND now_active > active)"
        "  OR max(last, (SELECT coalesce(min(created), :now) FROM memories)) <= :now - :longest"
        "  OR (now_pieces > pieces AND now_active > active"
        "   AND EXISTS (SELECT 1 FROM transcripts t WHERE t.ended AND t.at >= last)))",
        {
            "scope": scope,
            "now": now,
            "hour": AT_MOST_EVERY,
            "pieces": PIECES,
            "new": NEW_MEMORIES,
            "longest": LONGEST,
            "alone": not captures,
        },
    )
    return rows.fetchone() is not None


def open_run(db: sqlite3.Connection, scope: str) -> str:
    """Return the run over *scope* that began and did not end, '' when there is none."""
    row = db.execute("SELECT open FROM upkeep WHERE scope = ?", (scope,)).fetchone()
    return str(row[0]) if row else ""


def is_run(db: sqlite3.Connection, name: str) -> bool:
    """Tell whether there is a run with this name, undone or not."""
    return db.execute("SELECT 1 FROM tidied WHERE run = ? LIMIT 1", (name,)).fetchone() is not None


def left_over(db: sqlite3.Connection, scope: str) -> bool:
    """Tell whether the last run over *scope* reached its limit, and more memories had aged."""
    row = db.execute('SELECT "left" FROM upkeep WHERE scope = ?', (scope,)).fetchone()
    return bool(row and row[0])


def entries(db: sqlite3.Connection, run: str) -> list[RunEntry]:
    """Return what *run* set out to do and was not undone, in order; without the memories that it made."""
    rows = db.execute(
        "SELECT step, reason, changes FROM tidied WHERE run = ? AND NOT undone ORDER BY rowid", (run,)
    )
    return [
        entry_of({"step": step, "reason": json.loads(reason), "changes": json.loads(changes)})
        for step, reason, changes in rows
    ]


def refs_of(db: sqlite3.Connection, run: str) -> set[str]:
    """Return what *run* set out to change, whether or not it was undone."""
    query = "SELECT c.value ->> 'ref' FROM tidied t, json_each(t.changes) c WHERE t.run = ?"
    return {str(ref) for (ref,) in db.execute(query, (run,))}


def brought_back(db: sqlite3.Connection) -> set[str]:
    """Return the memories that a merge or a drop put away: an active one was brought back by the person."""
    upkeep = ", ".join(f"'{step}'" for step in UPKEEP)
    rows = db.execute(
        "SELECT DISTINCT json_extract(c.value, '$.ref') FROM tidied t, json_each(t.changes) c"
        f" WHERE t.step NOT IN ({upkeep})"
        " AND json_extract(c.value, '$.now.status') IN ('superseded', 'archived')"
    )
    return {str(row[0]) for row in rows}


def settled_groups(db: sqlite3.Connection, digests: Iterable[str]) -> set[str]:
    """Return which of these groups of memories need not go to a model again."""
    rows = db.execute(
        "SELECT digest FROM tidied_groups WHERE digest IN (SELECT value FROM json_each(?))",
        (json.dumps(list(digests)),),
    )
    return {str(row[0]) for row in rows}


def active(db: sqlite3.Connection, vault: str, limit: int) -> list[Row]:
    """Return the active knowledge of *vault* that was updated last."""
    return rows(
        db,
        "vault = ? AND status = 'active' AND kind = 'knowledge'",
        (vault,),
        f"updated DESC, id LIMIT {int(limit)}",
    )


def likeness(
    db: sqlite3.Connection, model: str, numbers: Collection[int], least: float
) -> tuple[frozenset[int], dict[tuple[int, int], float]]:
    """
    Return which memories have one vector, and (row, larger row) → cosine of those pairs that reach *least*.

    Vectors of other models than *model* do not count. A memory with several passages is left out: it can
    share one with others without saying the same.
    """
    import numpy as np  # slow to import, and hooks that read the ledger have no use for it

    rows = db.execute(
        "SELECT p.memory, v.embedding FROM passages p JOIN vectors v ON v.passage = p.row AND +v.model = ?"
        " WHERE p.memory IN (SELECT value FROM json_each(?)) GROUP BY p.memory HAVING count(*) = 1"
        " AND (SELECT count(*) FROM passages o WHERE o.memory = p.memory) = 1 ORDER BY p.memory",
        (model, json.dumps(list(numbers))),
    ).fetchall()
    if not rows:
        return frozenset(), {}
    matrix = np.array([np.frombuffer(embedding, dtype="<f4") for _, embedding in rows])
    cosines = matrix @ matrix.T
    near = {
        (rows[first][0], rows[second][0]): float(cosines[first, second])
        for first, second in zip(*np.nonzero(np.triu(cosines >= least, k=1)), strict=True)
    }
    return frozenset(row for row, _ in rows), near


def _add_run(db: sqlite3.Connection, data: dict[str, Any], at: int) -> None:
    """Take in a line of a run: what it set out to do, its begin and its end, what it undid or did again."""
    run = str(data.get("run", ""))
    entry = entry_of(data)
    if changes := entry.changes:
        db.execute(
            "INSERT INTO tidied (run, vault, step, reason, changes, undone) VALUES (?, ?, ?, ?, ?, 0)",
            (
                run, changes[0].vault, entry.step, json.dumps(entry.reason.as_json()),
                json.dumps([change.as_json() for change in changes]),
            ),
        )  # fmt: skip
        _put_away(db, changes, at)
    if began := str(data.get("began", "")):
        _upkeep(db, began, "tried = ?, open = ?", at, run)
    if ended := str(data.get("ended", "")):
        _upkeep(
            db, ended,
            "at = ?, open = '', active = ?, \"left\" = ?, pieces ="
            " (SELECT coalesce(max(p.pieces), 0) FROM upkeep p WHERE p.scope = '')",
            at, a_number(data.get("active")) or 0, a_number(data.get("left")) or 0,
        )  # fmt: skip
        groups = [(str(digest),) for digest in a_list(data.get("groups"))]
        db.executemany("INSERT OR IGNORE INTO tidied_groups VALUES (?)", groups)
    if voids := str(data.get("voids", "")):
        db.execute("DELETE FROM tidied WHERE rowid = (SELECT max(rowid) FROM tidied WHERE run = ?)", (voids,))
    if redone := str(data.get("redoes", "")):
        db.execute("UPDATE tidied SET undone = 0 WHERE run = ?", (redone,))
        for entry in entries(db, redone):
            _put_away(db, entry.changes, at)
    if undoes := str(data.get("undoes", "")):
        _undo_run(db, undoes, {str(ref) for ref in a_list(data.get("left"))}, at)


def _undo_run(db: sqlite3.Connection, run: str, blocked: Collection[str], at: int) -> None:
    """Note that *run* was undone, but for what it did to the refs *blocked*: something stood in the way."""
    for entry in entries(db, run):
        if entry.refs.isdisjoint(blocked):
            _put_away(db, [change.reversed() for change in entry.changes], at)
            if entry.step in UPKEEP:
                _touch(db, entry.refs, at)
                signs_of_life.note(db, entry.refs, at)
    db.execute(
        "UPDATE tidied SET undone = 1 WHERE run = ? AND NOT EXISTS (SELECT 1 FROM json_each(changes) c"
        " WHERE json_extract(c.value, '$.ref') IN (SELECT value FROM json_each(?)))",
        (run, json.dumps(sorted(blocked))),
    )


def _put_away(db: sqlite3.Connection, changes: Iterable[Change], at: int) -> None:
    """Note when memories were archived or orphaned, and that they no longer are."""
    for change in changes:
        status = change.now.get("status")
        if status in (Status.ARCHIVED, Status.ORPHANED):
            row = db.execute("SELECT reason FROM put_away WHERE ref = ?", (change.ref,)).fetchone()
            reason = str(change.now.get("archived_reason") or (row[0] if row else ""))
            db.execute(
                "INSERT OR REPLACE INTO put_away VALUES (?, ?, ?, ?)", (change.ref, status, reason, at)
            )
        elif status:
            db.execute("DELETE FROM put_away WHERE ref = ?", (change.ref,))


def _touch(db: sqlite3.Connection, refs: Iterable[str], at: int) -> None:
    """Count the person's restoring a memory as activity, not as an access."""
    for ref in refs:
        db.execute("DELETE FROM put_away WHERE ref = ?", (ref,))
        db.execute("INSERT OR IGNORE INTO usage (ref) VALUES (?)", (ref,))
        db.execute("UPDATE usage SET last_access = max(last_access, ?) WHERE ref = ?", (at, ref))


def _inherit(db: sqlite3.Connection, heirs: Sequence[str], ancestors: Sequence[str], *, back: bool) -> None:
    """Move the accesses of *ancestors* to their *heirs*, or move them *back*."""
    sums = db.execute(
        "SELECT coalesce(sum(accesses), 0), coalesce(sum(retrieved), 0), coalesce(sum(used), 0),"
        " coalesce(max(last_access), 0) FROM usage WHERE ref IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ancestors)),),
    ).fetchone()
    sign = -1 if back else 1
    for ref in heirs:
        db.execute("INSERT OR IGNORE INTO usage (ref) VALUES (?)", (ref,))
        db.execute(
            "UPDATE usage SET accesses = max(0, accesses + ?), retrieved = max(0, retrieved + ?),"
            " used = max(0, used + ?), last_access = max(last_access, ?) WHERE ref = ?",
            (*(sign * value for value in sums[:3]), 0 if back else sums[3], ref),
        )


def _upkeep(db: sqlite3.Connection, scope: str, assignment: str, *bound: object) -> None:
    db.execute("INSERT OR IGNORE INTO upkeep (scope) VALUES (?)", (scope,))
    db.execute(f"UPDATE upkeep SET {assignment} WHERE scope = ?", (*bound, scope))
