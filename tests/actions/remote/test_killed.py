"""A machine that is killed while it exchanges loses nothing that was acknowledged, and goes on."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from mcp_server.actions.remote.exchange import exchange
from tests.actions.remote.conftest import Machines
from tests.actions.remote.histories import says

ROOT = Path(__file__).resolve().parents[3]
KILLS = 12


def killed_after(home: Path, start: int, lines: int, share: float) -> list[str]:
    """Let a machine run, kill it some time after its line *lines*; return the ids that were acknowledged."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.actions.remote.killed", str(home), str(start)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout
    seen = [process.stdout.readline().strip() for _ in range(lines)]
    # How far an exchange comes is told by what it has written: wait until some of that is there.
    until = sum(1 for _ in (home / "remote").rglob("*")) + int(share * 12)
    while process.poll() is None and sum(1 for _ in (home / "remote").rglob("*")) < until:
        pass
    os.killpg(process.pid, signal.SIGKILL)
    seen += [line.strip() for line in process.stdout.read().splitlines() if line.strip()]
    process.wait()
    process.stdout.close()
    return seen


def test_nothing_that_was_acknowledged_is_lost(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    chance = random.Random(7)
    acknowledged: set[str] = set()
    for number in range(KILLS):
        home = (desk, laptop)[number % 2].home
        acknowledged.update(killed_after(home, number * 1000, 1 + number % 2, chance.random()))

    done = [*machines.meet(desk, laptop), exchange(desk)]

    assert not any(each.trouble or each.left for each in done)
    assert says(desk) == says(laptop)
    assert {Path(path).stem for path in says(desk)} == acknowledged
    assert len(acknowledged) >= KILLS
