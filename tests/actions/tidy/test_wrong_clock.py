"""A clock that is wrong once empties nothing: not the memory, not the trash, not the log."""

import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.capture import mine
from mcp_server.actions.files import trash
from mcp_server.actions.judge.candidate import propose, review_candidates
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.status.status import status as standing
from mcp_server.actions.upkeep.maintain import clean_up
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.actions.upkeep.work import work
from mcp_server.adapters import output_log
from mcp_server.core.judge.ageing import SHARE
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind
from mcp_server.store import Store
from tests.actions.tidy.knowledge import put
from tests.conftest import Clock
from tests.opened import run_daybook

FACTS = 20
RIGHT = datetime(2026, 11, 20, 9, 12, 3, tzinfo=UTC)
WRONG = [
    datetime(1970, 1, 1, 5, tzinfo=UTC),
    datetime(1999, 6, 1, tzinfo=UTC),
    datetime(2040, 6, 1, tzinfo=UTC),
]


def fill(store: Store, clock: Clock) -> None:
    """Put something everywhere where age counts; all of it is fresh."""
    clock.now = RIGHT
    for number in range(FACTS):
        put(
            store, f"A passing thought number {number} about the logo", type="note", title=f"Thought {number}"
        )
    put(store, "user: hello\n\nclaude: hello", title="Talk", kind=Kind.CONVERSATION)
    forget(store, put(store, "This was forgotten today", type="note"))
    propose(
        store, Draft("Proposed", "Use pnpm for the shop", source="mined"), key="p1", confidence=0.6, why="x"
    )
    mine.log_output(store, "The build said that all is well with the shop")


def told_of(home: Path) -> int:
    """Return how many files lie where active memories do."""
    return sum(
        1
        for kind in Kind
        for vault in (home, *home.glob("projects/*"))
        for _ in vault.glob(f"{kind.folder}/*.md")
    )


def counts_left(store: Store) -> tuple[int, int, int, int]:
    """Return how much there is: active memories, what lies in the trash, candidates, days of output."""
    trashed = len(list((store.home / "trash").rglob("*.md")))
    logged, _ = output_log.size(mine._folder(store))
    return told_of(store.home), trashed, len(review_candidates(store)), logged


def upkeep(store: Store) -> None:
    """Let everything run that ages or deletes, as the worker and the person start it."""
    tidy(store)
    work(lambda _: store)
    clean_up(store, dry_run=False)
    mine.run_mining(store)


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_one_day_of_a_wrong_clock_loses_nothing(store: Store, clock: Clock, wrong: datetime) -> None:
    fill(store, clock)
    before = counts_left(store)

    clock.now = wrong
    store.ledger.append("session_started", store.clock(), session="s1")
    mine.log_output(store, "logged by a wrong clock")
    upkeep(store)
    doubts = [
        tidy(store).clock,
        clean_up(store, dry_run=False).tidied.clock,
        standing(store, has_key=False).needs.clock,
    ]
    assert [doubt and doubt.missing for doubt in doubts] == [2, 2, 2]
    clock.now = RIGHT
    upkeep(store)

    days = output_log.size(mine._folder(store))[0]
    assert counts_left(store)[:3] == before[:3]
    assert days >= before[3]
    assert not tidy(store).clock


def test_what_three_days_in_the_future_noted_is_ignored_afterwards(store: Store, clock: Clock) -> None:
    fill(store, clock)
    before = counts_left(store)
    clock.now = WRONG[-1]
    clock.note_use()
    clock.now = RIGHT

    upkeep(store)

    assert counts_left(store) == before


def test_what_is_thrown_away_by_a_clock_that_fell_back_stays_in_the_trash(store: Store, clock: Clock) -> None:
    thought = put(store, "A passing thought about the logo", type="note")
    clock.now = WRONG[0]
    forget(store, thought)
    clock.now = RIGHT

    assert trash.late(store) == []


def test_who_was_away_for_half_a_year_finds_everything_for_two_days(store: Store, clock: Clock) -> None:
    fill(store, clock)
    before = counts_left(store)
    clock.diary = None
    clock.pass_days(183)
    for _ in range(2):
        store.ledger.append("session_started", store.clock(), session="s1")
        upkeep(store)
        assert counts_left(store)[:3] == before[:3]
        clock.pass_days(1)
    store.ledger.append("session_started", store.clock(), session="s1")

    assert tidy(store).counts["ageing"] > FACTS // SHARE  # as much as one run may


PRELOAD = """
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long ahead(void) { const char *said = getenv("AHEAD"); return said ? atol(said) : 0; }
int clock_gettime(clockid_t which, struct timespec *to) {
    long failed = syscall(SYS_clock_gettime, which, to);
    if (!failed && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) to->tv_sec += ahead();
    return (int)failed;
}
int gettimeofday(struct timeval *restrict to, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    to->tv_sec = now.tv_sec; to->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
"""


@pytest.mark.skipif(not shutil.which("cc") or sys.platform != "linux", reason="needs cc and LD_PRELOAD")
def test_the_real_program_with_a_real_wrong_clock_loses_nothing(tmp_path: Path, memory_dir: Path) -> None:
    source, library = tmp_path / "ahead.c", tmp_path / "ahead.so"
    source.write_text(PRELOAD, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)

    def daybook(*arguments: str, ahead: int = 0) -> str:
        typed = "--apply" in arguments  # only a person may ask for that
        ahead_of_us = {"LD_PRELOAD": str(library), "AHEAD": str(ahead)}
        process = run_daybook(memory_dir, *arguments, cwd=tmp_path, typed=typed, **ahead_of_us)
        assert process.returncode == 0, process.stderr + process.stdout
        return process.stdout

    for number in range(3):
        words = f"Thought {number} | A passing thought number {number} about the logo"
        daybook("remember", words, "--type", "note")
    years = 14 * 365 * 86_400
    output = daybook("tidy", ahead=years)
    daybook("maintain", "clean", "--apply", ahead=years)
    assert "nothing is put away or deleted for its age" in output
    daybook("tidy", ahead=-27 * 365 * 86_400)

    assert told_of(memory_dir) == 3
