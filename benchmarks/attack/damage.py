"""Random damage to the files of the index, as `tests/durability/programs/damaged_index.py` does it."""

import random
from pathlib import Path

from benchmarks.attack import commands
from benchmarks.attack.outcome import Part, Round, Row
from tests.durability.programs import damaged_index

AT_A_TIME = 25  # damages between two words to the person who waits
LONGEST = 600.0  # seconds for so many
WHAT = "damages of memory.db, -wal, -shm: other answers at the second question, tracebacks"


def run(round_: Round) -> list[Row]:
    """Damage a copy of one store `count` times, each time anew, and ask it what it answered before."""
    commands.warm_up()
    at_once = later = tried = 0
    wrong: list[str] = []
    while tried < round_.count:
        count = min(AT_A_TIME, round_.count - tried)
        report = commands.program(
            damaged_index.main,
            str(round_.seed + tried), str(count), "--folder", str(round_.folder),
            folder=round_.folder, within=LONGEST, before=_lose_a_memory if round_.planted else None,
        )  # fmt: skip
        at_once, later = at_once + report["at once"], later + report["next"]
        wrong += [
            f"seed {failure['seed']}, {failure['how']}: {failure['wrong']}" for failure in report["failed"]
        ]
        tried = at_once + later + len(wrong)
        round_.progress(f"{tried} of {round_.count}, {len(wrong)} wrong")
    return [Row(WHAT, tried, wrong, f"the same answers at once {at_once}, when asked again {later}")]


def _lose_a_memory() -> None:
    """The planted fault: what mends the index loses a memory."""
    damage = damaged_index.damage

    def damage_and_lose(place: Path, seed: int, harm: str = "") -> str:
        paths = sorted(place.rglob("knowledge/*.md"))
        random.Random(seed).choice(paths).unlink()
        return damage(place, seed, harm)

    damaged_index.damage = damage_and_lose


PART = Part("damage", "random damage to the files of the index", count=500, quick=20, run=run, longest=2400)
