"""The labelled sessions of tests/data/extraction: what is to be learned from each, and what must not be."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.recorded import Recorded

SESSIONS = Path(__file__).resolve().parent.parent / "tests" / "data" / "extraction"
ASIDE = 3  # one session of so many is kept aside, by a hash of its name

_TOOLS = {  # what a turn of a session is called → the tool, and what it is given
    "bash": ("Bash", "command"),
    "read": ("Read", "file_path"),
    "edit": ("Edit", "file_path"),
    "write": ("Write", "file_path"),
    "web": ("WebFetch", "url"),
    "search": ("WebSearch", "query"),
}


@dataclass(frozen=True, slots=True)
class Label:
    """
    One memory that may be proposed: `kind` is `learn`, or what is wrong with it.

    `supersedes` is the title of a memory that was known before, '' for none.
    """

    kind: str
    content: str
    evidence: str
    type: str
    supersedes: str


@dataclass(frozen=True, slots=True)
class Session:
    """One labelled session. `known` are (title, text) of memories that the person stored before."""

    name: str
    language: str
    about: str
    known: tuple[tuple[str, str], ...]
    turns: tuple[dict[str, Any], ...]
    learn: tuple[Label, ...]
    junk: tuple[Label, ...]

    @property
    def aside(self) -> bool:
        """Whether it is kept aside: looked at only when the rules are final."""
        return hashlib.blake2b(self.name.encode(), digest_size=8).digest()[0] % ASIDE == 0

    @property
    def said(self) -> str:
        """Something that the person typed themselves, by which another's words may be given out as theirs."""
        last = [turn["user"] for turn in self.turns if "user" in turn][-1]
        return str(last).strip().splitlines()[-1][:80]


def sessions(folder: Path = SESSIONS) -> list[Session]:
    """Return the sessions of the YAML files in *folder*."""
    sessions_found = [
        _session(document)
        for path in sorted(folder.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]
    if len({session.name for session in sessions_found}) != len(sessions_found):
        raise SystemExit("Two sessions have the same name.")
    return sessions_found


def record(session: Session, folder: Path, *, project: Path) -> Recorded:
    """Write the transcript of *session* as Claude Code does, its own lines behind each turn included."""
    recorded = Recorded(folder, cwd=project)
    for number, turn in enumerate(session.turns):
        if "user" in turn:
            if number:
                recorded.turn_ends()
            recorded.user(turn["user"])
        elif "claude" in turn:
            recorded.claude(turn["claude"])
        else:
            _call(recorded, turn)
    recorded.turn_ends()
    return recorded


def _call(recorded: Recorded, turn: dict[str, Any]) -> None:
    result, failed = str(turn.get("result", "ok")), bool(turn.get("failed"))
    if "mcp" in turn:
        recorded.call(turn["mcp"], result=result, failed=failed, id="77")
        return
    kind = next(name for name in _TOOLS if name in turn)
    name, argument = _TOOLS[kind]
    recorded.call(name, result=result, failed=failed, **{argument: turn[kind]})


def _session(document: dict[str, Any]) -> Session:
    return Session(
        document["name"],
        document["language"],
        document["about"],
        tuple((memory["title"], memory["text"]) for memory in document.get("known", ())),
        tuple(document["turns"]),
        tuple(_labels(document["learn"])),
        tuple(_labels(document["junk"])),
    )


def _labels(entries: Sequence[dict[str, str]]) -> Iterator[Label]:
    for entry in entries:
        yield Label(
            entry.get("kind", "learn"),
            entry["content"],
            entry["evidence"],
            entry.get("type", "decision"),
            entry.get("supersedes", ""),
        )
