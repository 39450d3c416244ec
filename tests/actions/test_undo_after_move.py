"""Changes made before a project's memory moved, into its repository or to a new path, are taken back."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcp_server.actions.changes.history import history_of
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.judge.candidate import propose, review_candidates
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.review.entries import Verdict
from mcp_server.actions.review.review import review, settle
from mcp_server.actions.upkeep.adopt import adopt
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.actions.tidy.knowledge import twins
from tests.conftest import Clock, Open
from tests.importing import import_from

pytestmark = pytest.mark.usefixtures("steady_use")

OLD = "The gateway ends large uploads after 30 seconds."
NEW = "The gateway ends large uploads after 60 seconds."


@dataclass(frozen=True)
class Before:
    """A store before its project moves, its clock, and a folder of the person's own."""

    store: Store
    clock: Clock
    folder: Path


def into_the_repository(open_here: Open, store: Store, project: Path) -> Store:
    init(store)
    return open_here().store()


def to_a_new_path(open_here: Open, store: Store, project: Path) -> Store:
    moved = project.rename(project.with_name("store"))
    moved_store = open_here(folder=moved).store()
    adopt(moved_store)
    return moved_store


MOVES = pytest.mark.parametrize("move", [into_the_repository, to_a_new_path])


def remembered(store: Store, text: str = OLD, **more: object) -> str:
    draft = Draft("Uploads", text, **{"level": Level.PROJECT, "type": "decision", **more})  # type: ignore[arg-type]
    return remember(store, draft).memory.id


def _revised(before: Before) -> tuple[str, ...]:
    memory_id = remembered(before.store)
    revise(before.store, memory_id, Revision(text=NEW))
    return (memory_id,)


def _replaced(before: Before) -> tuple[str, ...]:
    old = remembered(before.store)
    draft = Draft("Uploads", NEW, level=Level.PROJECT, type="decision")
    return compare_and_store(before.store, draft, supersedes=old).id, old


def _imported(before: Before) -> tuple[str, ...]:
    notes = before.folder / "notes"
    notes.mkdir()
    for number in range(2):
        (notes / f"n{number}.md").write_text(f"# Note {number}\n\nPort {number}.\n", encoding="utf-8")
    import_from(before.store, "notes", notes, level=Level.PROJECT)
    return tuple(row.id for row in list_memories(before.store, Filter()).rows)


def _tidied(before: Before) -> tuple[str, ...]:
    ids = twins(before.store, level=Level.PROJECT)
    before.clock.pass_days(1)
    tidy(before.store)
    return ids


WAYS = [_revised, _replaced, _imported, _tidied]


def texts(store: Store, ids: tuple[str, ...]) -> list[tuple[str, Status]]:
    memories = [read(store, memory_id).memory for memory_id in ids]
    return [(memory.text, memory.status) for memory in memories]


@MOVES
@pytest.mark.parametrize("whole", [False, True], ids=["by its id", "the last change"])
@pytest.mark.parametrize("change", WAYS)
def test_a_change_of_before_is_taken_back_and_made_again(
    open_here: Open,
    store: Store,
    project: Path,
    clock: Clock,
    tmp_path: Path,
    move: Callable[[Open, Store, Path], Store],
    change: Callable[[Before], tuple[str, ...]],
    whole: bool,
) -> None:
    ids = change(Before(store, clock, tmp_path))
    counts = [len(history_of(store, memory_id).versions) for memory_id in ids]
    after = texts(store, ids)

    moved_store = move(open_here, store, project)

    assert [len(history_of(moved_store, memory_id).versions) for memory_id in ids] == counts
    undone = undo(moved_store, last_change(moved_store, "" if whole else ids[0]))
    assert undone.skipped == []
    assert ids[0] in undone.restored
    undo(moved_store, last_change(moved_store))
    rebuild(moved_store)
    assert texts(moved_store, ids) == after


@MOVES
def test_what_was_put_away_before_comes_back(
    open_here: Open, store: Store, project: Path, move: Callable[[Open, Store, Path], Store]
) -> None:
    first, second = remembered(store), remembered(store, "Invoices are numbered per year.")
    data = [read(store, memory_id).data for memory_id in (first, second)]
    remembered(store, "Deploys run on Fridays.")
    forget(store, first)
    forget(store, second)
    propose(store, Draft("Seen", "Seen once."), key=16 * "a", confidence=0.5, why="waits for you")

    moved_store = move(open_here, store, project)
    restore(moved_store, first)
    undo(moved_store, last_change(moved_store, second))

    assert [read(moved_store, memory_id).data for memory_id in (first, second)] == data
    assert [candidate.memory.title for candidate in review_candidates(moved_store)] == ["Seen"]


@MOVES
def test_what_was_settled_before_stays_so(
    open_here: Open, store: Store, project: Path, clock: Clock, move: Callable[[Open, Store, Path], Store]
) -> None:
    remembered(store)
    clock.pass_days(1)
    remembered(store, NEW)
    (entry,) = review(store).entries
    settle(store, entry, Verdict.KEEP_BOTH)

    moved_store = move(open_here, store, project)

    assert review(moved_store).entries == ()
    undo(moved_store, last_change(moved_store, entry.id))
    assert [left.name for left in review(moved_store).entries] == [entry.name]
