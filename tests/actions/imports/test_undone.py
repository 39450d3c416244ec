"""What an undo took from an import comes with the next import; what the person decided since stays."""

from pathlib import Path

import pytest

from mcp_server.actions.changes import undo as undoing
from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.store import Store
from tests.actions.imports.every_source import SOURCES, World, world_of

EIGHT, NINE = "The shop listens on port 8000.", "The shop listens on port 9000."
MINE = "The shop listens on port 8100, says Ada."


# The files of claude-memory are in our own vault: the source says again what the undo put back.
@pytest.fixture(params=[name for name in SOURCES if name != "claude-memory"])
def world(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> World:
    return world_of(request.param, store, tmp_path)


def undo(world: World, memory_id: str = "") -> None:
    """Take back the last import, or what it did to one memory."""
    undoing.undo(world.store, undoing.last_change(world.store, memory_id))


def text(world: World, memory_id: str) -> str:
    return read(world.store, memory_id).memory.text


@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize("anew", [True, False])
def test_what_an_undo_took_away_is_taken_again(world: World, one: bool, anew: bool) -> None:
    world.there(a=EIGHT)
    (first,) = world.take()
    undo(world, first.id if one else "")
    if anew:
        rebuild(world.store)

    (again,) = world.take()
    (after,) = world.take()

    assert (again.outcome, after.outcome) == (Outcome.TAKEN, Outcome.UNCHANGED)
    assert EIGHT in text(world, again.id)


@pytest.mark.parametrize("one", [True, False])
def test_what_an_undo_put_back_is_revised_again(world: World, one: bool) -> None:
    world.there(a=EIGHT)
    (first,) = world.take()
    world.there(a=NINE)
    world.take()
    undo(world, first.id if one else "")
    assert EIGHT in text(world, first.id)

    (again,) = world.take()
    (after,) = world.take()

    assert (again.outcome, again.id, after.outcome) == (Outcome.REVISED, first.id, Outcome.UNCHANGED)
    assert NINE in text(world, first.id)


def test_what_was_edited_after_the_undo_stays(world: World) -> None:
    world.there(a=EIGHT)
    (first,) = world.take()
    world.there(a=NINE)
    world.take()
    undo(world)
    revise(world.store, first.id, Revision(text=MINE))

    (again,) = world.take()

    assert again.outcome is Outcome.UNCHANGED
    assert MINE in text(world, first.id)


def test_what_was_restored_and_forgotten_after_the_undo_stays_away(world: World) -> None:
    world.there(a=EIGHT)
    (first,) = world.take()
    undo(world)
    restore(world.store, first.id)
    forget(world.store, first.id)

    (again,) = world.take()

    assert again.outcome is Outcome.LEFT


def test_an_import_that_was_undone_and_done_again_holds(world: World) -> None:
    world.there(a=EIGHT)
    (first,) = world.take()
    undo(world)
    undo(world)

    assert [item.outcome for item in world.take(dry_run=True)] == [Outcome.UNCHANGED]
    read(world.store, first.id).path.unlink()
    sync(world.store)
    assert [item.outcome for item in world.take()] == [Outcome.LEFT]
