"""
An editor that saves a memory while a process revises it, and a count of the words that were lost.

    python saving_editors.py FOLDER SAVES SEED [WAY...]

The editor saves 0 to 12 ms after it last looked, in one of its WAYS: `rename` (another file takes the
name), `backup` (the old file gets another name first), `in_place` (emptied, then written) and `held`
(opened, and emptied and written later); all of them when none is named. Each save has its own words.
They must be in the file before the next save, or in a file that Daybook keeps beside it. It goes on beyond
SAVES until there were revisions enough and a conflict. Prints a JSON report: how many saves, revisions and
conflicts there were, and the saves that were lost.
"""

import json
import os
import random
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.core.errors import Conflict, DaybookError
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from tests.opened import opened_at
from tests.patience import PATIENCE

LONGEST_PAUSE = 0.012  # seconds between two saves


def revise_for_ever(folder: Path, memory_id: str, writing: int) -> None:
    """Change the tags of the memory again and again; say on a pipe what came of each attempt."""
    store, number = opened_at(folder).store(), 0
    while True:
        number += 1
        try:
            revise(store, memory_id, Revision(tags=(f"tag-{number}",)))
            outcome = b"r"
        except Conflict:
            outcome = b"c"
        except (DaybookError, OSError):  # the editor has emptied the file, and not yet written it
            outcome = b"e"
        os.write(writing, outcome)


def save_by_rename(path: Path, data: bytes, pause: Callable[[], None]) -> None:
    other = path.with_name(f"{path.name}.new")
    other.write_bytes(data)
    pause()
    other.replace(path)


def save_with_backup(path: Path, data: bytes, pause: Callable[[], None]) -> None:
    path.replace(path.with_name(f"{path.name}~"))
    pause()
    path.write_bytes(data)


def save_in_place(path: Path, data: bytes, pause: Callable[[], None]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(handle, data[:40])
    pause()
    os.write(handle, data[40:])
    os.close(handle)


def save_held(path: Path, data: bytes, pause: Callable[[], None]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT)
    pause()
    os.ftruncate(handle, 0)
    os.write(handle, data)
    os.close(handle)


WAYS = {
    "rename": save_by_rename,
    "backup": save_with_backup,
    "in_place": save_in_place,
    "held": save_held,
}


def holds(path: Path, words: bytes) -> bool:
    try:
        return words in path.read_bytes()
    except FileNotFoundError:
        return False


def kept_beside(path: Path, words: bytes) -> bool:
    return any(holds(other, words) for other in path.parent.glob(".daybook-*"))


def run(folder: Path, saves: int, seed: int, ways: list[str]) -> dict[str, object]:
    rng = random.Random(seed)
    store = opened_at(folder).store()
    remembered = remember(store, Draft("Edited by two", "save number 0.", level=Level.USER))
    sync(store)
    store.database.close()
    path = folder / "knowledge" / f"{remembered.memory.id}.md"
    first = path.read_bytes()
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    child = os.fork()
    if child == 0:
        revise_for_ever(folder, remembered.memory.id, writing)
    outcomes: Counter[int] = Counter()
    elsewhere: dict[int, str] = {}

    def pause() -> None:
        time.sleep(rng.uniform(0, 0.002))

    while not outcomes[ord("r")]:
        outcomes.update(_said(reading))
    # How often a save meets a revision depends on the machine: it goes on until that happened, for long.
    number = 0
    enough = False
    while number < saves or not (enough or number == 20 * saves):
        number += 1
        words = b"save number %d." % number
        way = rng.choice(ways)
        WAYS[way](path, first.replace(b"save number 0.", words), pause)
        time.sleep(rng.uniform(0, LONGEST_PAUSE))
        outcomes.update(_said(reading))
        if not holds(path, words):
            outcomes.update(_two_more(reading))
            if not holds(path, words):
                elsewhere[number] = way
        enough = outcomes[ord("r")] > saves / 10 and outcomes[ord("c")] > 0
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    lost = {n: way for n, way in elsewhere.items() if not kept_beside(path, b"save number %d." % n)}
    return {
        "saves": number,
        "revised": outcomes[ord("r")],
        "conflicts": outcomes[ord("c")],
        "errors": outcomes[ord("e")],
        "kept beside": len(elsewhere) - len(lost),
        "lost": sorted(lost),
        "lost by way": Counter(lost.values()),
    }


def _two_more(reading: int) -> bytes:
    """Return what came of the next two attempts: whatever was under way before is over then."""
    data = b""
    while len(data) < 2:
        assert select.select([reading], [], [], PATIENCE)[0], "nothing is revised any more"
        data += _said(reading)
    return data


def _said(reading: int) -> bytes:
    try:
        return os.read(reading, 1 << 16)
    except BlockingIOError:
        return b""


if __name__ == "__main__":
    place, number, start, *named = sys.argv[1:]
    print(json.dumps(run(Path(place), int(number), int(start), named or list(WAYS))))
