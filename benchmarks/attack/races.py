"""An editor that saves a memory while `revise` changes it: `tests/durability/programs/saving_editors.py`."""

import json
import sys
import time
from pathlib import Path

from benchmarks.attack import commands
from benchmarks.attack.outcome import Part, Round, Row
from mcp_server.adapters import guarded_replace
from tests.durability.programs import saving_editors

LONGEST = 1200.0  # seconds for the saves of one way
SELDOM = 20  # saves for which there is one revision at least, or nothing was raced with
HOW = {
    "rename": "by renaming",
    "backup": "with a backup",
    "in_place": "in place",
    "held": "in a file held open",
}


def run(round_: Round) -> list[Row]:
    """Save `count` times, a quarter in each way; every save must be in the file, or kept beside it."""
    commands.warm_up()
    return [_saves(round_, way, number) for number, way in enumerate(saving_editors.WAYS)]


def _saves(round_: Round, way: str, number: int) -> Row:
    count = max(1, round_.count // len(saving_editors.WAYS))
    place = round_.folder / way
    place.mkdir()
    report = commands.program(
        _edit,
        str(place), str(count), str(round_.seed + number), way,
        folder=place, within=LONGEST, before=_replace_unseen if round_.planted else None,
    )  # fmt: skip
    wrong = [f"save {save}" for save in report["lost"]]
    if report["revised"] < count / SELDOM:
        wrong.append(f"only {report['revised']} revisions were made meanwhile")
    round_.progress(f"{way}: {count} saves, {len(wrong)} wrong")
    figures = (
        f"{report['revised']:,} revisions made meanwhile, {report['conflicts']:,} told to try again,"
        f" {report['kept beside']} saves kept beside the file"
    )
    return Row(f"saves of an editor {HOW[way]} beside `revise`: lost", report["saves"], wrong, figures)


def _edit() -> None:
    folder, saves, seed, way = sys.argv[1:]
    print(json.dumps(saving_editors.run(Path(folder), int(saves), int(seed), [way])))


def _replace_unseen() -> None:
    """The planted fault: nobody looks whether the file was changed meanwhile."""

    def swap_in(temporary: Path, path: Path, **_: object) -> None:
        time.sleep(0.005)  # room for an editor's save
        temporary.replace(path)

    guarded_replace.swap_in = swap_in


PART = Part("races", "an editor saves while `revise` writes", count=3500, quick=200, run=run)
