"""Choices of memories are the same as when all of them are looked at one by one."""

import random

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.adapters.index.memories import memories, selections
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.search.query import Filter
from mcp_server.store import Store

TYPES = ("decision", "gotcha", "note")


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with memories of three types in two vaults, several of the same second."""
    chance = random.Random(7)
    for number in range(36):
        level = Level.USER if number % 2 else Level.PROJECT
        remember(store, Draft(f"Number {number}", f"Text {number}.", type=TYPES[number % 3], level=level))
    with store.database.write() as db:
        for (row,) in db.execute("SELECT row FROM memories").fetchall():
            moment, source = chance.randrange(12), "output" if row % 7 == 0 else "manual"
            db.execute("UPDATE memories SET updated = ?, source = ? WHERE row = ?", (moment, source, row))
        db.execute("DELETE FROM accepted")
        db.execute("INSERT INTO accepted SELECT digest FROM memories WHERE row % 5 < 2")
    return store


@pytest.mark.parametrize("types", [(), ("decision",), TYPES, ("progress",)])
@pytest.mark.parametrize("vaults", [slice(None), slice(1), slice(0)])
@pytest.mark.parametrize("private", [slice(None), slice(1)])
def test_the_newest_come_first(filled: Store, types: tuple[str, ...], vaults: slice, private: slice) -> None:
    keys = [vault.key for vault in filled.vaults][vaults]
    own = [vault.key for vault in filled.vaults][private]
    with filled.database.read() as db:
        accepted = {digest for (digest,) in db.execute("SELECT digest FROM accepted")}
        fitting = [
            row
            for row in memories.rows(db, "1", ())
            if row.vault in keys
            and row.type in (types or TYPES)
            and (row.source != "output" if row.vault in own else row.digest in accepted)
        ]
        chosen = sorted(fitting, key=lambda row: (-row.updated, row.row))[:8]

        rows = selections.newest(db, keys, types=types, private=own, limit=8)
        sessions = selections.newest(db, keys, kind=Kind.SESSION, private=own, limit=8)

    assert rows == sorted(chosen, key=lambda row: (-row.updated, row.id))
    assert sessions == []


@pytest.mark.parametrize("shared", [slice(0), slice(1), slice(1, 2), slice(None)])
@pytest.mark.parametrize("vaults", [slice(None), slice(1)])
def test_what_waits_is_what_others_or_claude_stored_and_what_reads_like_an_instruction(
    filled: Store, vaults: slice, shared: slice
) -> None:
    keys = [vault.key for vault in filled.vaults][vaults]
    of_others = [vault.key for vault in filled.vaults][shared]
    sources = ("manual", "assistant", "mined", "output")
    with filled.database.write() as db:
        for (row,) in db.execute("SELECT row FROM memories").fetchall():
            values = (sources[row % 4], int(row % 3 == 0), row)
            db.execute("UPDATE memories SET source = ?, instructing = ? WHERE row = ?", values)
    with filled.database.read() as db:
        accepted = {digest for (digest,) in db.execute("SELECT digest FROM accepted")}
        waiting = [
            row.id
            for row in sorted(memories.rows(db, "1", ()), key=lambda row: row.path)
            if row.vault in keys
            and row.digest not in accepted
            and (
                row.vault in of_others
                or row.source == "assistant"
                or (row.source == "mined" and row.instructing)
            )
        ]
        rows = selections.not_accepted(db, keys, of_others)
        count = selections.count_not_accepted(db, keys, of_others)

    assert waiting
    assert [row.id for row in rows] == waiting
    assert count == len(waiting)


def test_what_waits_is_counted_without_looking_at_all_memories(filled: Store) -> None:
    keys = [vault.key for vault in filled.vaults]
    statements: list[str] = []
    with filled.database.read() as db:
        db.set_trace_callback(statements.append)
        selections.count_not_accepted(db, keys, [])
        db.set_trace_callback(None)
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statements[-1]}")]

    assert any("memories_waiting" in step for step in plan)
    assert all("SEARCH memories" in step for step in plan if "memories USING" in step)


@pytest.mark.parametrize("path", ["src/café.py", "src/見積.py", 'a "b".py', "C:\\shop\\rates.py"])
def test_a_file_is_asked_for_by_any_part_of_any_name(store: Store, path: str) -> None:
    for title, touches in (("Rates", ("src/plain.py", path)), ("Others", ("src/plain.py", "b"))):
        remember(store, Draft(title, f"{title}.", touches=touches))

    with store.database.read() as db:
        for asked in (path, path[1:-1]):
            rows, total = selections.page(
                db, Filter(touches=asked), store.keys, order="updated", limit=9, offset=0
            )
            assert ([row.title for row in rows], total) == (["Rates"], 1)
        across = Filter(touches='plain.py", "')
        assert selections.row_numbers(db, across, store.keys) == set()


def test_a_phrase_may_have_any_character(store: Store) -> None:
    stored = remember(store, Draft("Quote", 'They say "ship it" often.'))

    with store.database.read() as db:
        for phrase in ('say "ship it"', "say\0ship it", '"\0 say'):
            rows = selections.with_phrase(db, store.keys, phrase)
            assert [row.id for row in rows] == [stored.memory.id]
