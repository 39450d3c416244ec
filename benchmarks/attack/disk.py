"""A disk that is full, and then not any more; where nothing may be mounted, a limit on files does it."""

import json
import os
import random
import resource
import subprocess
from pathlib import Path

from benchmarks.attack import commands
from benchmarks.attack.facts import GONE, LIVE, Fact, allow, check, copies, signed, unfinished
from benchmarks.attack.index_equals_files import differences
from benchmarks.attack.outcome import Part, Round, Row

SIZE = 2 << 20  # bytes of the small disk
LARGER = 64 << 20  # bytes of it when it has room again
LIMIT = 60_000  # bytes of a file, where a limit has to do


def run(round_: Round) -> list[Row]:
    """Remember `count` things on a small disk, read while it is full, and remember again when it is not."""
    commands.warm_up()
    rng = random.Random(round_.seed)
    disk, project = round_.folder / "disk", round_.folder / "shop"
    disk.mkdir()
    project.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "daybook-attack", str(disk)]
    mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        return [_filled(round_, rng, disk, project, mounted=mounted)]
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _filled(round_: Round, rng: random.Random, disk: Path, project: Path, *, mounted: bool) -> Row:
    environment = {**os.environ, "MEMORY_DIR": str(disk / "memory")}
    facts: list[Fact] = []
    wrong: list[str] = []
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(SIZE // 8 if mounted else 0))

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, resource.RLIM_INFINITY))

    def remember(number: int, *, full: bool) -> bool:
        fact = Fact(f"d{number}", allow(5, GONE), pending=allow(5, LIVE))
        facts.append(fact)
        memory = f"Fact {fact.name} {rng.random()} | {signed(fact.name, 5)} {fact.name * 2000}"
        before = limited if full and not mounted else None
        ended = commands.run(
            ("remember", memory, "--json"), folder=project, environment=environment, before=before
        )
        if ended.code == 0:
            fact.now, fact.pending = allow(5, LIVE), None
            fact.id = json.loads(ended.out)["id"]
        elif ended.code is None or "Traceback" in ended.error or "rebuild" in ended.error:
            wrong.append(f"remember {number} ended with {ended.code}: {ended.error[-300:]}")
        return ended.code == 0

    remember(0, full=False)
    saved = sum(remember(number, full=True) for number in range(1, round_.count + 1))
    if mounted and saved == round_.count:
        wrong.append("the disk was never full")
    for words in (
        ("recall", "d0 here and there", "--mode", "keyword"),
        ("read", facts[0].id),
        ("list",),
        ("brief",),
    ):
        before = None if mounted else limited
        ended = commands.run(words, folder=project, environment=environment, before=before)
        if ended.code != 0:
            wrong.append(f"{words[0]} on the full disk ended with {ended.code}: {ended.error[-300:]}")
    ballast.unlink()
    if mounted:
        subprocess.run(["mount", "-o", f"remount,size={LARGER}", str(disk)], check=True)
    if not remember(round_.count + 1, full=False):
        wrong.append("nothing can be remembered when there is room again")
    if round_.planted:
        next((disk / "memory").rglob("fact-d0-*.md")).unlink()
    copies_held = copies([disk / "memory"])
    for fact in facts:
        wrong += check(fact, copies_held.get(fact.name, []), most=1)
    wrong += [f"half a file stays: {path.name}" for path in unfinished([disk])]
    wrong += differences(environment, [project])
    round_.progress(f"{saved} of {round_.count} saved, {len(wrong)} wrong")
    how = (
        f"a disk of {SIZE >> 20} MB"
        if mounted
        else f"files limited to {LIMIT:,} bytes, for nothing may be mounted"
    )
    title = "remember, recall, read on a full disk: lost, torn, half files, refused reading"
    return Row(title, round_.count, wrong, f"{how}; {saved} acknowledged")


PART = Part("disk", "a full disk, and room again", count=60, quick=40, run=run)
