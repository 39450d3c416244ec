"""All that tidying does can be seen before, completed after a kill, and taken back."""

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change
from mcp_server.actions.files.read import read
from mcp_server.actions.files.runs import complete, undo
from mcp_server.actions.files.sync import catch_up, rebuild, sync
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters.index.events import deeds, tidying
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory_parts import Status
from mcp_server.doors.shown.runs import line
from mcp_server.store import Store
from tests.actions.tidy.knowledge import FIVE, TRAPS, files_of, in_trash, plan_of, put, put_five, twins
from tests.conftest import Clock
from tests.live import ROOT
from tests.memories import status
from tests.opened import opened_at
from tests.patience import PATIENCE
from tests.scripted_model import ScriptedModel


@pytest.mark.feature("B-25")
def test_a_dry_run_changes_nothing_and_says_what_would_be_done(store: Store, clock: Clock) -> None:
    twins(store)
    for text in TRAPS[0]:
        put(store, text)
    clock.pass_days(1)
    before = files_of(store), [path.read_bytes() for path in store.ledger.paths()]

    dry = tidy(store, dry_run=True)

    assert (files_of(store), [path.read_bytes() for path in store.ledger.paths()]) == before
    assert dry.counts == {"duplicates": 1}
    assert [line(entry) for entry in tidy(store).entries] == [line(entry) for entry in dry.entries]


@pytest.mark.feature("A-23", "3.2-8")
def test_undo_puts_everything_back_and_it_is_not_done_again(store: Store, clock: Clock) -> None:
    put(store, "A passing thought about the logo", type="note")
    clock.pass_days(91)
    twins(store)
    for text in TRAPS[0]:
        put(store, text)
    before = files_of(store)
    report = tidy(store)
    assert report.counts == {"duplicates": 1, "ageing": 1}
    assert files_of(store) != before

    undone = undo(store, report.run)

    assert undone.run == report.run
    assert undone.skipped == []
    assert len(undone.restored) == 3
    assert files_of(store) == before
    assert tidy(store).counts == {}
    with pytest.raises(NotFound, match="that can be undone"):
        undo(store, report.run)


def test_a_run_that_changed_nothing_and_an_undo_say_why_their_names_undo_nothing(store: Store) -> None:
    empty = tidy(store).run
    with pytest.raises(Rejected, match=f"The run '{empty}' changed no memory"):
        last_change(store, empty)

    twins(store)
    undo(store, tidy(store).run)

    with store.database.read() as db:
        names = {str(deed.detail["run"]) for deed in deeds.listed(db, events=["tidied"], limit=9)}
        (undoing,) = (name for name in names if name != empty and not tidying.is_run(db, name))
    with pytest.raises(Rejected, match="neither a memory nor a run of tidying"):
        last_change(store, undoing)
    with pytest.raises(NotFound):
        last_change(store, "20261127-230608-62f1")


def test_undo_finds_what_was_renamed_since(store: Store, clock: Clock) -> None:
    aged = put(store, "A passing thought about the logo", type="note")
    clock.pass_days(91)
    twin_ids = twins(store)
    before = sorted(files_of(store).values())
    run = tidy(store).run
    for memory_id in (aged, *twin_ids):
        path = read(store, memory_id).path
        path.rename(path.with_name(f"My {path.name}"))

    undone = undo(store, run)

    assert undone.skipped == []
    assert sorted(files_of(store).values()) == before
    assert [read(store, memory_id).path.name for memory_id in twin_ids] == [
        f"My {memory_id}.md" for memory_id in twin_ids
    ]
    assert [status(store, memory_id) for memory_id in (aged, *twin_ids)] == [Status.ACTIVE] * 3


def test_undo_leaves_alone_what_was_changed_since(store: Store) -> None:
    poor, rich = twins(store)
    run = tidy(store).run
    revise(store, rich, Revision(text="Deploys are done by hand now."))

    undone = undo(store, run)

    assert undone.skipped == [(rich, "it was changed since")]
    assert undone.restored == [poor]
    assert read(store, rich).memory.text == "Deploys are done by hand now."


def test_undo_does_the_rest_when_what_stood_in_the_way_is_gone(store: Store, clock: Clock) -> None:
    aged = put(store, "A passing thought about the logo", type="note")
    place = read(store, aged).path
    clock.pass_days(91)
    poor, _ = twins(store)
    before = files_of(store)
    run = tidy(store).run
    place.write_text("Mine.")

    first = undo(store, run)

    assert [memory_id for memory_id, _ in first.skipped] == [aged]
    assert status(store, poor) is Status.ACTIVE
    place.unlink()
    assert undo(store, run).skipped == []
    assert files_of(store) == before
    with pytest.raises(NotFound):
        undo(store, run)


def test_a_merge_of_a_model_goes_to_the_trash_when_it_is_undone(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    merged = {"from": [2, 3], "title": "Stripe", "text": f"{FIVE[1]}. {FIVE[2]}."}
    with ScriptedModel([plan_of(keep=[1, 4, 5], merge=[merged])]) as api:
        store = with_model(api)
        put_five(store, clock)
        before = files_of(store)
        report = tidy(store)
        merged_id = report.entries[0].changes[0].id

        undo(store, report.run)

    assert in_trash(store) == [merged_id]
    assert {name: data for name, data in files_of(store).items() if not name.startswith("trash")} == before


def test_a_memory_in_a_folder_of_its_own_goes_back_there(store: Store, clock: Clock) -> None:
    path = read(store, put(store, "A passing thought", type="note")).path
    place = path.parent / "thoughts" / "mine.md"
    place.parent.mkdir()
    path.rename(place)
    sync(store)
    clock.pass_days(91)
    report = tidy(store)
    assert report.counts == {"ageing": 1}
    assert not place.exists()

    undo(store, report.run)

    assert place.exists()


@pytest.mark.parametrize("kept_lines", [0, 1])
def test_a_run_that_was_killed_is_completed_by_the_next(store: Store, kept_lines: int) -> None:
    poor, rich = twins(store)
    paths = [read(store, memory_id).path for memory_id in (rich, poor)]
    before = [path.read_bytes() for path in paths]
    run = tidy(store).run
    after = [path.read_bytes() for path in paths]
    # As a kill leaves it: the intention is in the ledger, the first file may be written, nothing else is.
    for number in range(kept_lines, 2):
        paths[number].write_bytes(before[number])
    for ledger in store.ledger.paths():
        lines = ledger.read_text(encoding="utf-8").splitlines(keepends=True)
        cut = [line for line in lines if '"ended"' not in line and '"event": "merged"' not in line]
        ledger.write_text("".join(cut), encoding="utf-8")
    rebuild(store)

    tidy(store)

    assert [path.read_bytes() for path in paths] == after
    undo(store, run)
    assert status(store, poor) is Status.ACTIVE


def test_what_was_killed_before_its_memory_was_made_leaves_the_sources(store: Store) -> None:
    ids = [put(store, text) for text in FIVE[:2]]
    catch_up(store)
    vault = read(store, ids[0]).vault.key
    change = {"was": {}, "now": {"place": "knowledge/new.md"}, "ref": f"{vault}/new", "said": "x"}
    gone = [
        {
            "ref": f"{vault}/{memory_id}",
            "said": "y",
            "was": {"place": f"knowledge/{memory_id}.md"},
            "now": {"place": f"knowledge/{memory_id}.md", "status": "superseded"},
        }
        for memory_id in ids
    ]
    store.ledger.append("tidied", store.clock(), run="r1", step="merges", reason="", changes=[change, *gone])
    catch_up(store)

    complete(store, "r1")

    assert [status(store, memory_id) for memory_id in ids] == [Status.ACTIVE] * 2
    with store.database.read() as db:
        assert tidying.brought_back(db) == set()


def sweep(home: str, project: str) -> None:
    """Kill tidying before each of its writes in turn; runs in a process of its own, which has no threads."""
    clock = Clock()
    original = Path(home)
    clock.pass_days(93)

    def opened(folder: Path) -> Store:
        return opened_at(folder, Path(project), clock=clock).store()

    before = files_of(opened(original))
    texts = {data.split(b"---\n")[2] for data in before.values()}
    finals: list[dict[str, bytes]] = []
    code = 9
    while code == 9:
        copy = original.with_name(f"copy{len(finals)}")
        shutil.copytree(original, copy, ignore=shutil.ignore_patterns("memory.db*"))
        child = os.fork()
        if child == 0:
            store = opened(copy)
            sync(store)
            die_before_write(len(finals) + 1)
            tidy(store)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        store = opened(copy)
        assert {data.split(b"---\n")[2] for data in files_of(store).values()} == texts
        tidy(store)
        finals.append(files_of(store))
        for run in runs_of(store):  # before and after the kill
            assert undo(store, run).skipped == []
        assert files_of(store) == before
        store.database.close()
    assert code == 0
    assert [final.keys() for final in finals] == [finals[-1].keys()] * len(finals)
    assert [b"".join(final.values()).count(b"superseded_by") for final in finals] == [1] * len(finals)
    print(len(finals))


def runs_of(store: Store) -> list[str]:
    """Return the names of the runs that changed something, the last first."""
    with store.database.read() as db:
        rows = db.execute("SELECT run FROM tidied GROUP BY run ORDER BY max(rowid) DESC")
        return [row[0] for row in rows]


def die_before_write(number: int) -> None:
    """Let this process die before it writes, links or unlinks a file for the *number*-th time."""
    writes = itertools.count(1)

    def dying(call: Callable[..., object]) -> Callable[..., object]:
        def called(*args: object, **more: object) -> object:
            if next(writes) == number:
                os._exit(9)
            return call(*args, **more)

        return called

    for name in ("write", "link", "unlink", "replace", "rename"):
        setattr(os, name, dying(getattr(os, name)))


@pytest.mark.feature("A-41")
def test_a_kill_at_any_moment_loses_nothing_and_can_be_undone(
    store: Store, clock: Clock, project: Path
) -> None:
    put(store, "A passing thought about the logo", type="note")
    clock.pass_days(91)
    twins(store)
    for text in TRAPS[0]:
        put(store, text)

    process = subprocess.run(
        [sys.executable, "-c",
         "import sys; from tests.actions.tidy.test_undo import sweep; sweep(*sys.argv[1:])",
         str(store.home), str(project)],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip

    assert process.returncode == 0, process.stderr
    assert int(process.stdout) > 12
