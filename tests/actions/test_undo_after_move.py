"""Changes made before a project's memory moved, into its repository or to a new path, are taken back."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcp_server.actions.changes.history import history_of
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.exchange.imports.formats import import_from
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
from mcp_server.core.memory import Draft, Level, Status
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.actions.tidy.knowledge import twins
from tests.conftest import Clock, Open

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
    here = open_here(folder=moved).store()
    adopt(here)
    return here


MOVES = pytest.mark.parametrize("move", [into_the_repository, to_a_new_path])


def known(store: Store, text: str = OLD, **more: object) -> str:
    draft = Draft("Uploads", text, **{"level": Level.PROJECT, "type": "decision", **more})  # type: ignore[arg-type]
    return remember(store, draft).memory.id


def _revised(before: Before) -> tuple[str, ...]:
    memory_id = known(before.store)
    revise(before.store, memory_id, Revision(text=NEW))
    return (memory_id,)


def _replaced(before: Before) -> tuple[str, ...]:
    old = known(before.store)
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
    found = [read(store, each).memory for each in ids]
    return [(each.text, each.status) for each in found]


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
    told = [len(history_of(store, each).versions) for each in ids]
    after = texts(store, ids)

    here = move(open_here, store, project)

    assert [len(history_of(here, each).versions) for each in ids] == told
    done = undo(here, last_change(here, "" if whole else ids[0]))
    assert done.skipped == []
    assert ids[0] in done.restored
    undo(here, last_change(here))
    rebuild(here)
    assert texts(here, ids) == after


@MOVES
def test_what_was_put_away_before_comes_back(
    open_here: Open, store: Store, project: Path, move: Callable[[Open, Store, Path], Store]
) -> None:
    one, other = known(store), known(store, "Invoices are numbered per year.")
    data = [read(store, each).data for each in (one, other)]
    known(store, "Deploys run on Fridays.")
    forget(store, one)
    forget(store, other)
    propose(store, Draft("Seen", "Seen once."), key=16 * "a", confidence=0.5, why="waits for you")

    here = move(open_here, store, project)
    restore(here, one)
    undo(here, last_change(here, other))

    assert [read(here, each).data for each in (one, other)] == data
    assert [each.memory.title for each in review_candidates(here)] == ["Seen"]


@MOVES
def test_what_was_settled_before_stays_so(
    open_here: Open, store: Store, project: Path, clock: Clock, move: Callable[[Open, Store, Path], Store]
) -> None:
    known(store)
    clock.pass_days(1)
    known(store, NEW)
    (entry,) = review(store).entries
    settle(store, entry, Verdict.KEEP_BOTH)

    here = move(open_here, store, project)

    assert review(here).entries == ()
    undo(here, last_change(here, entry.id))
    assert [each.name for each in review(here).entries] == [entry.name]
