"""Mining: what was logged and said, what recurs in it, and what becomes of that."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from mcp_server.actions.capture.mine import log_output, mine_when_logged, mining_status, run_mining
from mcp_server.actions.capture.note import note_ended
from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.judge.candidate import approve, reject, review_candidates
from mcp_server.actions.judge.compare_and_store import Action, compare_and_store
from mcp_server.actions.judge.contradiction import find_contradictions, get_contradictions
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.upkeep.work import work
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.actions.test_candidate import DECIDED, session, stored
from tests.conftest import Clock, Open
from tests.recorded import Recorded

pytestmark = pytest.mark.usefixtures("steady_use")

USES = "This project uses the Next.js app router for every page."


@pytest.mark.feature("B-11", "B-12")
def test_a_pattern_in_the_log_waits_until_it_is_seen_often_enough(store: Store) -> None:
    log_output(store.in_session("s1"), USES)
    log_output(store.in_session("s1"), f"Again: nothing new.\n{USES}")

    report = run_mining(store)

    assert (report.outputs, report.sighted, report.stored) == (2, 2, [])
    (waiting,) = review_candidates(store)
    assert (waiting.memory.text, waiting.times, waiting.sessions) == (USES, 2, 1)

    log_output(store.in_session("s2"), USES)
    report = run_mining(store)

    assert (report.sighted, len(report.stored)) == (1, 1)
    assert stored(store) == [USES]


def test_mining_again_counts_nothing_twice(store: Store) -> None:
    log_output(store.in_session("s1"), USES)
    log_output(store.in_session("s2"), USES)
    run_mining(store)

    for _ in range(3):
        assert run_mining(store).sighted == 0
    rebuild(store)
    run_mining(store)

    assert review_candidates(store)[0].times == 2
    assert stored(store) == []


def test_what_a_program_said_is_never_shown_unasked(store: Store) -> None:
    for name in ("s1", "s2", "s3"):
        log_output(store.in_session(name), USES)
    run_mining(store)

    (row,) = list_memories(store, Filter(kinds=(Kind.KNOWLEDGE,))).rows
    assert row.source == "output"
    assert inject(store.in_session("s9"), "which router does this project use for a page") == ""


def test_what_the_person_approves_may_be_shown(store: Store) -> None:
    log_output(store.in_session("s1"), USES)
    run_mining(store)
    (waiting,) = review_candidates(store)

    (settled,) = approve(store, [waiting.memory.id])

    assert read(store, settled.id).memory.source == "mined"
    assert "router" in inject(store.in_session("s9"), "which router does this project use for a page")


def test_a_conversation_is_mined_once_with_what_the_worker_saw(
    store: Store, tmp_path: Path, clock: Clock
) -> None:
    session(store, tmp_path, DECIDED)
    clock.pass_days(0.1)

    report = run_mining(store)

    assert (report.conversations, report.sighted) == (1, 0)
    assert review_candidates(store)[0].times == 1


def test_conversations_that_a_model_read_are_mined_when_asked(open_here: Open, tmp_path: Path) -> None:
    store = open_here(DAYBOOK_MODEL_CALLS="true").store()
    session(store, tmp_path, DECIDED)
    assert review_candidates(store) == []

    assert run_mining(store).sighted == 1
    assert review_candidates(store)[0].memory.source == "mined"


def test_only_the_last_hours_are_mined(store: Store, clock: Clock) -> None:
    log_output(store.in_session("s1"), USES)
    clock.pass_days(2)

    assert run_mining(store).outputs == 0
    assert run_mining(store, hours=72).outputs == 1
    for hours in (0, -1, 169):
        with pytest.raises(Rejected, match="mined"):
            run_mining(store, hours=hours)


@pytest.mark.feature("B-28")
def test_the_log_is_kept_for_a_week(store: Store, clock: Clock) -> None:
    log_output(store, USES)
    clock.pass_days(7)
    run_mining(store)
    assert mining_status(store).days == 1
    clock.now += timedelta(days=1)

    run_mining(store)

    assert (mining_status(store).days, mining_status(store).size) == (0, 0)


def test_secrets_and_private_words_never_reach_the_log(store: Store) -> None:
    key = "ghp_" + "Zq8vLw3nRt6yBx1mKp4sDh7jFc2gVa9uXe5i"

    logged = log_output(
        store, f"We decided to deploy with {key} because it works. <private>My salary.</private>"
    )
    run_mining(store)

    assert logged.masked == 1
    everything = b"".join(path.read_bytes() for path in store.home.rglob("*") if path.is_file())
    assert key.encode() not in everything
    assert b"salary" not in everything


def test_the_log_is_for_its_owner_alone_and_bounded(store: Store, open_here: Open) -> None:
    log_output(store, "ü" * 30_000)
    (path,) = store.home.rglob("outputs/*.jsonl")

    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Rejected, match="65,536"):
        log_output(store, "ü" * 40_000)
    with pytest.raises(Rejected, match="nothing to log"):
        log_output(store, "  <private>x</private>\n")
    with pytest.raises(Rejected, match="manual"):
        log_output(open_here(DAYBOOK_CAPTURE="manual").store(), USES)


def test_a_damaged_log_stops_nothing(store: Store) -> None:
    log_output(store.in_session("s1"), USES)
    (path,) = store.home.rglob("outputs/*.jsonl")
    path.write_bytes(b"\xff\n{}\n[1]\n" + path.read_bytes() + b'{"at": "never"')

    assert run_mining(store).outputs == 1


def test_nothing_is_stored_unasked_when_the_person_wants_to_approve(open_here: Open) -> None:
    store = open_here(DAYBOOK_CAPTURE="suggest").store()
    for name in ("s1", "s2", "s3"):
        log_output(store.in_session(name), USES)

    assert run_mining(store).stored == []
    assert len(review_candidates(store)) == 1


def test_the_status_tells_what_waits_and_what_became_of_the_rest(store: Store) -> None:
    log_output(
        store.in_session("s1"), f"{USES}\n{DECIDED}\nThe build requires Python 3.12 since the last upgrade."
    )
    run_mining(store)
    first, second, _ = review_candidates(store)
    approve(store, [first.memory.id])
    reject(store, [second.memory.id])

    status = mining_status(store)

    assert (status.days, status.waiting) == (1, 1)
    assert status.verdicts == {"approved": 1, "rejected": 1}
    (run,) = status.runs
    figures = {name: run.detail[name] for name in ("outputs", "conversations", "sighted", "stored")}
    assert figures == {"outputs": 1, "conversations": 0, "sighted": 3, "stored": 0}


def test_the_worker_mines_what_was_logged_once(
    opened: Opened, store: Store, tmp_path: Path, project: Path
) -> None:
    log_output(store.in_session("s1"), USES)
    os.utime(next(store.home.rglob("outputs/*.jsonl")), (store.now() - 5, store.now() - 5))
    recorded = Recorded(tmp_path / "transcripts", cwd=project)
    recorded.user("Please look at the build.")
    note_ended(store.in_session(recorded.session), recorded.path, folder=str(project))

    assert work(lambda folder: opened.store(folder=folder))

    assert [candidate.memory.text for candidate in review_candidates(store)] == [USES]
    opened.clock.pass_days(0.1)  # type: ignore[attr-defined]
    assert mine_when_logged(store) is None


def test_output_takes_the_place_of_nothing_and_hides_nothing(store: Store) -> None:
    compare_and_store(
        store, Draft("Limit", "The upload limit is 5 MB for everybody.", type="decision", source="mined")
    )

    settled = compare_and_store(
        store, Draft("Limit", "The upload limit is 50 MB for everybody.", type="decision", source="output")
    )

    assert settled.action is Action.ADD
    assert get_contradictions(store) == []
    assert len(find_contradictions(store)) == 1
