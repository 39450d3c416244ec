"""What is pending is done once, for every project, whatever stands in the way."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.actions.capture.capture import keep
from mcp_server.actions.capture.note import captures
from mcp_server.actions.files.read import read
from mcp_server.actions.upkeep.work import LOCK, work
from mcp_server.adapters import files
from mcp_server.adapters.index.events import transcripts
from mcp_server.bootstrap import Opened
from mcp_server.store import Store
from tests.actions.work.worked import DECIDED, LONG, conversations, ended, worked
from tests.conftest import Open
from tests.live import ROOT
from tests.patience import PATIENCE
from tests.recorded import Recorded, queued, seen
from tests.scripted_model import ScriptedModel, agreed

# A process counts as its own peak what its parent had when it was started: this one is small.
MEASURED = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "mcp_server.doors.worker"], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
HUGE = int(os.environ.get("TRANSCRIPT_MB", "500")) * 1024 * 1024  # 2048 by hand


def test_each_transcript_goes_to_its_own_project(open_here: Open, tmp_path: Path, project: Path) -> None:
    opened = open_here(folder=tmp_path)
    shop = Recorded(tmp_path / "transcripts", cwd=project)
    shop.user("The cart rounds the cents of every line")
    blog = Recorded(tmp_path / "transcripts", cwd=tmp_path / "blog")
    blog.user("The feed wants absolute links in every line")
    for transcript in (shop, blog):
        ended(opened.store(), transcript)

    assert worked(opened).kept == 2

    shop_store, blog_store = opened.store(folder=project), opened.store(folder=tmp_path / "blog")
    assert conversations(shop_store, "in every line") == [shop.session]
    assert conversations(blog_store, "in every line") == [blog.session]
    assert read(shop_store, shop.session).path.is_relative_to(shop_store.vaults[-1].root)
    assert read(blog_store, blog.session).path.is_relative_to(blog_store.vaults[-1].root)


def test_with_nothing_pending_nothing_is_done_or_written(opened: Opened, recorded: Recorded) -> None:
    recorded.user("Something to keep")
    ended(opened.store(), recorded)
    worked(opened)
    before = [path.read_bytes() for path in opened.store().ledger.paths()]

    report = worked(opened)

    assert (report.kept, report.outcomes, report.waits, report.failed) == (0, [], "", {})
    assert [path.read_bytes() for path in opened.store().ledger.paths()] == before


@pytest.mark.feature("A-51")
def test_another_worker_at_it_is_left_alone(opened: Opened, recorded: Recorded) -> None:
    recorded.user("Something to keep")
    ended(opened.store(), recorded)

    with files.lock(opened.home / LOCK):
        assert work(lambda folder: opened.store(folder=folder)) is None
        assert queued(opened.store(), recorded).kept == 0

    assert worked(opened).kept == 1


@pytest.mark.feature("A-11", "3.1-5")
def test_three_workers_at_once_do_everything_once(
    open_here: Open, memory_dir: Path, recorded: Recorded, model: ScriptedModel
) -> None:
    opened = open_here(**agreed(model))
    for number in range(12):
        recorded.user(f"Part {number}: {LONG}")
    ended(opened.store(), recorded)

    command = [sys.executable, "-m", "mcp_server.doors.worker"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MEMORY_DIR": str(memory_dir)}
    environment |= {"EMBEDDING_MODEL": "none", **agreed(model)}
    running = [subprocess.Popen(command, env=environment) for _ in range(3)]

    assert [process.wait(PATIENCE) for process in running] == [0, 0, 0]
    assert queued(opened.store(), recorded).learned == recorded.path.stat().st_size
    lines = [line for path in opened.store().ledger.paths() for line in path.read_text().splitlines()]
    events = [json.loads(line) for line in lines]
    ends = [event["end"] for event in events if event["event"] == "transcript_kept" and "turns" in event]
    assert len(ends) > 1
    assert sorted(set(ends)) == ends
    assert model.calls == len({request.prompt for request in model.asked}) == len(ends)


@pytest.mark.parametrize("broken", ["unreadable", "folder", "link"])
def test_a_broken_transcript_stops_no_other_and_is_not_tried_for_ever(
    opened: Opened, recorded: Recorded, tmp_path: Path, broken: str
) -> None:
    bad = Recorded(tmp_path / "transcripts", cwd=recorded.cwd)
    bad.user("Nobody can read this")
    ended(opened.store(), bad)
    whole = bad.path.read_bytes()
    if broken == "unreadable":
        bad.path.chmod(0)
        if os.access(bad.path, os.R_OK):
            pytest.skip("root reads everything")
    else:
        bad.path.unlink()
        bad.path.mkdir() if broken == "folder" else bad.path.symlink_to(tmp_path)
    recorded.user("But this can be read")
    ended(opened.store(), recorded)

    report = worked(opened)

    assert conversations(opened.store(), "can be read") == [recorded.session]
    assert list(report.failed) == [str(bad.path)]
    if broken == "link":
        bad.path.unlink()
        bad.path.write_bytes(whole)
        assert worked(opened).kept == 1  # the next worker tries again


def test_capture_by_hand_notes_nothing(open_here: Open, recorded: Recorded) -> None:
    recorded.user("nobody reads this")

    assert not captures(open_here(DAYBOOK_CAPTURE="manual").store(), recorded.path)
    assert captures(open_here().store(), recorded.path)


def test_what_a_hook_tells_while_the_end_is_being_read_stays_pending(
    store: Store, recorded: Recorded
) -> None:
    recorded.user("The first words")
    ended(store, recorded)

    def goes_on(_: int) -> None:
        recorded.user("The last words")
        ended(store, recorded)

    first = queued(store, recorded)
    keep(store, first, progress=goes_on)

    with store.database.read() as db:
        (pending,) = transcripts.unkept(db)
    keep(store, pending)
    assert "The last words" in read(store, recorded.session).memory.text


def test_a_transcript_that_is_written_anew_while_it_is_read_loses_nothing(
    store: Store, recorded: Recorded
) -> None:
    for number in range(10):
        recorded.noise()
        recorded.user(f"Turn {number} of them. {LONG}")
    ended(store, recorded)

    def tidied(_: int) -> None:
        lines = recorded.path.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = recorded.path.with_suffix(".new")
        whole.write_text("".join(line for line in lines if "attachment" not in line), encoding="utf-8")
        whole.replace(recorded.path)
        if recorded.minute < 20:  # it becomes longer than it was
            for number in range(10, 40):
                recorded.user(f"Turn {number} of them. {LONG}")

    keep(store, queued(store, recorded), progress=tidied)
    ended(store, recorded)
    keep(store, queued(store, recorded))

    words = read(store, recorded.session).memory.text
    assert [words.count(f"Turn {number} of them") for number in range(40)] == [1] * 40


def test_an_agent_that_works_on_after_its_session_was_read_is_kept(
    opened: Opened, recorded: Recorded
) -> None:
    recorded.user("Look for the cache, please")
    ended(opened.store(), recorded)
    worked(opened)
    agent = Recorded(recorded.path.parent, cwd=recorded.cwd, subagent_of=recorded)
    agent.claude("The cache of rates is in rates.py")

    ended(opened.store(), recorded)
    worked(opened)

    assert len(conversations(opened.store(), "cache of rates")) == 2


def test_however_large_a_transcript_is_it_is_read_in_100_mb(memory_dir: Path, recorded: Recorded) -> None:
    recorded.user("What stands before the hole")
    with open(recorded.path, "r+b") as handle:
        handle.truncate(HUGE)  # a hole takes no room on the disk
        handle.seek(0, os.SEEK_END)
        handle.write(b"\n")
    recorded.user("What stands behind the hole")
    environment = {**os.environ, "MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none"}
    store = Opened(environment, folder=recorded.cwd).store()
    ended(store, recorded)

    process = subprocess.run(
        [sys.executable, "-c", MEASURED],
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert process.returncode == 0, process.stderr
    assert "behind the hole" in read(store, recorded.session).memory.text
    assert queued(store, recorded).kept == recorded.path.stat().st_size
    print(f"{HUGE / 1e6:.0f} MB in {int(process.stdout) // 1024} MiB")
    assert int(process.stdout) < 100 * 1024  # KiB


def test_a_session_stays_ended_when_its_last_answer_is_noted_after_its_end(
    store: Store, recorded: Recorded
) -> None:
    recorded.user(DECIDED)

    assert seen(store, recorded, ended=True).ended
    assert seen(store, recorded, ended=False).ended

    recorded.user("The session goes on.")
    assert not seen(store, recorded, ended=False).ended
