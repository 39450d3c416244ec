"""A search looks words up in one segment, after what adds many and after each full check."""

from collections.abc import Callable

import pytest

from mcp_server.actions.files.sync import BATCH, rebuild, sync
from mcp_server.actions.memory.remember import remember
from mcp_server.adapters.index import full_text
from mcp_server.adapters.vault import make_vault_folders
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind
from mcp_server.store import Store


def numbers(store: Store) -> list[int]:
    """Return how many segments each full-text index has."""
    with store.database.read() as db:
        return [
            db.execute(f"SELECT count(DISTINCT segid) FROM {table}_idx").fetchone()[0]
            for table in full_text.INDEXES
        ]


def test_a_full_check_merges_what_was_remembered_one_by_one(store: Store) -> None:
    for number in range(3):
        remember(store, Draft(f"Note {number}", f"The gateway of number {number}."))
    assert min(numbers(store)) > 1

    sync(store, deep=True)

    assert numbers(store) == [1, 1]


@pytest.mark.parametrize("taken_in_by", [sync, rebuild])
def test_a_sync_of_many_files_merges_what_its_transactions_added(
    store: Store, taken_in_by: Callable[[Store], object]
) -> None:
    vault = store.user_vault
    make_vault_folders(vault)
    for number in range(BATCH + 1):
        vault.path_for(f"note-{number}", Kind.KNOWLEDGE).write_text(f"The gateway of {number}.\n")

    taken_in_by(store)

    assert numbers(store) == [1, 1]
    with store.database.read() as db:
        query = "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'gateway'"
        assert db.execute(query).fetchone() == (BATCH + 1,)
