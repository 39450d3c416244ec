"""The worker: what is pending is done once, for every project, whatever stands in the way."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcp_server.actions.capture import keep
from mcp_server.actions.note import captures, note_ended, note_seen
from mcp_server.actions.read import read
from mcp_server.actions.recall import recall
from mcp_server.actions.sync import catch_up
from mcp_server.actions.work import LOCK, Work, work
from mcp_server.adapters import files, transcript_file
from mcp_server.adapters.index import transcripts
from mcp_server.adapters.index.transcripts import Transcript
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Kind
from mcp_server.core.query import Filter, Query
from mcp_server.store import Store
from tests.conftest import Clock
from tests.recorded import Recorded
from tests.scripted_model import ScriptedModel, reply

ROOT = Path(__file__).resolve().parents[2]
# A process counts as its own peak what its parent had when it was started: this one is small.
MEASURED = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "mcp_server.doors.worker"], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
HUGE = int(os.environ.get("TRANSCRIPT_MB", "500")) * 1024 * 1024  # 2048 by hand
LONG = "and what we said about it goes on " * 30
DECIDED = f"We decided to keep invoices in Postgres because the reports need window functions. {LONG}"

Open = Callable[..., Opened]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as server:
        yield server


@pytest.fixture
def recorded(tmp_path: Path, project: Path) -> Recorded:
    return Recorded(tmp_path / "transcripts", cwd=project)


def agreed(model: ScriptedModel, **more: str) -> dict[str, str]:
    said = {"DAYBOOK_MODEL_CALLS": "true", "ANTHROPIC_API_KEY": "sk-test-0000"}
    return {**said, "ANTHROPIC_BASE_URL": model.url, **more}


def worked(opened: Opened) -> Work:
    done = work(lambda folder: opened.store(folder=folder))
    assert done is not None
    return done


def ended(store: Store, recorded: Recorded) -> None:
    note_ended(store, recorded.path, session=recorded.session, folder=str(recorded.cwd))


def known(store: Store, path: Path) -> Transcript:
    catch_up(store)
    with store.database.read() as db:
        found = transcripts.known(db, str(path))
    assert found
    return found


def conversations(store: Store, words: str) -> list[str]:
    found = recall(store, Query(words, filter=Filter(kinds=(Kind.CONVERSATION,))))
    return [hit.id for hit in found.hits]


def sent(model: ScriptedModel) -> str:
    return "\n".join(asked.prompt for asked in model.asked)


def test_each_transcript_goes_to_its_own_project(open_here: Open, tmp_path: Path, project: Path) -> None:
    opened = open_here(folder=tmp_path)
    shop = Recorded(tmp_path / "transcripts", cwd=project)
    shop.user("The cart rounds the cents of every line")
    blog = Recorded(tmp_path / "transcripts", cwd=tmp_path / "blog")
    blog.user("The feed wants absolute links in every line")
    for each in (shop, blog):
        ended(opened.store(), each)

    assert worked(opened).kept == 2

    here, there = opened.store(folder=project), opened.store(folder=tmp_path / "blog")
    assert conversations(here, "in every line") == [shop.session]
    assert conversations(there, "in every line") == [blog.session]
    assert read(here, shop.session).path.is_relative_to(here.vaults[-1].root)
    assert read(there, blog.session).path.is_relative_to(there.vaults[-1].root)


def test_with_nothing_pending_nothing_is_done_or_written(open_here: Open, recorded: Recorded) -> None:
    opened = open_here()
    recorded.user("Something to keep")
    ended(opened.store(), recorded)
    worked(opened)
    before = [path.read_bytes() for path in opened.store().ledger.paths()]

    done = worked(opened)

    assert (done.kept, done.settled, done.waits, done.failed) == (0, [], "", {})
    assert [path.read_bytes() for path in opened.store().ledger.paths()] == before


def test_another_worker_at_it_is_left_alone(open_here: Open, recorded: Recorded) -> None:
    opened = open_here()
    recorded.user("Something to keep")
    ended(opened.store(), recorded)

    with files.lock(opened.home / LOCK):
        assert work(lambda folder: opened.store(folder=folder)) is None
        assert known(opened.store(), recorded.path).kept == 0

    assert worked(opened).kept == 1


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

    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert known(opened.store(), recorded.path).learned == recorded.path.stat().st_size
    lines = [line for path in opened.store().ledger.paths() for line in path.read_text().splitlines()]
    events = [json.loads(line) for line in lines]
    kept = [event["end"] for event in events if event["event"] == "transcript_kept" and "turns" in event]
    assert len(kept) > 1
    assert sorted(set(kept)) == kept
    assert model.calls == len({asked.prompt for asked in model.asked}) == len(kept)


@pytest.mark.parametrize("broken", ["unreadable", "folder", "link"])
def test_a_broken_transcript_stops_no_other_and_is_not_tried_for_ever(
    open_here: Open, recorded: Recorded, tmp_path: Path, broken: str
) -> None:
    opened = open_here()
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

    done = worked(opened)

    assert conversations(opened.store(), "can be read") == [recorded.session]
    assert list(done.failed) == [str(bad.path)]
    if broken == "link":
        bad.path.unlink()
        bad.path.write_bytes(whole)
        assert worked(opened).kept == 1  # the next worker tries again


def test_what_was_said_before_the_person_agreed_is_not_sent(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    before = open_here()
    recorded.user(f"The first half was private talk. {LONG}")
    agent = Recorded(recorded.path.parent, cwd=recorded.cwd, subagent_of=recorded)
    agent.claude(f"An agent heard some of the private talk. {LONG}")
    for number in range(8):
        recorded.user(f"More private talk, part {number}. {LONG}")
    note_seen(
        before.store(), recorded.path, transcript_file.size(recorded.path), session=recorded.session,
        folder=str(recorded.cwd), ended=False,
    )  # fmt: skip

    after = open_here(**agreed(model))
    recorded.user(f"The second half is about invoices. {LONG}")
    ended(after.store(), recorded)
    worked(after)

    assert "second half" in sent(model)
    assert "private talk" not in sent(model)
    assert "private talk" in read(after.store(), recorded.session).memory.text


def test_what_was_kept_long_before_the_person_agreed_is_not_sent(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    for number in range(20):
        recorded.user(f"Private talk, part {number}. {LONG}")
    ended(open_here().store(), recorded)
    worked(open_here())

    recorded.user(f"The second half is about invoices. {LONG}")
    opened = open_here(**agreed(model))
    ended(opened.store(), recorded)
    worked(opened)

    assert "second half" in sent(model)
    assert "Private talk" not in sent(model).partition("<transcript>")[2]


def test_what_is_only_taken_in_to_be_found_again_is_never_sent(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    for number in range(20):
        recorded.user(f"An old talk, part {number}. {LONG}")
    opened = open_here(**agreed(model))
    size = transcript_file.size(recorded.path)
    note_seen(
        opened.store(), recorded.path, size, session=recorded.session, folder=str(recorded.cwd),
        ended=True, backfill=True,
    )  # fmt: skip

    assert worked(opened).kept == 20
    assert worked(opened).kept == 0

    assert model.calls == 0


def test_with_the_budget_used_up_everything_is_kept_and_the_next_day_goes_on(
    open_here: Open, recorded: Recorded, model: ScriptedModel, clock: Clock
) -> None:
    opened = open_here(**agreed(model, DAYBOOK_DAILY_CALLS="1"))
    for number in range(12):
        recorded.user(f"Part {number}: {LONG}")
    ended(opened.store(), recorded)

    done = worked(opened)

    size = transcript_file.size(recorded.path)
    assert model.calls == 1
    assert done.waits.startswith("Today's 1 calls")
    assert (known(opened.store(), recorded.path).kept, done.kept) == (size, 12)
    assert 0 < known(opened.store(), recorded.path).learned < size
    for _ in range(5):
        clock.pass_days(1)
        worked(opened)
    assert known(opened.store(), recorded.path).learned == size
    assert model.calls == len({asked.prompt for asked in model.asked}) > 1


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

    first = known(store, recorded.path)
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

    keep(store, known(store, recorded.path), progress=tidied)
    ended(store, recorded)
    keep(store, known(store, recorded.path))

    words = read(store, recorded.session).memory.text
    assert [words.count(f"Turn {number} of them") for number in range(40)] == [1] * 40


def test_what_is_new_in_a_transcript_written_anew_is_learned(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    opened = open_here(**agreed(model))
    for number in range(10):
        recorded.user(f"Turn {number} of them. {LONG}")
    ended(opened.store(), recorded)
    worked(opened)
    asked = model.calls

    last = recorded.path.read_text(encoding="utf-8").splitlines(keepends=True)[-1]
    recorded.path.write_text(last, encoding="utf-8")
    recorded.user(DECIDED)
    ended(opened.store(), recorded)
    worked(opened)

    (again,) = model.asked[asked:]
    assert DECIDED[:60] in again.prompt
    assert "Turn 9 of them" not in again.prompt.partition("<transcript>")[2]


def test_an_agent_that_works_on_after_its_session_was_read_is_kept(
    open_here: Open, recorded: Recorded
) -> None:
    opened = open_here()
    recorded.user("Look for the cache, please")
    ended(opened.store(), recorded)
    worked(opened)
    agent = Recorded(recorded.path.parent, cwd=recorded.cwd, subagent_of=recorded)
    agent.claude("The cache of rates is in rates.py")

    ended(opened.store(), recorded)
    worked(opened)

    assert len(conversations(opened.store(), "cache of rates")) == 2


def test_an_answer_that_waits_is_taken_though_the_transcript_went_on(
    open_here: Open, recorded: Recorded, model: ScriptedModel
) -> None:
    opened = open_here(**agreed(model))
    said = {"type": "decision", "title": "Invoices", "content": DECIDED[:82], "tags": [], "supersedes": None}
    model.answers = [reply(json.dumps([{**said, "evidence": "keep invoices in Postgres"}])), reply()]
    recorded.user(DECIDED)
    ended(opened.store(), recorded)
    in_the_way = opened.store().vaults[-1].root / "knowledge"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("no folder", encoding="utf-8")
    assert str(recorded.path) in worked(opened).failed
    in_the_way.unlink()

    recorded.user("And a little more of it.")
    ended(opened.store(), recorded)
    worked(opened)

    assert sent(model).count(DECIDED[:60]) == 1
    (hit,) = recall(opened.store(), Query("invoices Postgres", filter=Filter(kinds=(Kind.KNOWLEDGE,)))).hits
    assert hit.text == DECIDED[:82]
    assert list((opened.home / "work").glob("*.json")) == []


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

    done = subprocess.run(
        [sys.executable, "-c", MEASURED],
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert "behind the hole" in read(store, recorded.session).memory.text
    assert known(store, recorded.path).kept == recorded.path.stat().st_size
    print(f"{HUGE / 1e6:.0f} MB in {int(done.stdout) // 1024} MiB")
    assert int(done.stdout) < 100 * 1024  # KiB
