"""
Writers that remember, revise, forget and restore without end, and say on a pipe what they do.

Before each thing a writer says what it is about to do, and when it was told that it is done, that it is.
"""

import hashlib
import json
import os
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_server import bootstrap
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import timestamp
from tests.opened import opened_at

ACTIVE, FORGOTTEN = "active", "forgotten"


@dataclass
class Expected:
    """What a memory must say, and where it must be."""

    state: str
    text: str


def signed(number: int) -> str:
    """Return a text of 300 bytes to 10 KB that tells by itself whether it is whole."""
    words = f"word{number} " * (20, 100, 700)[number % 3] + "end"
    return f"{words}\n\nsum {hashlib.sha256(words.encode()).hexdigest()}"


def is_whole(text: str) -> bool:
    words, _, total = text.rpartition("\n\nsum ")
    return hashlib.sha256(words.encode()).hexdigest() == total


class Daybook:
    """The four verbs as the product does them."""

    def __init__(self, folder: Path) -> None:
        self.store = opened_at(folder).store()

    def remember(self, title: str, text: str) -> str:
        return remember(self.store, Draft(title, text)).memory.id

    def revise(self, memory_id: str, text: str) -> None:
        revise(self.store, memory_id, Revision(text=text))

    def forget(self, memory_id: str) -> None:
        forget(self.store, memory_id)

    def restore(self, memory_id: str) -> None:
        restore(self.store, memory_id)


class Naive:
    """The planted bug: files are written in place, piece by piece, and moved by copying."""

    def __init__(self, folder: Path) -> None:
        self.knowledge = folder / "knowledge"
        self.trash = folder / "trash" / "user" / "knowledge"
        for place in (self.knowledge, self.trash):
            place.mkdir(parents=True, exist_ok=True)

    def remember(self, title: str, text: str) -> str:
        memory_id = title.replace(" ", "-")
        self._write(self.knowledge / f"{memory_id}.md", memory_id, text)
        return memory_id

    def revise(self, memory_id: str, text: str) -> None:
        self._write(self.knowledge / f"{memory_id}.md", memory_id, text)

    def forget(self, memory_id: str) -> None:
        self._move(memory_id, self.knowledge, self.trash)

    def restore(self, memory_id: str) -> None:
        self._move(memory_id, self.trash, self.knowledge)

    def _write(self, path: Path, memory_id: str, text: str) -> None:
        now = timestamp(bootstrap.now())
        head = f"---\nid: {memory_id}\ntitle: x\ntype: note\ncreated: {now}\nupdated: {now}\n---\n"
        data = f"{head}{text}\n".encode()
        with open(path, "wb", buffering=0) as handle:
            for at in range(0, len(data), 512):
                handle.write(data[at : at + 512])

    def _move(self, memory_id: str, source: Path, target: Path) -> None:
        (target / f"{memory_id}.md").write_bytes((source / f"{memory_id}.md").read_bytes())
        (source / f"{memory_id}.md").unlink()


def write_for_ever(
    kind: type[Daybook] | type[Naive], folder: Path, expected_by_id: dict[str, Expected], seed: int, out: int
) -> None:
    """Remember, revise, forget and restore until killed; say each thing before and after it."""
    rng = random.Random(seed)

    def say(**fields: object) -> None:
        os.write(out, json.dumps(fields).encode() + b"\n")

    try:
        verbs = kind(folder)
        say(verb="open")
        for number in range(1_000_000):
            verb = rng.choice(("remember", "revise", "revise", "forget", "restore"))
            wanted_state = FORGOTTEN if verb == "restore" else ACTIVE
            having = [
                memory_id for memory_id, expected in expected_by_id.items() if expected.state == wanted_state
            ]
            sign = rng.randrange(1 << 30)
            if verb == "remember" or not having:
                title = f"kept {seed} {number}"
                if kind is Naive:
                    say(verb="remember", id=title.replace(" ", "-"), sign=sign, done=True)
                memory_id = verbs.remember(title, signed(sign))
                expected_by_id[memory_id] = Expected(ACTIVE, signed(sign))
                say(verb="remember", id=memory_id, sign=sign, done=True)
                continue
            memory_id = rng.choice(having)
            line: dict[str, Any] = {"verb": verb, "id": memory_id}
            if verb == "revise":
                line["sign"] = sign
            say(**line, done=kind is Naive)  # a naive writer is as naive in what it tells
            match verb:
                case "revise":
                    verbs.revise(memory_id, signed(sign))
                    expected_by_id[memory_id].text = signed(sign)
                case "forget":
                    verbs.forget(memory_id)
                    expected_by_id[memory_id].state = FORGOTTEN
                case "restore":
                    verbs.restore(memory_id)
                    expected_by_id[memory_id].state = ACTIVE
            say(**line, done=True)
    except (DaybookError, OSError) as error:
        say(error=f"{type(error).__name__}: {error}")


def warm_up() -> None:
    """Load and compile what the children need; nothing stays open."""
    with tempfile.TemporaryDirectory() as place:
        daybook = Daybook(Path(place))
        memory_id = daybook.remember("warm", signed(1))
        daybook.revise(memory_id, signed(2))
        daybook.forget(memory_id)
        daybook.restore(memory_id)
        daybook.store.database.close()
