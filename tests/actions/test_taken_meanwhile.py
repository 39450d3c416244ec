"""A file that another process takes while it is moved: what was done is told, and nothing that was not."""

from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.commit import one_change
from mcp_server.actions.files.read import read
from mcp_server.actions.graph.kg import put_node
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.conftest import Clock
from tests.durability.stepped import stepped


def test_a_file_that_leaves_meanwhile_is_named(store: Store, clock: Clock) -> None:
    reworded = remember(store, Draft("Retry rule", "Wait thirty seconds.")).memory.id
    forgotten = remember(store, Draft("Plants", "They are watered on Fridays.")).memory.id
    with one_change():
        revise(store, reworded, Revision(text="Wait a minute."))
        gone = forget(store, forgotten)
    change = last_change(store)

    undone = undo(store._replace(clock=lambda: taken_out(gone.path, clock())), change)

    assert undone.restored == [reworded]
    assert undone.skipped == [(forgotten, f"{forgotten}.md was moved or forgotten meanwhile.")]
    assert read(store, reworded).memory.text == "Wait thirty seconds."


def test_a_file_that_is_moved_on_meanwhile_was_forgotten_all_the_same(store: Store, tmp_path: Path) -> None:
    ids = [remember(store, Draft(f"Rule {n}", f"Wait {n} seconds.")).memory.id for n in (30, 60, 90)]
    forget(store, ids[0])  # makes the folders
    road = stepped(lambda: forget(store, ids[1]), {})
    trashed = store.home / "trash" / store.vaults[-1].key / "knowledge" / f"{ids[2]}.md"
    last_read = max(at for at, names in enumerate(pairwise(road), start=2) if names[0] != names[1] == "read")

    stepped(lambda: forget(store, ids[2]), {last_read: lambda: trashed.rename(tmp_path / "elsewhere.md")})

    assert [titled.deed.event for titled in list_deeds(store, ids[2])] == ["forgotten", "remembered"]


def test_a_node_that_is_deleted_while_it_is_put_is_added_again(store: Store) -> None:
    put_node(store, Level.PROJECT, "queue", "Orders wait in Redis.")
    putting = partial(put_node, store, Level.PROJECT, "queue", "Orders wait in Postgres.")

    stepped(putting, {1: lambda: forget(store, "queue")})

    assert read(store, "queue").memory.text == "Orders wait in Postgres."


def test_of_two_that_restore_it_at_once_the_later_is_told_that_it_is_active(store: Store) -> None:
    memory_id = remember(store, Draft("Retry rule", "Wait thirty seconds.")).memory.id
    forget(store, memory_id)

    with pytest.raises(Rejected, match="already active"):
        stepped(lambda: restore(store, memory_id), {1: lambda: restore(store, memory_id)})

    assert read(store, memory_id).memory.text == "Wait thirty seconds."


def taken_out(path: Path | None, now: datetime) -> datetime:
    """Delete *path*, as another process would, when the time is asked for: before a file is replaced."""
    if path:
        path.unlink(missing_ok=True)
    return now
