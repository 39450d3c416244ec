"""A machine that is killed while it exchanges loses nothing that was acknowledged, and goes on."""

import contextlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.remote.exchange import exchange
from mcp_server.core.search.query import Query
from tests.actions.remote.conftest import Machines
from tests.actions.remote.histories import says
from tests.memories import stored

ROOT = Path(__file__).resolve().parents[3]
KILLS = 12
MANY = 700  # memories: several batches


def machine(home: Path, *start: int) -> subprocess.Popen[str]:
    """Start the machine with the store *home*."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.actions.remote.killed", str(home), *map(str, start)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def killed_after(home: Path, start: int, lines: int, share: float) -> list[str]:
    """Let a machine run, kill it some time after its line *lines*; return the ids that were acknowledged."""
    process = machine(home, start)
    assert process.stdout
    lines_read = [process.stdout.readline().strip() for _ in range(lines)]
    # How far an exchange comes is told by what it has written: wait until some of that is there.
    until = sum(1 for _ in (home / "remote").rglob("*")) + int(share * 12)
    while process.poll() is None and sum(1 for _ in (home / "remote").rglob("*")) < until:
        pass
    os.killpg(process.pid, signal.SIGKILL)
    lines_read += [line.strip() for line in process.stdout.read().splitlines() if line.strip()]
    process.wait()
    process.stdout.close()
    return lines_read


def test_nothing_that_was_acknowledged_is_lost(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    chance = random.Random(7)
    acknowledged: set[str] = set()
    for number in range(KILLS):
        home = (desk, laptop)[number % 2].home
        acknowledged.update(killed_after(home, number * 1000, 1 + number % 2, chance.random()))

    reports = [*machines.meet(desk, laptop), exchange(desk)]

    assert not any(report.trouble or report.left for report in reports)
    assert says(desk) == says(laptop)
    assert {Path(path).stem for path in says(desk)} == acknowledged
    assert len(acknowledged) >= KILLS


def killed_at(home: Path, number: int) -> int:
    """Let a machine take, kill it when *number* memories are there; return how many there are then."""
    process = machine(home)
    assert process.stdout
    while process.poll() is None and arrived(home) < number:
        pass
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return arrived(home)


def arrived(home: Path) -> int:
    """Return how many memories a machine has; one that has no name yet does not count."""
    return sum(name.endswith(".md") for name in os.listdir(home / "knowledge"))


def test_of_many_that_come_at_once_a_kill_loses_none_and_the_next_exchange_takes_the_others(
    machines: Machines,
) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    own = stored(laptop, "The laptop knows this.")
    other = stored(desk, "The desk knows this.")
    for number in range(MANY):
        head = f"id: fact-{number}\ntitle: Fact {number}"
        path = desk.home / "knowledge" / f"fact-{number}.md"
        path.write_text(f"---\n{head}\n---\nFact {number} holds.\n", encoding="utf-8")
    exchange(desk)
    chance = random.Random(7)

    counts = [killed_at(laptop.home, chance.randint(1, MANY)) for _ in range(4)]

    assert any(1 < number <= MANY for number in counts), counts  # between the first one and the last
    report = exchange(laptop)
    assert not report.trouble and not report.left
    exchange(desk)
    assert says(desk) == says(laptop)
    facts = {f"fact-{number}" for number in range(MANY)}
    assert {Path(path).stem for path in says(desk)} == {own, other, *facts}
    assert read(laptop, f"fact-{MANY - 1}").memory.text == f"Fact {MANY - 1} holds."
    sync(laptop)
    assert recall(laptop, Query(f"fact {MANY - 1}", limit=1)).hits
