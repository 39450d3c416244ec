"""Transcripts from before Daybook was there."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.capture.learn import next_piece
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.sessions.session_history import list_sessions
from mcp_server.actions.status.status import status
from mcp_server.actions.upkeep.backfill import backfill, pending_transcripts, recorded_in
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters.index.events import transcripts
from mcp_server.bootstrap import Opened
from mcp_server.core.memory_parts import Kind, Status, moment_in
from mcp_server.core.search.query import Filter, Query
from mcp_server.doors.shown.state import status as shown_status
from mcp_server.store import Store
from tests.conftest import Clock, Open
from tests.recorded import Recorded

CONVERSATIONS = Filter(kinds=(Kind.CONVERSATION,))


@pytest.fixture
def claude_projects(tmp_path: Path, project: Path) -> Path:
    """Three sessions in two projects, as Claude Code keeps them."""
    folder = tmp_path / "claude" / "projects"
    other = tmp_path / "other"
    other.mkdir()
    for cwd, words in ((project, "invoices rounding"), (project, "shipping labels"), (other, "kiosk mode")):
        recorded = Recorded(folder / str(cwd).replace("/", "-"), cwd=cwd)
        recorded.user(f"Tell me about {words} in detail")
        recorded.claude(f"This is all about {words}.")
    return folder


def test_each_session_goes_to_its_own_project(opened: Opened, claude_projects: Path, tmp_path: Path) -> None:
    paths = pending_transcripts(opened.store(), claude_projects)
    moved: list[int] = []

    report = backfill(lambda folder: opened.store(folder=folder), paths, progress=moved.append)

    assert (len(paths), report.transcripts, report.utterances) == (3, 3, 6)
    assert sum(moved) == sum(path.stat().st_size for path in paths)
    answer = recall(opened.store(), Query("shipping labels", filter=CONVERSATIONS))
    assert len(answer.hits) == 1
    other_answer = recall(opened.store(folder=tmp_path / "other"), Query("kiosk mode", filter=CONVERSATIONS))
    assert len(other_answer.hits) == 1


def test_status_tells_of_sessions_from_before_until_they_are_taken_in(
    opened: Opened, store: Store, claude_projects: Path
) -> None:
    def told() -> dict[str, object]:
        state = status(store, has_key=False, transcripts=claude_projects)
        return dict(shown_status(state, project="", settings=store.settings).rows)

    paths = pending_transcripts(store, claude_projects)
    for path, age in zip(paths, (7200, 7200, 60), strict=True):
        os.utime(path, (store.now() - age, store.now() - age))

    assert str(told()["earlier sessions"]).startswith("2, which no search finds: 'daybook backfill'")
    backfill(lambda folder: opened.store(folder=folder), paths)
    assert "earlier sessions" not in told()


def test_a_second_run_has_nothing_to_do_and_a_grown_session_has(
    opened: Opened, store: Store, claude_projects: Path
) -> None:
    backfill(lambda folder: opened.store(folder=folder), pending_transcripts(store, claude_projects))
    assert pending_transcripts(store, claude_projects) == []

    path = next(claude_projects.glob("*/*.jsonl"))
    path.write_bytes(path.read_bytes() + path.read_bytes().replace(b"Tell me about", b"Say more of"))

    assert pending_transcripts(store, claude_projects) == [path]


def test_a_session_was_when_its_transcript_says_not_when_it_was_taken_in(
    opened: Opened, store: Store, claude_projects: Path, clock: Clock
) -> None:
    clock.pass_days(100)

    backfill(lambda folder: opened.store(folder=folder), pending_transcripts(store, claude_projects))

    first, last = (moment_in(f"2026-11-20T09:{minute:02}:00Z") for minute in (1, 2))
    for _ in range(2):
        sessions = list_sessions(store, all_projects=True)
        assert len(sessions) == 3
        for episode in sessions:
            times = [datetime.fromtimestamp(at, UTC) for at in (episode.started, episode.last, episode.ended)]
            assert [time.replace(second=0) for time in times] == [first, last, last]
        rebuild(store)  # of the other project's files nothing is read before it is opened
    (hit,) = recall(store, Query("shipping labels", filter=CONVERSATIONS)).hits
    memory = read(store, hit.id).memory
    assert f"{memory.created:%F %H:%M} {memory.updated:%F %H:%M}" == "2026-11-20 09:01 2026-11-20 09:02"
    tidy(store)
    assert read(store, hit.id).memory.status is Status.ACTIVE, "it came today"


def test_what_is_taken_in_is_never_sent_but_an_agent_may_learn_from_it(
    opened: Opened, store: Store, claude_projects: Path
) -> None:
    backfill(lambda folder: opened.store(folder=folder), pending_transcripts(store, claude_projects))

    with store.database.read() as db:
        assert transcripts.unlearned(db, paid=True) == []
    assert next_piece(store)


def test_a_broken_session_is_told_and_stops_nothing(
    opened: Opened, claude_projects: Path, tmp_path: Path
) -> None:
    paths = pending_transcripts(opened.store(), claude_projects)
    link = paths[0].with_name("link.jsonl")
    link.symlink_to(paths[0])

    report = backfill(lambda folder: opened.store(folder=folder), [link, *paths])

    assert report.failed == {str(link): "is a symbolic link"}
    assert report.transcripts == 3


def test_a_session_that_names_no_folder_goes_to_no_project(
    opened: Opened, store: Store, claude_projects: Path
) -> None:
    (path,) = (path for path in claude_projects.glob("*/*.jsonl") if b"kiosk mode" in path.read_bytes())
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for entry in entries:
        del entry["cwd"]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    empty = path.with_name("empty.jsonl")
    empty.write_text('{"type": "summary", "summary": "Kiosks"}\n', encoding="utf-8")

    report = backfill(lambda folder: opened.store(folder=folder), pending_transcripts(store, claude_projects))

    assert list(report.failed) == [str(path)]
    assert "does not name the folder" in report.failed[str(path)]
    assert report.transcripts == 2
    everywhere = replace(CONVERSATIONS, all_projects=True)
    hits = recall(store, Query("kiosk mode", filter=everywhere)).hits
    assert "kiosk" not in " ".join(hit.text for hit in hits)
    assert pending_transcripts(store, claude_projects) == [path]


def test_no_sessions_at_all(open_here: Open, tmp_path: Path) -> None:
    assert pending_transcripts(open_here().store(), tmp_path / "nowhere") == []
    assert recorded_in(tmp_path / "nowhere.jsonl") == ""
