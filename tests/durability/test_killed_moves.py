"""A memory that is put away or brought back, killed at any line, is in one place for whoever looks next."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.store import Store
from tests.durability.stepped import killed, stepped
from tests.opened import opened_at

MOVING = ("move_many", "_give_name", "_take_name", "take_away", "append_line", "swap_in", "link")


def untouched(store: Store, memory_id: str) -> None:
    del store, memory_id


def archived(store: Store, memory_id: str) -> None:
    archive(store, [memory_id])


def forgotten(store: Store, memory_id: str) -> None:
    forget(store, memory_id)


def restored(store: Store, memory_id: str) -> None:
    restore(store, memory_id)


@pytest.mark.parametrize(
    ("before", "verb", "place"),
    [
        (untouched, archived, "archive"),
        (archived, restored, "knowledge"),
        (untouched, forgotten, "trash"),
        (forgotten, restored, "knowledge"),
    ],
)
def test_a_killed_move_leaves_a_memory_in_one_place_and_a_second_try_does_it(
    quick_folder: Path,
    before: Callable[[Store, str], None],
    verb: Callable[[Store, str], None],
    place: str,
) -> None:
    store = opened_at(quick_folder / "memory").store()

    def prepared() -> str:
        memory_id = remember(store, Draft("Lamps", "They are lit at dusk.", level=Level.USER)).memory.id
        before(store, memory_id)
        return memory_id

    first = prepared()
    names = stepped(lambda: verb(store, first), {})
    restore(store, first) if place != "knowledge" else None
    forget(store, first, forever=True)
    lines = [number for number, name in enumerate(names, start=1) if name in MOVING][::2]
    assert len(lines) > 6
    for line in lines:
        memory_id = prepared()
        if not killed(lambda: verb(store, memory_id), {}, line):  # noqa: B023
            break

        sync(store)
        here = f"killed before line {line}, in {names[line - 1]}"
        paths = [*store.home.glob(f"knowledge/{memory_id}.md"), *store.home.glob(f"archive/{memory_id}.md")]
        assert len(paths) < 2, here
        with contextlib.suppress(Rejected, NotFound):  # it was done
            verb(store, memory_id)
        (path,) = (path for path in store.home.rglob(f"{memory_id}*.md") if "history" not in path.parts)
        assert path.relative_to(store.home).parts[0] == place, here
        if place == "knowledge":
            assert read(store, memory_id).memory.status is Status.ACTIVE
        forget(store, memory_id, forever=True)
