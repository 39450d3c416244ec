"""Scopes say of every memory what its row says, whatever happened to it."""

import sqlite3
from collections.abc import Sequence

import pytest

from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.adapters.index.database import integrity
from mcp_server.adapters.index.memories import filters, scopes
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level, Status
from mcp_server.core.search.query import Filter
from mcp_server.store import Store

FILTERS = (
    Filter(),
    Filter(statuses=tuple(Status)),
    Filter(statuses=(Status.ARCHIVED,)),
    Filter(kinds=(Kind.CONVERSATION,)),
    Filter(kinds=(Kind.KNOWLEDGE,), statuses=(Status.ACTIVE, Status.SUPERSEDED)),
    Filter(tags=("odd",)),
    Filter(types=("fact",), statuses=tuple(Status)),
)


def agree(store: Store, vaults: Sequence[str]) -> None:
    with store.database.read() as db:
        rows = {filter: counted(db, "memories", *filters.where(filter, vaults)) for filter in FILTERS}
        scope_of = {filter: scopes.searched(db, filter, vaults) for filter in FILTERS}
        assert {filter: scope.number for filter, scope in scope_of.items()} == rows
        count_of = {
            filter: counted(db, scope.table, scope.where, scope.values) for filter, scope in scope_of.items()
        }
        assert count_of == rows
        passages = db.execute("SELECT count(*) FROM passages").fetchone()[0]
        assert scopes.size(db) == (counted(db, "memories", "1", ()), passages)
        assert integrity.is_sound(db)


def counted(db: sqlite3.Connection, table: str, where: str, values: Sequence[object]) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table} WHERE {where}", values).fetchone()[0])


def test_a_memory_is_counted_where_it_is(store: Store) -> None:
    keys = [vault.key for vault in store.vaults]
    remembered = [
        remember(store, Draft(f"Note {number}", f"Text {number}.\n\n" * (1 + 90 * (number % 2)), tags=tags))
        for number in range(12)
        for tags in ((("odd",) if number % 2 else ()),)
    ]
    remembered.append(remember(store, Draft("Mine", "of every project", level=Level.USER)))
    agree(store, keys)
    agree(store, keys[:1])

    for memory in remembered[:4]:
        forget(store, memory.memory.id)
    agree(store, keys)
    restore(store, remembered[0].memory.id)
    agree(store, keys)
    forget(store, remembered[1].memory.id, forever=True)
    agree(store, keys)

    rebuild(store)
    agree(store, keys)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE scoped SET scope = 99",
        "DELETE FROM scoped",
        "UPDATE scopes SET held = held + 1",
        "UPDATE scopes SET passages = 0",
        "UPDATE scopes SET status = 'archived'",
    ],
)
def test_scopes_that_say_something_else_are_damage(store: Store, damage: str) -> None:
    remember(store, Draft("Note", "of something"))
    with store.database.write() as db:
        db.execute(damage)

    with store.database.alone() as db:
        assert not integrity.is_sound(db)
