"""
What a store must say: texts that tell by themselves what they are and whether they are whole.

A text lies between two signs and may stand anywhere in a file; so one look at all files of a store tells
what was lost, torn, doubled or brought back.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.adapters import places

LIVE, TRASH, WAITS, GONE = "live", "trash", "candidate", "gone"
_SIGNED = re.compile(r"begins (\w+) version (\d+)\b(.*?)(?:ends \1 ([0-9a-f]{16})|\Z)", re.DOTALL)
_FILLING = ("here and there ", "this and that ", "now and then ")
TEMPORARY = ".daybook-"  # how unfinished writes are called


def signed(name: str, version: int) -> str:
    """Return a text of 0.1 to 9 KB that carries *name* and *version*."""
    words = f" {_FILLING[version // 3 % 3] * (3, 60, 600)[version % 3]}"
    return f"begins {name} version {version}{words}ends {name} {_sum(name, version, words)}"


def _sum(name: str, version: int, words: str) -> str:
    return hashlib.sha256(f"{name} {version} {' '.join(words.split())}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Copy:
    """A text that stands in a file: in which version, whether it is whole, and where."""

    version: int
    whole: bool
    state: str
    path: Path


@dataclass(frozen=True, slots=True)
class Allowed:
    """In which states and versions a fact may be."""

    states: frozenset[str]
    versions: frozenset[int]

    def __or__(self, other: "Allowed") -> "Allowed":
        return Allowed(self.states | other.states, self.versions | other.versions)


def allow(version: int, *states: str) -> Allowed:
    return Allowed(frozenset(states), frozenset([version]))


@dataclass(slots=True)
class Fact:
    """
    One text: its name, the id of its memory once it is known, and what is acknowledged of it.

    `pending` is what it may be besides, while something is under way. So many files as `most` may say it.
    What `ages` is put away by tidying; what is `sourced` was never said to be taken in. `links` must stand in
    its file, `deleted` tells that no byte of it may be left.
    """

    name: str
    now: Allowed
    id: str = ""
    pending: Allowed | None = None
    most: int = 1
    ages: bool = False
    sourced: bool = False
    links: set[str] = field(default_factory=set)
    deleted: bool = False

    @property
    def version(self) -> int:
        return max(self.now.versions)

    def is_(self, state: str) -> bool:
        return self.now.states == {state}


def copies(folders: Iterable[Path]) -> dict[str, list[Copy]]:
    """Return, by name, every signed text in the files of memories below *folders*, without the history."""
    copies_by_name: dict[str, list[Copy]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.md")):
            if path.name.startswith(".") or path.is_relative_to(folder / places.HISTORY):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            body = text.partition("\n---\n")[2] if text.startswith("---\n") else text
            state = _state(path.relative_to(folder))
            for name, version, words, total in _SIGNED.findall(body):
                whole = total == _sum(name, int(version), words)
                copies_by_name.setdefault(name, []).append(Copy(int(version), whole, state, path))
    return copies_by_name


def _state(path: Path) -> str:
    if path.parts[0] == "trash":
        return TRASH
    return WAITS if "candidates" in path.parts else LIVE


def check(fact: Fact, copies_held: list[Copy], *, most: int) -> list[str]:
    """
    Return what is wrong with *fact*, of which *held* are the copies; remember what it turned out to be.

    At most *most* files may say it.
    """
    allowed = fact.now | fact.pending if fact.pending else fact.now
    if fact.ages:
        allowed |= allow(fact.version, LIVE, TRASH)
    wrong = [f"torn: {copy.path}" for copy in copies_held if not copy.whole]
    live = [copy for copy in copies_held if copy.state == LIVE]
    if len(live) > most:
        wrong.append(f"doubled: {fact.name} in {', '.join(str(copy.path) for copy in live)}")
    # A kill in the middle of an approval leaves the candidate beside its memory: it only asks again.
    state = next(
        (state for state in (LIVE, TRASH, WAITS) if any(copy.state == state for copy in copies_held)), GONE
    )
    if state not in allowed.states:
        wrong.append(f"{'brought back' if state == LIVE else 'lost'}: {fact.name} is {state}, {allowed}")
    versions = {copy.version for copy in copies_held if copy.state == state}
    if state != GONE and not versions & allowed.versions:
        wrong.append(f"wrong text: {fact.name} has version {versions}, {allowed}")
    for copy in live[:1]:
        text = copy.path.read_text(encoding="utf-8") if fact.links else ""
        wrong += [f"a link lost: {fact.name} to {link}" for link in fact.links if link not in text]
        if not fact.ages and not fact.sourced:
            fact.id = copy.path.stem
    fact.now = allow(max(versions, default=fact.version), state)
    fact.pending = None
    return wrong


def unfinished(folders: Iterable[Path]) -> list[Path]:
    """Return the unfinished writes below *folders*."""
    return [path for folder in folders for path in folder.rglob(f"{TEMPORARY}*") if path.suffix != ".lock"]
