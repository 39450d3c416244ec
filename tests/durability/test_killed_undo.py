"""An undo that was killed, at any line, is completed by the next one, as if nobody had killed the first."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.commit import one_change
from mcp_server.actions.files.runs import Undone
from mcp_server.actions.judge.candidate import approve, propose
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.review.entries import Became, Verdict
from mcp_server.actions.review.review import QUESTION, review, settle
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.actions.tidy.knowledge import files_of
from tests.durability.stepped import killed, stepped
from tests.importing import import_from
from tests.opened import opened_at

MOVING = ("move_many", "_give_name", "_take_name", "take_away", "append_line", "write_new", "swap_in", "link")
Change = Callable[[Store, Path], None]


def remembered(store: Store) -> str:
    return remember(store, Draft("Lamps", "They are lit at dusk.", level=Level.USER)).memory.id


def anew(store: Store, _: Path) -> None:
    remembered(store)


def revised(store: Store, _: Path) -> None:
    revise(store, remembered(store), Revision(text="They are lit at noon."))


def forgotten(store: Store, _: Path) -> None:
    forget(store, remembered(store))


def restored(store: Store, _: Path) -> None:
    memory_id = remembered(store)
    forget(store, memory_id)
    restore(store, memory_id)


def archived(store: Store, _: Path) -> None:
    archive(store, [remembered(store)])


def imported(store: Store, folder: Path) -> None:
    for number in range(3):
        (folder / f"note{number}.md").write_text(f"# Note {number}\n\nIt says {number}.\n", encoding="utf-8")
    import_from(store, "notes", folder, level=Level.USER)


def approved(store: Store, _: Path) -> None:
    draft = Draft("Roofs", "The roof is made of slate.", level=Level.USER)
    propose(store, draft, key="candidate-1", confidence=0.5, why="waits")
    approve(store, ["candidate-1"])


def take_back(store: Store) -> Undone:
    return undo(store, last_change(store))


def live(store: Store) -> dict[str, bytes]:
    return {path: data for path, data in files_of(store).items() if not path.startswith("trash")}


@pytest.mark.parametrize("change", [anew, revised, forgotten, restored, archived, imported, approved])
def test_the_next_undo_completes_one_that_was_killed(quick_folder: Path, change: Change) -> None:
    store, folder = opened_at(quick_folder / "memory").store(), quick_folder / "notes"
    folder.mkdir()
    change(store, folder)
    after = files_of(store)
    names = stepped(lambda: take_back(store), {})
    before = files_of(store)
    lines = [number for number, name in enumerate(names, start=1) if name in MOVING][::3]
    completed = 0
    for line in lines:
        take_back(store)  # which does it again
        assert files_of(store) == after, f"killed before line {line - 3}, in {names[line - 4]}"
        last = last_change(store).name
        if not killed(lambda: take_back(store), {}, line):
            break  # the first undo made folders, too

        if last_change(store).name == last:  # else it had written that it was done
            assert not take_back(store).skipped
            completed += 1

        assert files_of(store) == before, f"killed before line {line}, in {names[line - 1]}"
    assert completed > 3, "no kill fell into an undo"


def test_the_next_undo_completes_that_of_a_merge(quick_folder: Path) -> None:
    store = opened_at(quick_folder / "memory").store()

    def merged(number: int) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """Merge two memories; return the files from before and after."""
        for text in ("30 seconds", "60 seconds"):
            title = f"Timeout of gateway {number}"
            remember(store, Draft(title, f"The timeout is {text}.", type="decision", level=Level.USER))
        before = live(store)
        entry = next(entry for entry in review(store).entries if entry.kind == QUESTION)
        assert settle(store, entry, Verdict.MERGE) is Became.MERGED
        return before, live(store)

    def put_away() -> None:
        for row in list_memories(store, Filter()).rows:
            forget(store, row.id, forever=True)

    merged(0)
    names = stepped(lambda: take_back(store), {})
    put_away()
    in_reach = [number for number, name in enumerate(names, start=1) if name in MOVING]
    # Most can go wrong at the end, between the new memory's way to the trash and the events.
    lines = [*in_reach[:-60:7], *in_reach[-60::2]]
    for line in lines:
        before, after = merged(line)
        run = last_change(store).name
        if not killed(lambda: take_back(store), {}, line):
            break  # the first undo made folders, too

        if last_change(store).name == run:
            take_back(store)
        assert live(store) == before, f"killed before line {line}, in {names[line - 1]}"
        take_back(store)
        assert live(store) == after, f"killed before line {line}, in {names[line - 1]}, and done again"
        put_away()
    assert len(lines) > 10


def test_the_next_undo_completes_one_that_the_disk_refused_in_the_middle(quick_folder: Path) -> None:
    store, folder = opened_at(quick_folder / "memory").store(), quick_folder / "notes"
    folder.mkdir()
    imported(store, folder)
    blocker = store.home / "trash"
    blocker.write_text("a file where a folder has to be", encoding="utf-8")
    with one_change():
        for row in list_memories(store, Filter(), limit=2).rows:
            revise(store, row.id, Revision(text=f"Other words of {row.id}."))
        remembered(store)
    after = files_of(store)

    with pytest.raises(OSError):
        take_back(store)
    blocker.unlink()
    undone = take_back(store)

    assert not undone.skipped and len(undone.restored) == 3
    assert sum(b"Other words" in data for path, data in files_of(store).items() if path in after) == 0
