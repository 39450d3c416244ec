"""kill -9 of every command that writes, at a random instant, two at a time, and a look at what is left."""

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.attack import commands
from benchmarks.attack.commands import Ended
from benchmarks.attack.facts import WAITS, allow, signed
from benchmarks.attack.index_equals_files import differences
from benchmarks.attack.kill_verbs import (
    VERBS,
    Attempt,
    acknowledged,
    backfill,
    into_repository,
    seed,
    take_in,
)
from benchmarks.attack.kill_world import World
from benchmarks.attack.outcome import Part, Round, Row
from mcp_server.actions.judge.candidate import propose
from mcp_server.adapters import files
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft

AT_ONCE = 2
KILLS_OF_A_WORLD = 100
CANDIDATES = 8
BEYOND = 1.1  # a life is at most so many times as long as the command takes
MOST_WRONG = 40  # failures after which nothing more is tried


def run(round_: Round) -> list[Row]:
    """Kill until `count` commands were killed; a new world for each hundred of them."""
    commands.warm_up()
    rng = random.Random(round_.seed)
    takes = _times(round_.folder / "times", round_)
    kills: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    wrong: list[str] = []
    litter: list[Path] = []
    paths_left: list[str] = []
    number = 0
    while kills.total() < round_.count and len(wrong) < MOST_WRONG:
        number += 1
        world = _world(round_.folder / f"world{number}", rng)
        until = min(round_.count, kills.total() + KILLS_OF_A_WORLD)
        while kills.total() < until and len(wrong) < MOST_WRONG:
            wrong += _pair(world, takes, kills, ends, planted=round_.planted)
        wrong += [f"world {number}: {fault}" for fault in _finish(world)]
        new_litter = world.litter()
        litter += new_litter
        world.clean()
        paths_left += [str(path.relative_to(world.folder)) for path in new_litter if path.exists()]
        if wrong:
            round_.progress("\n".join([*world.done, *wrong]))
        shutil.rmtree(world.folder)
        round_.progress(
            f"{kills.total()} of {round_.count} killed, {len(wrong)} wrong, {len(paths_left)} left over"
        )
    verbs = ", ".join(f"{verb} {number}" for verb, number in sorted(kills.items()))
    return [
        Row(
            "kill -9 of commands: lost, torn, doubled, brought back, wrong, index, lock, CLAUDE.md, turns",
            kills.total(),
            wrong,
            f"{ends.total()} more ended first; killed in {verbs}",
        ),
        Row("unfinished writes that `maintain clean` leaves", len(litter), paths_left),
    ]


def _world(folder: Path, rng: random.Random) -> World:
    world = World(folder, rng)
    waiting = []
    for number in range(CANDIDATES):
        fact = world.new(allow(number, WAITS), allow(number, WAITS))
        fact.pending = None
        project = world.owns[fact.name] = world.projects[number % len(world.projects)]
        waiting.append((project, fact.name, signed(fact.name, number)))

    def all_wait() -> None:
        for project, name, text in waiting:
            store = Opened(folder=project).store()
            draft = Draft(f"Candidate {name}", text, source="assistant")
            propose(store, draft, key=f"candidate-{name}", confidence=0.5, why="waits for you")

    ended = commands.start((), folder=world.projects[0], environment=world.environment, main=all_wait).end()
    assert ended.code == 0, ended.error
    return world


def _times(folder: Path, round_: Round) -> dict[str, float]:
    """Return how many seconds each command takes when nobody kills it."""
    world = _world(folder, random.Random(round_.seed))
    takes = {}
    for name, (verb, _) in VERBS.items():
        for _ in range(2):
            if attempt := verb(world):
                ended = world.run(*attempt.words, folder=attempt.folder, stdin=attempt.stdin)
                takes[name] = ended.seconds
                _settle(attempt, ended)
                world.check()
    shutil.rmtree(folder)
    round_.progress(", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in takes.items()))
    return takes


def _pair(
    world: World, takes: dict[str, float], kills: Counter[str], ends: Counter[str], *, planted: bool
) -> list[str]:
    """Start two commands, kill each at its time, and return what is wrong then."""
    rng, started = world.rng, []
    while len(started) < AT_ONCE:
        names = list(VERBS)
        (name,) = rng.choices(names, [VERBS[name][1] for name in names])
        if attempt := VERBS[name][0](world):
            process = commands.start(
                attempt.words,
                folder=attempt.folder,
                environment=world.environment,
                stdin=attempt.stdin,
                before=_write_in_place if planted else None,
            )
            # Two at once on two cores take longer than each alone.
            started.append((name, attempt, process, rng.uniform(0, takes.get(name, 0.03) * BEYOND)))
    wrong, ends_of_pair = [], []
    for name, attempt, process, life in sorted(
        started, key=lambda started_attempt: started_attempt[2].began + started_attempt[3]
    ):
        ended = process.kill_after(life)
        (kills if ended.code is None else ends)[name] += 1
        wrong += _settle(attempt, ended)
        ends_of_pair.append(f"{_shown(attempt)} {'killed' if ended.code is None else ended.code}")
    world.done.append(" beside ".join(ends_of_pair))
    return wrong + world.check()


def _shown(attempt: Attempt) -> str:
    return f"{attempt.folder.name}: {' '.join(attempt.words)[:70]}"


def _settle(attempt: Attempt, ended: Ended) -> list[str]:
    """Note what the end of a command acknowledged; return what is wrong with how it ended."""
    if ended.code == 0 or (ended.code is None and acknowledged(ended.out)):
        for fact in attempt.touched:
            fact.now, fact.pending = fact.pending or fact.now, None
        attempt.done()
        return []
    if ended.code is None or ended.code in (3, 4, 5):
        return []  # killed, or refused in a sentence: what stands in the files decides
    return [f"{_shown(attempt)!r} ended with {ended.code}: {ended.error.strip()[-300:]}"]


def _finish(world: World) -> list[str]:
    """Do again what was cut short, and return what is wrong when all of it is done."""
    wrong = []
    for verb in (*[into_repository] * 9, *[take_in] * 12, *[seed] * 12, backfill):
        attempt = verb(world)
        ended = world.run(*attempt.words, folder=attempt.folder, stdin=attempt.stdin)
        wrong += _settle(attempt, ended) or ([] if ended.code == 0 else [f"again: {attempt.words} {ended}"])
    ended = world.run("sync")
    if ended.code:
        wrong.append(f"sync: {ended.error}")
    wrong += world.check()
    deleted = [fact for fact in world.facts.values() if fact.deleted]
    bytes_left = {path: path.read_bytes() for path in world.memory.rglob("*") if path.is_file()}
    for fact in deleted:
        sign = f"begins {fact.name} version".encode()
        wrong += [
            f"deleted for good, and in {path}: {fact.name}"
            for path, data in bytes_left.items()
            if sign in data
        ]
    return wrong + differences(world.environment, world.projects)


def _write_in_place() -> None:
    """The planted fault: files are written where they stand, piece by piece, and slowly."""

    def write(path: Path, data: bytes, **_: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb", buffering=0) as handle:
            for at in range(0, len(data), 200):
                handle.write(data[at : at + 200])
                time.sleep(0.02)  # room for a kill between two pieces

    write_given: Callable[..., None] = write
    files.write_new = files.replace = write_given


PART = Part(
    "kills",
    "kill -9 of every writing command at a random instant, in forks of one process",
    count=5000,
    quick=60,
    run=run,
    longest=2400,
)
