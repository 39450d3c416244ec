"""
The deeds: what was done to which memory, when and in which session, as the ledger says.

A line's place in the ledger (file, and the offset after the line) stays when the index is rebuilt: it marks
up to where a session was told. What was done last is asked by `moment`, which goes back for no line of a
file, as a clock may: `at` is what the clock said.
It is long because it has every question that is asked of the history.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from mcp_server.adapters.index import events as derived
from mcp_server.adapters.index.events import EventRow, a_list
from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.table import VAULT_OF_REF, Table
from mcp_server.adapters.ledger import Watermark
from mcp_server.core.memory_parts import TRASH, id_in
from mcp_server.core.remote import OF_COPY

TABLES = (
    Table(
        "deeds",
        {
            "row": int, "file": str, "offset": int, "at": int, "moment": int, "event": str, "ref": str,
            "session": str, "detail": str,
        },
        pk="row",
        required=("file", "offset", "at", "moment", "event", "ref", "session", "detail"),
        indexes=(("file", "offset"), ("ref",), ("session",)),
    ),
)  # fmt: skip
EVENTS = (
    EventRow("remembered", "", counted=True, alive=True, accepts=True),
    EventRow("revised", "", counted=True, alive=True, accepts=True),
    EventRow("forgotten", "", counted=True),
    EventRow("restored", "", counted=True, alive=True, accepts=True),
    EventRow("archived", "", accepts=True),
    EventRow("undone", "its last change was taken back", accepts=True),
    EventRow("arrived", None, alive=True, local=True),
    EventRow("edited", "changed by hand", alive=True, local=True),
    EventRow("emptied", "deleted from the trash for good", local=True),
    EventRow("linked", "", alive=True),
    EventRow("unlinked", "", alive=True),
    EventRow("pinned", "", alive=True, accepts=True),
    EventRow("unpinned", "", alive=True, accepts=True),
    EventRow("accepted", "accepted, may be shown unasked", alive=True, accepts=True),
    EventRow("approved", "kept by the person's word", alive=True),
    EventRow("judged_origin", "", accepts=True),
    EventRow("exchanged", None, accepts=True),
    EventRow("marked", "said with #remember in a prompt, stored at once"),
    EventRow("started_by_claude", "", local=True),
    EventRow("mining_run", "", local=True),
    EventRow("history_pruned", "", local=True),
)
"""Events of the history that no single other module counts."""

FILES = '"files": '  # in the detail of a deed that belongs to a change: what happened to files, if to any
_NO_FILES = '"files": []'  # what only the ledger says, as part of a change
_SAYING_SO = ("forgotten", "restored", "undone", "remembered", "accepted", "approved")
_FOR_GOOD = "event = 'forgotten' AND detail ->> 'forever'"
_KNOWN_ELSEWHERE = frozenset({"refs", "session", "digests", "changes", "touched", "touched_before", "notes"})


Place = tuple[str, int]


class Deed(NamedTuple):
    """
    One deed; `at` in Unix seconds, `ref` '' when it was not done to a memory.

    `place` is its line in the ledger: the name of the file, and the offset after the line.
    """

    at: int
    event: str
    ref: str
    session: str
    detail: dict[str, Any]
    place: Place

    @property
    def id(self) -> str:
        return id_in(self.ref)

    @property
    def machine(self) -> str:
        """Return the name of the other machine where it was done, '' for this one."""
        file, copy, _ = self.place[0].partition(OF_COPY)
        return file[: -len("-2026-11")] if copy else ""

    @property
    def is_for_good(self) -> bool:
        """Whether the memory was deleted with its history, which nothing takes back."""
        return self.event == "forgotten" and bool(self.detail.get("forever"))


class Written(NamedTuple):
    """
    What Daybook last wrote to a file: the digest of its bytes, and whether it deleted or trashed the file.

    A tidying event changes no text and has no digest, only the fingerprints of the texts, in `fingerprints`.
    """

    digest: str
    fingerprints: frozenset[str]
    is_away: bool


def keep(
    db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int, *, place: tuple[str, int]
) -> None:
    """
    Add one event of the ledger to the history, if it is history; *place* is its file and the offset after it.

    An event that only another version knows is history.
    """
    row = derived.table().get(event)
    if row and row.text is None:
        return
    detail = json.dumps({key: value for key, value in data.items() if key not in _KNOWN_ELSEWHERE})
    refs = [*a_list(data.get("refs")), *(change.get("ref") for change in a_list(data.get("changes")))]
    session = str(data.get("session") or "")
    before = db.execute(
        "SELECT moment FROM deeds WHERE file = ? ORDER BY offset DESC LIMIT 1", place[:1]
    ).fetchone()
    moment = max(at, before[0]) if before else at
    db.executemany(
        "INSERT INTO deeds (file, offset, at, moment, event, ref, session, detail)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(*place, at, moment, event, str(ref or ""), session, detail) for ref in dict.fromkeys(refs) or [""]],
    )


def rename(db: sqlite3.Connection, new: str, old: str) -> None:
    """Move the history of the memory to its new ref, so that it is found and can be undone there."""
    quoted = json.dumps(old)
    db.execute(
        "UPDATE deeds SET ref = iif(ref = '', '', ?), detail = replace(detail, ?, ?)"
        " WHERE ref = ? OR (ref = '' AND instr(detail, ?))",
        (new, quoted, json.dumps(new), old, quoted),
    )


def listed(
    db: sqlite3.Connection,
    *,
    ref: str = "",
    session: str = "",
    events: Sequence[str] = (),
    by: str = "",
    vaults: Sequence[str] = (),
    limit: int,
    offset: int = 0,
) -> list[Deed]:
    """
    Return the deeds, latest first; only on *ref*, in *session*, of *events* and *by* that author where given.

    With *vaults*, deeds on memories of other vaults are left out. The first *offset* are left out, too.
    """
    conditions = [
        *(["ref = ?"] if ref else []),
        *(["session = ?"] if session else []),
        *([f"event IN ({marks(events)})"] if events else []),
        *(["detail ->> 'by' = ?"] if by else []),
        *([f"(ref = '' OR {VAULT_OF_REF} IN ({marks(vaults)}))"] if vaults else []),
    ]
    bound = [*filter(None, (ref, session)), *events, *filter(None, (by,)), *vaults]
    page = f"LIMIT {int(limit)} OFFSET {int(offset)}"
    return _deeds(db, " AND ".join(conditions) or "1", bound, f"moment DESC, row DESC {page}")


def at_place(db: sqlite3.Connection, place: Place) -> list[Deed]:
    """Return the deeds of the ledger's line at *place*, one for each memory of it."""
    return _deeds(db, "file = ? AND offset = ?", place, "row")


def since(db: sqlite3.Connection, watermark: Watermark, *, but: str, events: Sequence[str]) -> list[Deed]:
    """Return the deeds after *watermark* outside the session *but*, earliest first."""
    after = "coalesce((SELECT value FROM json_each(?) WHERE key = file), 0)"
    where = f"offset > {after} AND session != ? AND event IN ({marks(events)})"
    return _deeds(db, where, [json.dumps(watermark), but, *events], "moment, row")


def last_done(
    db: sqlite3.Connection, refs: Collection[str], *, event: str = "", until: int | None = None
) -> dict[str, int]:
    """
    Return ref → Unix seconds of the last deed on it; refs without history are left out.

    With *event* only that event counts, and with *until* only deeds up to then.
    """
    rows = db.execute(
        "SELECT ref, max(at) FROM deeds WHERE ref IN (SELECT value FROM json_each(?1))"
        " AND ?2 IN ('', event) AND (?3 IS NULL OR at <= ?3) GROUP BY ref",
        (json.dumps(list(refs)), event, until),
    )
    return {str(ref): int(at) for ref, at in rows}


def last_unseen(
    db: sqlite3.Connection, ref: str, watermark: Watermark, *, events: Sequence[str]
) -> Deed | None:
    """Return the last deed of *events* on *ref*, None when it is before *watermark*."""
    among = f"ref = ? AND event IN ({marks(events)})"
    last = f"row = (SELECT row FROM deeds WHERE {among} ORDER BY moment DESC, row DESC LIMIT 1)"
    after = "offset > coalesce((SELECT value FROM json_each(?) WHERE key = file), 0)"
    deeds = _deeds(db, f"{last} AND {after}", [ref, *events, json.dumps(watermark)], "row")
    return deeds[0] if deeds else None


def last_written(db: sqlite3.Connection, ref: str) -> Written | None:
    """Return what the ledger says Daybook last wrote to the file of *ref*, None when it never wrote it."""
    row = db.execute(
        "SELECT event, detail FROM deeds WHERE ref = ?"
        " AND (event IN ('tidied', 'forgotten')"
        f" OR instr(detail, '{FILES}') AND NOT instr(detail, '{_NO_FILES}'))"
        " ORDER BY moment DESC, row DESC LIMIT 1",
        (ref,),
    ).fetchone()
    if row is None:
        return None
    event, detail = row[0], json.loads(row[1])
    if event == "tidied":  # it holds fingerprints of a memory's text, because it changes none
        changes = db.execute(
            "SELECT j.value ->> 'said', j.value ->> '$.now.place' FROM tidied t, json_each(t.changes) j"
            " WHERE t.run = ? AND j.value ->> 'ref' = ?",
            (detail.get("run"), ref),
        ).fetchall()
        away = any(str(place or "").startswith(TRASH) for _, place in changes)
        return Written("", frozenset(str(fingerprint) for fingerprint, _ in changes), away)
    effects = [effect for effect in a_list(detail.get("files")) if effect[0] == ref]
    place, digest = effects[-1][3:] if effects else ("", "")
    return Written(digest, frozenset(), not place or place.startswith(TRASH))


def is_as_written(db: sqlite3.Connection, ref: str, digest: str) -> bool:
    """Tell whether *digest* is of the bytes that Daybook last wrote to the file of *ref*, on this machine."""
    written = last_written(db, ref)
    return written is not None and written.digest == digest


def last_change(
    db: sqlite3.Connection, vaults: Sequence[str], *, refs: Sequence[str] = (), session: str = ""
) -> Deed | None:
    """
    Return the last deed of a change in *vaults*, only to *refs* and in *session* where given.

    That a memory was forgotten for good is one, although it left no file; see `is_for_good`.
    """
    among = f"(ref IN ({marks(refs)}) OR ref = '' AND ({' OR '.join(['instr(detail, ?)'] * len(refs))}))"
    conditions = [
        f"(event = 'tidied' AND ref != '' OR instr(detail, '{FILES}') OR {_FOR_GOOD})",
        f"(ref = '' OR {VAULT_OF_REF} IN ({marks(vaults)}))",
        *([among] if refs else []),
        *(["session = ?"] if session else []),
    ]
    quoted = [json.dumps(ref) for ref in refs]
    bound = [*vaults, *refs, *quoted, *([session] if session else [])]
    deeds = _deeds(db, " AND ".join(conditions), bound, "moment DESC, row DESC LIMIT 1")
    return deeds[0] if deeds else None


def taken_back(db: sqlite3.Connection, vaults: Sequence[str], *, since: int) -> tuple[int, int]:
    """
    Return (changes made in *vaults* from *since* on, those of them that were taken back).

    A run of upkeep is one change. What was taken back twice stands.
    """
    named = (
        "SELECT coalesce(detail ->> 'change', detail ->> 'run') AS name, detail ->> 'run' AS run,"
        " detail ->> 'undoes' AS undoes, detail ->> 'redoes' AS redoes"
        f" FROM deeds WHERE at >= ? AND (ref = '' OR {VAULT_OF_REF} IN ({marks(vaults)}))"
        f" AND (event = 'tidied' OR instr(detail, '{FILES}'))"
    )
    counts = db.execute(
        f"WITH named AS ({named}),"
        " taken AS (SELECT undoes FROM named WHERE undoes != '' GROUP BY undoes"
        "  HAVING count(DISTINCT name) % 2 = 1)"
        " SELECT count(DISTINCT name), count(DISTINCT iif(name IN taken OR run IN taken, name, NULL))"
        " FROM named WHERE coalesce(undoes, '') = '' AND coalesce(redoes, '') = ''",
        (since, *vaults),
    ).fetchone()
    return int(counts[0]), int(counts[1])


def is_undo_unfinished(db: sqlite3.Connection, run: str) -> bool:
    """Tell whether no line after those of *run* itself says that it was taken back, or done again."""
    row = db.execute(
        "SELECT detail ->> 'run' FROM deeds WHERE event = 'tidied'"
        " AND ? IN (detail ->> 'run', detail ->> 'undoes', detail ->> 'redoes')"
        " ORDER BY moment DESC, row DESC LIMIT 1",
        (run,),
    ).fetchone()
    return row is not None and row[0] == run


def forgotten_soon(
    db: sqlite3.Connection, vaults: Sequence[str], *, since: int, within: int
) -> tuple[int, int]:
    """
    Return (memories stored in *vaults* from *since* on, those of them forgotten *within* so many seconds).

    One that came back does not count as forgotten.
    """
    counts = db.execute(
        "SELECT count(*), coalesce(sum(EXISTS (SELECT 1 FROM deeds f WHERE f.ref = s.ref"
        "  AND f.event = 'forgotten' AND f.at BETWEEN s.at AND s.at + ?"
        "  AND NOT EXISTS (SELECT 1 FROM deeds b WHERE b.ref = f.ref AND b.row > f.row"
        "   AND b.event IN ('restored', 'undone')))), 0)"
        " FROM (SELECT ref, min(at) AS at FROM deeds WHERE event = 'remembered'"
        f" AND {VAULT_OF_REF} IN ({marks(vaults)}) GROUP BY ref HAVING min(at) >= ?) s",
        (within, *vaults, since),
    ).fetchone()
    return int(counts[0]), int(counts[1])


def back_again(db: sqlite3.Connection, vaults: Sequence[str]) -> list[tuple[str, str]]:
    """
    Return (ref, title) of the memories in *vaults* that were forgotten and are there although nobody said so.

    To restore one, to accept or to confirm it says so.
    """
    rows = db.execute(
        "SELECT m.vault || '/' || m.id, m.title FROM memories m"
        " JOIN deeds f ON f.ref = m.vault || '/' || m.id AND f.event = 'forgotten'"
        f" WHERE m.vault IN ({marks(vaults)}) AND NOT EXISTS (SELECT 1 FROM deeds b WHERE b.ref = f.ref"
        "  AND (b.moment, b.row) > (f.moment, f.row) AND (b.event = 'trusted' AND b.detail ->> 'reason' = ?"
        f"   OR b.event IN ({marks(_SAYING_SO)}))) GROUP BY m.row ORDER BY max(f.moment) DESC",
        (*vaults, "confirmed", *_SAYING_SO),
    )
    return [(str(ref), str(title)) for ref, title in rows]


def named(db: sqlite3.Connection, name: str) -> list[Deed]:
    """Return the deeds of the change or run *name*, earliest first."""
    deeds = _deeds(db, f"instr(detail, ?) AND instr(detail, '{FILES}')", [json.dumps(name)], "moment, row")
    return [deed for deed in deeds if name in (deed.detail.get("change"), deed.detail.get("run"))]


def of_run(db: sqlite3.Connection, run: str) -> list[Deed]:
    """Return what *run* wrote down before it was done, a deed for each memory, earliest first."""
    return _deeds(db, "event = 'tidied' AND detail ->> 'run' = ?", [run], "moment, row")


def _deeds(db: sqlite3.Connection, where: str, bound: Sequence[object], order: str) -> list[Deed]:
    rows = db.execute(
        f"SELECT at, event, ref, session, detail, file, offset FROM deeds WHERE {where} ORDER BY {order}",
        bound,
    )
    return [
        Deed(at, event, ref, session, json.loads(detail), (file, offset))
        for at, event, ref, session, detail, file, offset in rows
    ]
