"""A line of the ledger that nobody can make sense of stops no other, and no command."""

import json
import sqlite3
from contextlib import closing

import pytest

from mcp_server.actions.capture.note import note_session
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.trust import trust_history
from mcp_server.actions.sessions.session_history import find_session
from mcp_server.adapters.index import events
from mcp_server.core.memory import Draft
from mcp_server.core.runs import UNDONE
from mcp_server.store import Store

EVENTS = sorted(events.table())
LINE = {
    "refs": ["user/a"], "session": "s", "path": "/t.jsonl", "end": 5, "digests": ["d"], "call": "c",
    "usd": 0.1, "run": "r", "query": "q", "said": "x",
}  # fmt: skip
KEYS = (
    *LINE, "scores", "tokens", "turns", "sighted", "candidates", "changes", "groups", "from", "taken",
    "touched", "watermark", "active", "until", "cursors",
)  # fmt: skip
ODD = (5, -1, 1 << 70, 1.5, None, True, "", "\ud800", [[]], [{}], ["\ud800"], [1 << 70], {"a": "\ud800"}, {})
MOMENTS = ("", "yesterday", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", None, 5, [])


@pytest.mark.parametrize("event", EVENTS)
def test_what_stands_behind_odd_lines_is_taken_in(store: Store, event: str) -> None:
    remembered = remember(store, Draft("Flamingo", "The deployment needs the flamingo flag."))
    (path,) = store.ledger.paths()
    line = {"at": "2026-11-20T09:12:03Z", "event": event, **LINE}
    odd = [{**line, key: value} for key in KEYS for value in ODD] + [{**line, "at": at} for at in MOMENTS]
    with path.open("a", encoding="utf-8") as handle:
        handle.writelines(f"{json.dumps(odd_line)}\n" for odd_line in odd)
    ref = f"{store.vaults[-1].key}/{remembered.memory.id}"
    store.ledger.append("trusted", store.clock(), refs=[ref], reason="confirmed")

    catch_up(store)

    assert [event.reason for event in trust_history(store, remembered.memory.id).events] == ["confirmed"]


@pytest.mark.parametrize("event", [event for event in EVENTS if events.taking_back(event)])
def test_what_stands_behind_an_odd_line_that_is_taken_back_is_taken_in(store: Store, event: str) -> None:
    known = remember(store, Draft("Flamingo", "The deployment needs the flamingo flag."))
    (path,) = store.ledger.paths()
    note = {"event": event, "at": "2026-11-20T09:12:03Z", **LINE}
    notes = [note, *({**note, key: value} for key in (*KEYS, "was") for value in ODD)]
    with path.open("a", encoding="utf-8") as handle:
        for odd in notes:
            line = {"at": note["at"], "event": UNDONE, "refs": ["user/a"], "notes": [odd]}
            handle.write(f"{json.dumps(line)}\n")
    ref = f"{store.vaults[-1].key}/{known.memory.id}"
    store.ledger.append("trusted", store.clock(), refs=[ref], reason="confirmed")

    catch_up(store)

    assert [each.reason for each in trust_history(store, known.memory.id).events] == ["confirmed"]


@pytest.mark.parametrize("rest", [b'{"at": "2026-11-20T0', b"neither JSON\n", b"\n", b"{}\n\0\0\0"])
def test_an_end_without_an_event_leaves_the_index_to_others(store: Store, rest: bytes) -> None:
    remembered = remember(store, Draft("Flamingo", "The deployment needs the flamingo flag."))
    catch_up(store)
    (path,) = store.ledger.paths()
    with path.open("ab") as handle:
        handle.write(rest)

    with closing(sqlite3.connect(store.database.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        catch_up(store)

    ref = f"{store.vaults[-1].key}/{remembered.memory.id}"
    store.ledger.append("trusted", store.clock(), refs=[ref], reason="confirmed")
    catch_up(store)
    assert [event.reason for event in trust_history(store, remembered.memory.id).events] == ["confirmed"]


def test_a_session_in_a_folder_whose_name_is_not_utf8_stops_nobody(store: Store) -> None:
    note_session(store.in_session("11111111-aaaa"), folder="/srv/caf\udce9")

    remembered = remember(store, Draft("Flamingo", "The deployment needs the flamingo flag."))
    sync(store)

    assert read(store, remembered.memory.id).memory.title == "Flamingo"
    assert find_session(store, "11111111").id == "11111111-aaaa"
