"""Eight servers and rebuilds of the index on one store: a counter that only a compare and swap may raise."""

import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.attack import commands
from benchmarks.attack.index_equals_files import differences
from benchmarks.attack.outcome import Part, Round, Row
from tests.durability.served import Served, environment

SERVERS = 8
CALLS = 20  # of each server at least: fewer servers do where little is tried
REBUILD_EVERY = 2.0  # seconds
_VERSION = re.compile(r"version ([0-9a-f]{6,})")
_COUNT = re.compile(r"count (\d+) of everybody")


class Tally:
    """What eight threads found out together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls = self.raised = self.conflicts = 0
        self.remembered: list[str] = []
        self.times: list[float] = []
        self.wrong: list[str] = []


def run(round_: Round) -> list[Row]:
    """Let the servers make `count` calls together, and compare what they were told with what is there."""
    memory, project = round_.folder / "memory", round_.folder / "shop"
    project.mkdir(parents=True)
    tally = Tally()
    number = max(2, min(SERVERS, round_.count // CALLS))
    with ExitStack() as opened:
        servers = [opened.enter_context(Served(memory, project)).ready() for _ in range(number)]
        first_answer = servers[0].call(
            "remember", title="Counter", content="count 0 of everybody", level="project"
        )
        counter = first_answer.split(":", 1)[0].split()[0]
        with _rebuilds(memory, project):
            threads = [
                threading.Thread(target=_work, args=(server, number, counter, round_, tally))
                for number, server in enumerate(servers)
            ]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                time.sleep(1)  # how far it is, is told once a second
                round_.progress(f"{tally.calls} of {round_.count} calls, counter {tally.raised}")
        page = servers[0].call("read_memory", id=counter)
    counted = _COUNT.search(page)
    if not counted or int(counted[1]) != tally.raised:
        tally.wrong.append(
            f"the counter is {counted and counted[1]}, and {tally.raised} were told it was raised"
        )
    ids_on_disk = {path.stem for path in memory.rglob("knowledge/*.md")}
    tally.wrong += [f"lost: {memory_id}" for memory_id in tally.remembered if memory_id not in ids_on_disk]
    commands.warm_up()
    tally.wrong += differences(environment(memory, project), [project])
    times = sorted(tally.times)
    figures = (
        f"counter raised {tally.raised:,} times, {tally.conflicts:,} conflicts told,"
        f" {len(tally.remembered):,} remembered: p50 {times[len(times) // 2]:.2f} s, p99"
        f" {times[len(times) * 99 // 100]:.2f} s"
    )
    return [
        Row(
            f"calls of {number} servers beside rebuilds: lost updates, errors, index",
            tally.calls,
            tally.wrong,
            figures,
        )
    ]


def _work(server: Served, number: int, counter: str, round_: Round, tally: Tally) -> None:
    rng = random.Random(f"{round_.seed} {number}")
    calls = 0
    while tally.calls < round_.count:
        calls += 1
        try:
            if rng.random() < 0.5:
                _raise(server, counter, tally, careless=round_.planted)
            elif rng.random() < 0.6:
                began = time.monotonic()
                # Words of their own, for what says nearly the same becomes one memory.
                words = " ".join("".join(rng.choices("bdfgklmnprst", k=7)) for _ in range(6))
                reply = server.call("remember", title=f"Fact {number} {calls} {words[:15]}", content=words)
                memory_id, was_stored, _ = reply.partition(": remembered")
                with tally.lock:
                    tally.times.append(time.monotonic() - began)
                    (tally.remembered if was_stored else tally.wrong).append(
                        memory_id if was_stored else reply[:200]
                    )
            else:
                reply = server.call("recall", query=f"Fact {number} {rng.randrange(calls)}")
                if "rror" in reply or "cannot" in reply:
                    tally.wrong.append(reply[:200])
        except AssertionError as error:
            tally.wrong.append(str(error)[:200])
            return
        with tally.lock:
            tally.calls += 1


def _raise(server: Served, counter: str, tally: Tally, *, careless: bool) -> None:
    """Add one to the counter if nobody did meanwhile; a *careless* one does not ask."""
    page = server.call("read_memory", id=counter)
    version, count = _VERSION.search(page), _COUNT.search(page)
    if not version or not count:
        tally.wrong.append(f"read_memory said: {page[:200]}")
        return
    text = f"count {int(count[1]) + 1} of everybody"
    arguments = {"content": text} if careless else {"content": text, "version": version[1]}
    answer = server.call("revise", id=counter, **arguments)
    with tally.lock:
        if "revised" in answer or (careless and "not changed" in answer):  # another wrote it
            tally.raised += 1
        elif "meanwhile" in answer or "version" in answer:
            tally.conflicts += 1
        else:
            tally.wrong.append(f"revise said: {answer[:200]}")


@contextmanager
def _rebuilds(memory: Path, project: Path) -> Iterator[None]:
    """Make the index anew again and again while the block runs."""
    ended = threading.Event()

    def rebuild() -> None:
        while not ended.wait(REBUILD_EVERY):
            subprocess.run(
                [sys.executable, "-m", "mcp_server.doors.cli", "maintain", "rebuild"],
                env=environment(memory, project),
                cwd=project,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )

    thread = threading.Thread(target=rebuild)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


PART = Part(
    "counters",
    "eight servers and rebuilds on one store, with a counter that is compared and swapped",
    count=3600,
    quick=160,
    run=run,
)
