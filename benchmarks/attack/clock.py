"""A wrong clock: odd instants and zones against commands, and one upkeep that runs in the wrong year."""

import os
import random
import string
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.attack import commands
from benchmarks.attack.commands import Ended
from benchmarks.attack.outcome import Part, Round, Row
from mcp_server import bootstrap

INSTANTS = (
    "0001-01-01T00:00:00", "1969-12-31T23:59:59", "1970-01-01T00:00:00", "2000-02-29T12:00:00",
    "2026-03-29T01:59:59", "2026-10-25T01:30:00", "2038-01-19T03:14:08", "2099-12-31T23:59:59",
    "2106-02-07T06:28:16", "2262-04-12T00:00:00", "9999-12-31T23:59:59",
)  # fmt: skip
ZONES = ("UTC", "Pacific/Kiritimati", "America/St_Johns")
DATES = (-(10**9), -1, 0, 2**31, 2**33, 2**40)  # seconds; of a file somebody touched
FACTS = 20
WRONG_YEAR = 2040


def run(round_: Round) -> list[Row]:
    """Run every command at the first `count` instants; let upkeep run once, years ahead."""
    commands.warm_up()
    return [_odd_instants(round_), _expiry(round_)]


def at(moment: datetime) -> Callable[[], None]:
    """Return what lets a fork believe that it is *moment*."""

    def believe() -> None:
        bootstrap.now = lambda: moment
        bootstrap.Opened.__init__.__kwdefaults__["clock"] = bootstrap.now
        time.time = moment.timestamp

    return believe


def _odd_instants(round_: Round) -> Row:
    rng = random.Random(round_.seed)
    wrong: list[str] = []
    tried = 0
    for number, instant in enumerate(INSTANTS[: round_.count]):
        moment = datetime.fromisoformat(instant).replace(tzinfo=UTC)
        folder = round_.folder / f"instant{number}"
        project = folder / "shop"
        project.mkdir(parents=True)
        environment = {**os.environ, "MEMORY_DIR": str(folder / "memory"), "TZ": ZONES[number % len(ZONES)]}

        def ask(*words: str, folder: Path = project, environment: dict[str, str] = environment,
                moment: datetime = moment) -> Ended:  # fmt: skip
            return commands.run(words, folder=folder, environment=environment, before=at(moment))

        commands.run(("remember", "Now | said with a right clock"), folder=project, environment=environment)
        ended = ask("remember", "Then | said with a wrong clock")
        memory_id = next((path.stem for path in folder.rglob("then-*.md")), "then")
        for path in folder.rglob("now-*.md"):
            os.utime(path, (rng.choice(DATES),) * 2)
        ends = [("remember", ended)]
        for words in (
            ("recall", "said", "--mode", "keyword"), ("read", memory_id), ("list",),
            ("revise", memory_id, "--tags", "t"),
            ("brief",), ("status",), ("sync",), ("tidy", "--dry-run"), ("maintain", "clean"),
            ("metrics",), ("audit",),
            ("hot",), ("save-session", "S", "--context", "c"), ("forget", memory_id), ("restore", memory_id),
        ):  # fmt: skip
            ends.append((words[0], ask(*words)))
        if round_.planted:
            ends.append(("read", ask("read", "nobody-knows-1234")))
        tried += len(ends)
        wrong += [
            f"{name} at {instant}: {ended.code} {ended.error.strip()[-300:]}"
            for name, ended in ends
            if ended.code != 0
        ]
        round_.progress(f"{instant}: {tried} commands, {len(wrong)} wrong")
    return Row("commands at odd instants, in odd zones, with odd dates of files: errors", tried, wrong)


def _expiry(round_: Round) -> Row:
    """Let upkeep run once in a wrong year; what is live, and what is in the trash, must be there then."""
    folder = round_.folder / "expiry"
    project = folder / "shop"
    project.mkdir(parents=True)
    environment = {**os.environ, "MEMORY_DIR": str(folder / "memory")}
    late = at(datetime(WRONG_YEAR, 1, 1, tzinfo=UTC))

    rng = random.Random(round_.seed)

    def run(*words: str, wrong_year: bool = False) -> Ended:
        return commands.run(
            words, folder=project, environment=environment, before=late if wrong_year else None, within=60
        )

    for number in range(FACTS):
        # Words of their own, for what says nearly the same takes the place of what is there.
        for kind in ("Fact", "Thrown"):
            words = " ".join("".join(rng.choices(string.ascii_lowercase, k=8)) for _ in range(8))
            run("remember", f"{kind} number{number}x | {words}")
    for path in list((folder / "memory").rglob("thrown-*.md")):
        run("forget", path.stem)
    trashed = {path.name for path in (folder / "memory" / "trash").rglob("thrown-*.md")}
    wrong = [] if len(trashed) == FACTS else [f"{len(trashed)} of {FACTS} were forgotten"]
    for words in (
        ("tidy",),
        ("work",),
        ("maintain", "clean", "--apply"),
        ("tidy",),
        ("maintain", "clean", "--apply"),
    ):
        ended = run(*words, wrong_year=True)
        if ended.code != 0:
            wrong.append(f"{' '.join(words)} ended with {ended.code}: {ended.error[-200:]}")
    if round_.planted:
        next((folder / "memory").rglob("fact-*.md")).unlink()
    listed = run("list", "--limit", "50").out
    knowledge = {path.stem for path in (folder / "memory").rglob("knowledge/fact-*.md")}
    wrong += [
        f"fact number{number}x is not live any more"
        for number in range(FACTS)
        if not any(f"number{number}x" in name for name in knowledge) or f"number{number}x" not in listed
    ]
    names_left = {path.name for path in (folder / "memory" / "trash").rglob("thrown-*.md")}
    wrong += [f"{name} was deleted from the trash" for name in sorted(trashed - names_left)]
    round_.progress(f"upkeep in {WRONG_YEAR}: {len(wrong)} of {2 * FACTS} wrong")
    return Row(
        f"facts, and files in the trash, after upkeep in {WRONG_YEAR}: put away, deleted", 2 * FACTS, wrong
    )


PART = Part(
    "clock", "odd instants against commands; upkeep years ahead", count=len(INSTANTS), quick=3, run=run
)
