"""Which memory was shown to which session, when and why, and whether the session used it, by the ledger."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mcp_server.adapters.index.events import EventRow, a_list
from mcp_server.adapters.index.table import VAULT_OF_REF, Ref, Table
from mcp_server.core.memory_parts import DAY, id_in

TABLES = (
    Table(
        "receipts",
        {
            "row": int, "answer": int, "at": int, "session": str, "why": str, "ref": Ref, "score": float,
            "tokens": int, "said": str, "confident": int,
        },
        pk="row",
        required=("answer", "at", "session", "why", "ref", "tokens", "said", "confident"),
        indexes=(("session", "ref"), ("at",)),
    ),
    Table("prompts", {"at": int, "session": str, "injected": int}),
)  # fmt: skip
EVENTS = (
    EventRow("recalled", None, counted=True),
    EventRow("injected", None, counted=True, alive=True),
    EventRow("kept_silent", None, local=True),
)
ASKED_IN = ("query", "prompt")
"""Keys of events with words of the person: the question of a recall, and the beginning of a prompt."""
RECALL, PROMPT, START = "recall", "prompt", "session start"


class Receipt(NamedTuple):
    """
    One memory given once: `at` in Unix seconds, `why` is RECALL, PROMPT or START, `said` what asked for it.

    `score` is None where nothing was compared; `tokens` are estimated from characters.
    """

    at: int
    session: str
    why: str
    ref: str
    score: float | None
    tokens: int
    said: str
    used: bool

    @property
    def id(self) -> str:
        return id_in(self.ref)


class Tally(NamedTuple):
    """How often one memory was given as an answer, and in how many sessions it was used."""

    ref: str
    given: int
    used: int

    @property
    def id(self) -> str:
        return id_in(self.ref)


def add(db: sqlite3.Connection, event: str, data: Mapping[str, Any], at: int) -> None:
    """Take in one event of the ledger; a memory counts once in it, even if named twice."""
    session = str(data.get("session") or "")
    why = RECALL if event == "recalled" else START if data.get("why") == START else PROMPT
    if why == PROMPT:
        db.execute("INSERT INTO prompts VALUES (?, ?, ?)", (at, session, int(event == "injected")))
    if event == "kept_silent":
        return
    refs, scores, tokens = (a_list(data.get(name)) for name in ("refs", "scores", "tokens"))
    sure = confident(data)
    question = str(data.get("query" if why == RECALL else "prompt") or "")
    rows: dict[str, tuple[object, ...]] = {}
    for number, ref in enumerate(map(str, refs)):
        score = scores[number] if number < len(scores) else None
        cost = tokens[number] if number < len(tokens) else 0
        score = float(score) if isinstance(score, int | float) else None
        cost = cost if isinstance(cost, int) else 0
        rows.setdefault(ref, (at, session, why, ref, score, cost, question, int(ref in sure)))
    answer = db.execute("SELECT coalesce(max(row), 0) FROM receipts").fetchone()[0]
    db.executemany(
        "INSERT INTO receipts (answer, at, session, why, ref, score, tokens, said, confident)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(answer, *row) for row in rows.values()],
    )


def confident(data: Mapping[str, Any]) -> list[str]:
    """
    Return the refs of one event that were given as an answer, each once, in order.

    Those under "no confident match" are no answer. Lines older than that distinction count all as answers.
    """
    refs = dict.fromkeys(map(str, a_list(data.get("refs"))))
    sure = data.get("confident")
    return [ref for ref in refs if not isinstance(sure, list) or ref in sure]


def answered(db: sqlite3.Connection, session: str, ref: str) -> bool:
    """Tell whether a recall of *session* gave *ref* as an answer."""
    rows = db.execute(
        "SELECT 1 FROM receipts WHERE session = ? AND ref = ? AND why = ? AND confident LIMIT 1",
        (session, ref, RECALL),
    )
    return rows.fetchone() is not None


def given(db: sqlite3.Connection, session: str, *, since: int) -> list[str]:
    """Return the refs that *session* was given after *since* and has not used yet."""
    rows = db.execute(
        "SELECT DISTINCT ref FROM receipts WHERE session = ? AND at >= ?"
        " AND ref NOT IN (SELECT ref FROM used WHERE used.session = receipts.session)",
        (session, since),
    )
    return [str(row[0]) for row in rows]


def latest(
    db: sqlite3.Connection,
    vaults: Sequence[str],
    *,
    session: str = "",
    ref: str = "",
    last: bool = False,
    limit: int,
) -> list[Receipt]:
    """
    Return the receipts of *vaults*, latest first, only of *session* and of the memory *ref* where given.

    With *last* only those of the latest answer.
    """
    where = f"{_IN_VAULTS}{' AND session = ?' if session else ''}{' AND ref = ?' if ref else ''}"
    bound = [json.dumps(list(vaults)), *filter(None, (session, ref))]
    if last:
        newest = f"SELECT answer FROM receipts WHERE {where} ORDER BY at DESC, answer DESC LIMIT 1"
        where, bound = f"{where} AND answer = ({newest})", bound * 2
    rows = db.execute(
        "SELECT at, session, why, ref, score, tokens, said,"
        " EXISTS (SELECT 1 FROM used u WHERE u.session = receipts.session AND u.ref = receipts.ref)"
        f" FROM receipts WHERE {where} ORDER BY at DESC, answer DESC, row LIMIT {int(limit)}",
        bound,
    )
    return [Receipt(*(*row[:7], bool(row[7]))) for row in rows]


def of_use_in(db: sqlite3.Connection, session: str, *, limit: int) -> list[str]:
    """
    Return the refs that the prompts of *session* called for or that it used.

    Those of its latest answer come first, of one answer the best.
    """
    rows = db.execute(
        "SELECT ref FROM receipts WHERE session = ?1 AND"
        " (why = ?2 OR ref IN (SELECT ref FROM used WHERE session = ?1))"
        " GROUP BY ref ORDER BY max(answer) DESC, max(row) LIMIT ?3",
        (session, PROMPT, limit),
    )
    return [str(row[0]) for row in rows]


def tallies(db: sqlite3.Connection, vaults: Sequence[str], *, since: int) -> list[Tally]:
    """Return for each memory of *vaults* how often it answered a recall or a prompt, and was used."""
    rows = db.execute(
        "SELECT ref, count(*), (SELECT count(*) FROM used u WHERE u.ref = receipts.ref AND u.at >= ?)"
        f" FROM receipts WHERE {_IN_VAULTS} AND at >= ? AND why != ? AND confident GROUP BY ref ORDER BY ref",
        (since, json.dumps(list(vaults)), since, START),
    )
    return [Tally(*row) for row in rows]


def prompts(db: sqlite3.Connection, *, since: int) -> tuple[int, int]:
    """Return (prompts at which memories were given, prompts at which none was)."""
    answered, silent = db.execute(
        "SELECT coalesce(sum(injected), 0), coalesce(sum(1 - injected), 0) FROM prompts WHERE at >= ?",
        (since,),
    ).fetchone()
    return int(answered), int(silent)


def shown_by_day(db: sqlite3.Connection, vaults: Sequence[str], *, since: int) -> list[tuple[int, str, int]]:
    """Return (first second of the UTC day, why, tokens) of what was given of *vaults* from *since* on."""
    rows = db.execute(
        f"SELECT at - at % {DAY}, why, sum(tokens) FROM receipts WHERE {_IN_VAULTS} AND at >= ?"
        " GROUP BY 1, 2 ORDER BY 1, 2",
        (json.dumps(list(vaults)), since),
    )
    return [(int(day), str(why), int(tokens)) for day, why, tokens in rows]


def used_by_day(db: sqlite3.Connection, vaults: Sequence[str], *, since: int) -> list[tuple[int, int, int]]:
    """
    Return (first second of the UTC day, answers of *vaults*, those of them that were used), from *since* on.

    A memory counts once in a session, on the day when it first answered there; a start answers nothing.
    """
    rows = db.execute(
        "SELECT day, count(*), sum(was_used) FROM (SELECT min(r.at) - min(r.at) % ? AS day,"
        " EXISTS (SELECT 1 FROM used u WHERE u.session = r.session AND u.ref = r.ref) AS was_used"
        f" FROM receipts r WHERE {_IN_VAULTS} AND why != ? AND confident AND session != ''"
        " GROUP BY r.session, r.ref)"
        " WHERE day >= ? GROUP BY day ORDER BY day",
        (DAY, json.dumps(list(vaults)), START, since - since % DAY),
    )
    return [(int(day), int(answers), int(used)) for day, answers, used in rows]


_IN_VAULTS = f"{VAULT_OF_REF} IN (SELECT value FROM json_each(?))"
