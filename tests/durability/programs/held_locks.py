"""
Let a stopped process hold Daybook's locks, and try every verb: held_locks.py MEMORY_DIR PROJECT [--together].

Each lock alone, or with --together all of them at once. Prints JSON: one object for each verb and lock, with
the exit code, the seconds it took, what it printed, and who held the lock.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from tests.opened import opened_at
from tests.patience import PATIENCE
from tests.terminal import type_in_terminal

ROOT = Path(__file__).resolve().parents[3]
BESIDE = 8  # commands at a time: mostly they wait
STORE_LOCKS = (".sync.lock", ".storing.lock", ".index.lock", ".rebuild.lock", ".worker.lock", ".tidy.lock",
               ".import.lock", ".model.lock", ".watcher.lock", "memory.db")  # fmt: skip
FOLDERS = ("knowledge", "sessions", "trash/user/knowledge")
LOCKS = (*STORE_LOCKS, *(f"{folder}/.daybook.lock" for folder in FOLDERS))
PERSONS = {"--forever", "--apply"}  # what only a person in a terminal may ask for
HELD = "quokka"  # in what the memories say

# What each verb is given; a word in capitals is a memory of its own, made before.
VERBS: dict[str, list[str]] = {
    "remember": ["remember", "Something new | it is saved", "--level", "user"],
    "recall": ["recall", HELD, "--json"],
    "read": ["read", "READ"],
    "read nothing": ["read", "no-such-memory-xxxx"],
    "revise": ["revise", "REVISE", "--text", "now it says this"],
    "forget": ["forget", "FORGET"],
    "forget for good": ["forget", "FORGOOD", "--forever"],
    "restore": ["restore", "TRASHED"],
    "pin": ["pin", "PIN"],
    "link": ["link", "LINK", "src/a.py"],
    "validate": ["validate", "VALIDATE"],
    "promote": ["promote", "PROMOTE"],
    "save-session": ["save-session", "Where it stands", "--context", "half done"],
    "candidates": ["candidates"],
    "list": ["list"],
    "status": ["status"],
    "history": ["history"],
    "graph": ["graph"],
    "contradictions": ["contradictions"],
    "brief": ["brief"],
    "hot": ["hot"],
    "import": ["import", "notes", "NOTES", "--level", "user"],
    "tidy": ["tidy"],
    "sync": ["sync"],
    "maintain check": ["maintain", "check"],
    "maintain rebuild": ["maintain", "rebuild"],
    "maintain clean": ["maintain", "clean", "--apply"],
    "work": ["work"],
    "export": ["export", "EXPORT"],
    "hook": ["hook", "SessionStart"],
}


def run(place: Path, project: Path, words: list[str]) -> dict[str, Any]:
    """Run one command; one that takes too long is killed, and its exit code is None."""
    module = "mcp_server.doors.cli"
    if words[0] == "hook":
        module, words = "mcp_server.doors.hooks", words[1:]
    command = [sys.executable, "-m", module, *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MEMORY_DIR": str(place), "EMBEDDING_MODEL": "none"}
    began = time.monotonic()
    if PERSONS.intersection(words):
        completed = type_in_terminal(command, cwd=project, env=env)
        seconds = time.monotonic() - began
        return {
            "code": completed.returncode,
            "seconds": seconds,
            "out": completed.stdout,
            "err": completed.stdout,
        }
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=project,
        encoding="utf-8",
    )
    try:
        out, err = process.communicate('{"session_id": "s", "source": "startup"}', timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return {"code": None, "seconds": PATIENCE, "out": out, "err": err}
    return {"code": process.returncode, "seconds": time.monotonic() - began, "out": out, "err": err}


@contextlib.contextmanager
def holding(paths: list[Path]) -> Iterator[int]:
    """Let a process take the locks at *paths* and stop; it is killed afterwards."""
    program = str(Path(__file__).with_name("lock_and_stop.py"))
    process = subprocess.Popen([sys.executable, program, *map(str, paths)], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        assert process.stdout.readline() == b"held\n"
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        yield process.pid
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()


def prepared(place: Path, project: Path) -> dict[str, list[str]]:
    """Fill the store and return the command line of each verb."""
    opened = opened_at(place, project)
    store = opened.store()
    notes = place.parent / "notes"
    notes.mkdir()
    (notes / "note.md").write_text("# A note\n\nof another tool\n", encoding="utf-8")
    named = {"NOTES": str(notes), "EXPORT": str(place.parent / "export")}
    for word in {word for words in VERBS.values() for word in words if word.isupper()} - named.keys():
        named[word] = remember(store, _saying(word)).memory.id
    forget(store, named["TRASHED"])
    opened.database.close()
    return {verb: [named.get(word, word) for word in words] for verb, words in VERBS.items()}


def _saying(word: str) -> Draft:
    """Return a memory that has nothing but one word in common with any other."""
    rng = random.Random(word)
    own = ["".join(rng.choices("bdfgklmnprst", k=8)) for _ in range(12)]
    return Draft(f"{word} one", f"{' '.join(own)} {HELD}", level=Level.USER)


def main() -> None:
    place, project = Path(sys.argv[1]), Path(sys.argv[2])
    if "--together" in sys.argv:
        print(json.dumps(tried("all", LOCKS, place, project)))
        return
    results = []
    for number, name in enumerate(LOCKS):  # each in a store of its own, for what is forgotten is gone
        (place / str(number)).mkdir(parents=True)
        results += tried(name, [name], place / str(number) / "memory", project)
    print(json.dumps(results))


def tried(lock: str, names: Sequence[str], place: Path, project: Path) -> list[dict[str, Any]]:
    """Return how each verb met the locks *names* of the store in *place*, held by one process."""
    commands = prepared(place, project)
    with holding([place / name for name in names]) as holder, ThreadPoolExecutor(BESIDE) as pool:
        answers = {verb: pool.submit(run, place, project, words) for verb, words in commands.items()}
        return [
            {"verb": verb, "lock": lock, "holder": holder, **answer.result()}
            for verb, answer in answers.items()
        ]


if __name__ == "__main__":
    main()
