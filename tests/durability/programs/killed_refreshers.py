"""
Processes that refresh a CLAUDE.md and are killed at random moments, and a look at what they left there.

    python killed_refreshers.py FOLDER KILLS SEED daybook|naive

Two at a time write two blocks in turn: the one of today, and the one of a week later, when the memory of
what is in progress has faded. After each kill the file must be one of the three that may be there. Goes on
beyond KILLS until both blocks were written and a kill came in the middle of writing. Prints a JSON report.
"""

import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from mcp_server import bootstrap
from mcp_server.actions.context.claude_md import choose, current_block, refresh
from mcp_server.actions.memory.remember import remember
from mcp_server.core.context.managed_block import splice
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.opened import opened_at

REFRESHERS = 2
LONGEST_LIFE = 0.02  # seconds from when the store is open
MINE = "# Mine\r\n" + "A rule that I wrote.\r\n" * 400

Clock = Callable[[], datetime]


def later() -> datetime:
    return bootstrap.now() + timedelta(days=7)


def opened(folder: Path, clock: Clock) -> Store:
    return opened_at(folder / "memory", folder / "shop", clock=clock).store()


def prepare(folder: Path) -> list[bytes]:
    """Make a project with some memories, and return what its CLAUDE.md may say: today, in a week."""
    document = folder / "shop" / "CLAUDE.md"
    document.parent.mkdir()
    document.write_bytes(MINE.encode())
    store = opened(folder, bootstrap.now)
    for number in range(5):
        remember(store, Draft(f"Decision {number}", "Because of this and that.", type="decision"))
    remember(store, Draft("Migration", "Half of the tables moved.", type="progress"))
    choose(store, "CLAUDE.md")
    blocks = [current_block(opened(folder, clock)).text for clock in (bootstrap.now, later)]
    store.database.close()
    assert blocks[0] != blocks[1]
    return [splice(MINE, block).encode() for block in blocks]


def refresh_for_ever(folder: Path, texts: list[bytes], kind: str, ready: int) -> None:
    stores = [opened(folder, clock) for clock in (bootstrap.now, later)]
    os.write(ready, b".")
    while True:
        for store, text in zip(stores, texts, strict=True):
            if kind == "daybook":
                refreshed = refresh(store)
                assert not refreshed.problem, refreshed.problem
            else:
                with open(folder / "shop" / "CLAUDE.md", "wb", buffering=0) as handle:
                    for at in range(0, len(text), 512):
                        handle.write(text[at : at + 512])


def run(folder: Path, kills: int, seed: int, kind: str) -> dict[str, object]:
    rng = random.Random(seed)
    texts = prepare(folder)
    document = folder / "shop" / "CLAUDE.md"
    times_seen = [0, 0]
    torn = killed = littered = 0
    # How often a kill comes while something is written depends on the machine: it goes on until that is seen.
    enough = False
    while killed < kills or not (enough or killed >= 20 * kills):
        children = []
        for _ in range(REFRESHERS):
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                refresh_for_ever(folder, texts, kind, writing)
            os.close(writing)
            children.append((child, reading))
        for child, reading in children:
            os.read(reading, 1)
            end = time.monotonic() + rng.uniform(0, LONGEST_LIFE)
            select.select([], [], [], max(0.0, end - time.monotonic()))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            assert os.WTERMSIG(status) == signal.SIGKILL, "it had ended by itself"
            os.close(reading)
            killed += 1
        littered += len(list(document.parent.iterdir())) > 1
        data = document.read_bytes()
        if data in texts:
            times_seen[texts.index(data)] += 1
        else:
            torn += 1
        enough = torn > 0 or (littered > 0 and min(times_seen) > kills / 20)
    store = opened(folder, bootstrap.now)
    refresh(store)
    store.database.close()
    names_left = sorted(path.name for path in document.parent.iterdir())
    is_whole = document.read_bytes() == texts[0]
    return {
        "kills": killed, "seen": times_seen, "torn": torn, "littered": littered,
        "left": names_left, "whole": is_whole,
    }  # fmt: skip


if __name__ == "__main__":
    place, number, start, name = sys.argv[1:]
    print(json.dumps(run(Path(place), int(number), int(start), name)))
