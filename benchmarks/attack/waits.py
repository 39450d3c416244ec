"""
Every lock held by a process that was stopped, against every verb: `tests/durability/programs/held_locks.py`.

Each verb must end soon, say for whom it waits, and tell the truth: what says that it is saved is saved, and
what reads answers from the files.
"""

import re
from typing import Any

from benchmarks.attack import commands
from benchmarks.attack.outcome import Part, Round, Row
from tests.durability.programs import held_locks

LONGEST = 12.0  # seconds until a verb answers: two locks, and what a busy machine adds
WHOLE = 1200.0  # seconds for all verbs and locks
GONE = 3  # exit code: nothing has that id
HELD = (5, 7, 11)  # exit codes: somebody else tidies, holds the index, or another lock
READS = ("recall", "read", "list", "status", "brief", "hook")
FILES_ARE_ENOUGH = ("remember", "save-session")  # for the index only comes behind
OF_FOLDERS = "knowledge", "sessions"


def run(round_: Round) -> list[Row]:
    """Let all locks be held together, and with a `count` above one each of them alone, too."""
    commands.warm_up()
    tries = [("together", ("--together",))]
    if round_.count > 1:
        tries.append(("alone", ()))
    return [_held(round_, how, words) for how, words in tries]


def _held(round_: Round, how: str, words: tuple[str, ...]) -> Row:
    place = round_.folder / how
    (place / "shop").mkdir(parents=True)
    told = commands.program(
        held_locks.main,
        str(place / "memory"), str(place / "shop"), *words,
        folder=place, within=WHOLE, before=_wait_for_ever if round_.planted else None,
    )  # fmt: skip
    wrong = [
        f"{each['verb']}, while somebody holds {each['lock']}: {fault}"
        for each in told
        for fault in judged(each)
    ]
    slow = sorted(told, key=lambda each: -each["seconds"])[:3]
    locks = {each["lock"] for each in told}
    round_.progress(f"{how}: {len(told)} verbs, {len(wrong)} wrong")
    slowest = ", ".join(f"{each['verb']} {each['seconds']:.1f} s" for each in slow)
    refused = sum(each["code"] not in (0, GONE) for each in told)
    return Row(
        f"verbs while a stopped process holds locks, {how}: hangs, tracebacks, wrong answers",
        len(told),
        wrong,
        f"{'all at once' if how == 'together' else f'{len(locks)} locks'}; {refused} refused and said for"
        f" whom; slowest: {slowest}",
    )


def judged(told: dict[str, Any]) -> list[str]:
    """Return what is wrong with how a verb met a lock that is held."""
    verb, code, said = told["verb"], told["code"], told["err"].strip()
    if code is None or told["seconds"] > LONGEST:
        return [f"no answer within {told['seconds']:.0f} s"]
    wrong = []
    if "Traceback" in said:
        wrong.append(f"a traceback: {said[-300:]}")
    if code not in (0, GONE, *HELD) or (code == GONE) != (verb == "read nothing"):
        wrong.append(f"ended with {code}: {said[-300:]}")
    if code in HELD and not re.search(r"process \d+ \(", said):  # other verbs run beside, and hold locks too
        wrong.append(f"does not say who: {said[-300:]}")
    if code in HELD and "rebuild" in said:
        wrong.append(f"advises to rebuild: {said[-300:]}")
    if verb in READS and code != 0:
        wrong.append(f"nothing was read: {said[-300:]}")
    if verb in FILES_ARE_ENOUGH and code != 0 and not told["lock"].startswith(OF_FOLDERS):
        wrong.append(f"the index is part of the answer: {said[-300:]}")
    return wrong


def _wait_for_ever() -> None:
    """The planted fault: a verb that nobody told to stop waiting."""
    run_one = held_locks.run

    def run_late(*given: Any) -> dict[str, Any]:
        said = run_one(*given)
        return {**said, "code": None} if given[2][0] == "recall" else said

    held_locks.run = run_late


PART = Part(
    "waits",
    "every lock held by a process that was stopped, against every verb",
    count=2,
    quick=1,
    run=run,
    longest=1500,
)
