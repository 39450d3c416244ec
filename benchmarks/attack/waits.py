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
    results = commands.program(
        held_locks.main,
        str(place / "memory"), str(place / "shop"), *words,
        folder=place, within=WHOLE, before=_wait_for_ever if round_.planted else None,
    )  # fmt: skip
    wrong = [
        f"{result['verb']}, while somebody holds {result['lock']}: {fault}"
        for result in results
        for fault in judged(result)
    ]
    slow = sorted(results, key=lambda result: -result["seconds"])[:3]
    locks = {result["lock"] for result in results}
    round_.progress(f"{how}: {len(results)} verbs, {len(wrong)} wrong")
    slowest = ", ".join(f"{result['verb']} {result['seconds']:.1f} s" for result in slow)
    refused = sum(result["code"] not in (0, GONE) for result in results)
    return Row(
        f"verbs while a stopped process holds locks, {how}: hangs, tracebacks, wrong answers",
        len(results),
        wrong,
        f"{'all at once' if how == 'together' else f'{len(locks)} locks'}; {refused} refused and said for"
        f" whom; slowest: {slowest}",
    )


def judged(result: dict[str, Any]) -> list[str]:
    """Return what is wrong with how a verb met a lock that is held."""
    verb, code, stderr = result["verb"], result["code"], result["err"].strip()
    if code is None or result["seconds"] > LONGEST:
        return [f"no answer within {result['seconds']:.0f} s"]
    wrong = []
    if "Traceback" in stderr:
        wrong.append(f"a traceback: {stderr[-300:]}")
    if code not in (0, GONE, *HELD) or (code == GONE) != (verb == "read nothing"):
        wrong.append(f"ended with {code}: {stderr[-300:]}")
    if code in HELD and not re.search(
        r"process \d+ \(", stderr
    ):  # other verbs run beside, and hold locks too
        wrong.append(f"does not say who: {stderr[-300:]}")
    if code in HELD and "rebuild" in stderr:
        wrong.append(f"advises to rebuild: {stderr[-300:]}")
    if verb in READS and code != 0:
        wrong.append(f"nothing was read: {stderr[-300:]}")
    if verb in FILES_ARE_ENOUGH and code != 0 and not result["lock"].startswith(OF_FOLDERS):
        wrong.append(f"the index is part of the answer: {stderr[-300:]}")
    return wrong


def _wait_for_ever() -> None:
    """The planted fault: a verb that nobody told to stop waiting."""
    run_one = held_locks.run

    def run_late(*arguments: Any) -> dict[str, Any]:
        result = run_one(*arguments)
        return {**result, "code": None} if arguments[2][0] == "recall" else result

    held_locks.run = run_late


PART = Part(
    "waits",
    "every lock held by a process that was stopped, against every verb",
    count=2,
    quick=1,
    run=run,
    longest=1500,
)
