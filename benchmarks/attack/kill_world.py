"""A person's store with projects, sources and transcripts, for commands that are killed; what it must say."""

import json
import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from benchmarks.attack import commands
from benchmarks.attack.clock import at
from benchmarks.attack.facts import GONE, LIVE, Allowed, Fact, allow, check, copies, signed, unfinished
from mcp_server.actions.files import between_vaults
from mcp_server.adapters import places
from tests.recorded import Recorded

PROJECTS = 3
SHORT = 1  # a version whose text is one section of a document
OLD = "2025-01-02T03:04:05Z"  # a memory of that day is archived by tidying
MINE = ("# Mine\r\n" + "A rule that I wrote.\r\n" * 200, "\nAnd what I wrote below.\n")
START, END = b"<!-- MEMORY:START -->", b"<!-- MEMORY:END -->"


@dataclass
class World:
    """One store below *folder*; every fact in it by name, and every turn of its transcripts."""

    folder: Path
    rng: random.Random
    facts: dict[str, Fact] = field(default_factory=dict)
    turns: dict[str, bool] = field(default_factory=dict)  # whether each must be kept by now
    in_repository: set[Path] = field(default_factory=set)
    moving: set[Path] = field(default_factory=set)
    owns: dict[str, Path] = field(default_factory=dict)  # the project of each fact that belongs to one
    number: int = 0
    done: list[str] = field(default_factory=list)  # what was done, for whoever looks for a fault

    def __post_init__(self) -> None:
        self.memory, self.claude = self.folder / "memory", self.folder / "claude"
        self.projects = [self.folder / f"shop{number}" for number in range(PROJECTS)]
        self.environment = MappingProxyType(
            {**os.environ, "MEMORY_DIR": str(self.memory), "CLAUDE_CONFIG_DIR": str(self.claude)}
        )
        for project in self.projects:
            project.mkdir(parents=True)
            subprocess.run(["git", "init", "-q", str(project)], check=True)
            (project / "CLAUDE.md").write_bytes("".join(MINE).encode())
        self.sessions = [
            Recorded(self.claude / "projects" / project.name, cwd=project) for project in self.projects
        ]
        for project in self.projects:
            self.write_by_hand(project, "old", most=1)
            name = self.write_by_hand(project, "twin", most=2)
            self._write_file(project, f"{name}-again", name)

    def run(self, *words: str, folder: Path | None = None, stdin: bytes = b"") -> commands.Ended:
        return commands.run(
            words, folder=folder or self.projects[0], environment=self.environment, stdin=stdin
        )

    @property
    def roots(self) -> list[Path]:
        return [self.memory, *(project / ".claude-memory" for project in self.projects)]

    def new(self, before: Allowed, after: Allowed, *, project: Path | None = None) -> Fact:
        """Return a fact that nobody has yet, and that is *after* what is under way."""
        self.number += 1
        fact = Fact(f"k{self.number}", before, pending=after)
        self.facts[fact.name] = fact
        if project:
            self.owns[fact.name] = project
        return fact

    def expected(self, version: int = 0) -> Fact:
        """Return a fact that is gone now and may be live."""
        return self.new(allow(version, GONE), allow(version, LIVE))

    def write_by_hand(self, project: Path, kind: str, *, most: int) -> str:
        """Write a memory as a person does in an editor, long ago."""
        fact = self.new(allow(SHORT, LIVE), allow(SHORT, LIVE), project=project)
        fact.most, fact.ages = most, True
        self._write_file(project, f"{kind}-{fact.name}", fact.name)
        return fact.name

    def _write_file(self, project: Path, memory_id: str, name: str) -> None:
        folder = self.memory / "knowledge" / project.name
        folder.mkdir(parents=True, exist_ok=True)
        head = f"---\nid: {memory_id}\ntitle: {memory_id}\ntype: note\ncreated: {OLD}\nupdated: {OLD}\n---\n"
        path = folder / f"{memory_id}.md"
        path.write_text(f"{head}{signed(name, SHORT)}\n", encoding="utf-8")

    def edit(self) -> None:
        """Change a memory in an editor that saves by renaming; nothing of Daybook runs meanwhile."""
        having = [fact for fact in self.facts.values() if fact.id and fact.is_(LIVE) and not fact.pending]
        if not having:
            return
        fact = self.rng.choice(having)
        copies_held = [copy for copy in copies(self.roots).get(fact.name, []) if copy.state == LIVE]
        if len(copies_held) != 1:
            return
        path, version = copies_held[0].path, fact.version + 1
        head, _, _ = path.read_text(encoding="utf-8").partition(f"begins {fact.name} ")
        saved = path.with_name(".saving")
        saved.write_text(f"{head}{signed(fact.name, version)}\n", encoding="utf-8")
        saved.replace(path)
        fact.now = allow(version, LIVE)

    def speak(self) -> None:
        """Let a session go on by a turn."""
        session = self.rng.choice(self.sessions)
        name = f"turn{len(self.turns)}"
        words = f"The mark {name}x is said once. {'And so it goes on. ' * self.rng.randrange(60)}"
        (session.user if self.rng.random() < 0.5 else session.claude)(words)
        self.turns[name] = False

    def check(self) -> list[str]:
        """Return what is wrong in the files as they are now."""
        copies_held = copies(self.roots)
        wrong = []
        for fact in self.facts.values():
            most = fact.most + (self.owns.get(fact.name) in self.moving)  # until the move is repeated
            most += (self.memory / places.WORK / between_vaults.NOTE).exists()  # until the next command
            wrong += check(fact, copies_held.pop(fact.name, []), most=most)
        wrong += [f"a stranger: {name} in {strangers[0].path}" for name, strangers in copies_held.items()]
        return [*wrong, *self._wrong_blocks(), *self._wrong_turns()]

    def _wrong_blocks(self) -> Iterator[str]:
        for project in self.projects:
            data = (project / "CLAUDE.md").read_bytes()
            if START in data:
                before, _, rest = data.partition(START)
                _, ended, behind = rest.partition(END)
                if not ended:
                    yield f"half a block: {project / 'CLAUDE.md'}"
                data = before + behind
            if (
                b"".join(data.split()) != b"".join("".join(MINE).encode().split())
                or data.count(b"\r\n") < 200
            ):
                yield f"a person's bytes changed: {project / 'CLAUDE.md'}"

    def _wrong_turns(self) -> Iterator[str]:
        bodies = [
            path.read_text(encoding="utf-8").partition("\n---\n")[2]
            for path in self.memory.rglob("conversations/**/*.md")
        ]
        text = "\n".join(bodies)
        for name, needed in self.turns.items():
            times = text.count(f"The mark {name}x is said once.")
            if times > 1:
                yield f"a turn kept {times} times: {name}"
            elif needed and not times:
                yield f"a turn lost: {name}"
            self.turns[name] = needed or times > 0

    def litter(self) -> list[Path]:
        """Return what unfinished writes are there."""
        return list(dict.fromkeys(unfinished([*self.roots, *self.projects])))

    def clean(self) -> commands.Ended:
        """Clean up as it is done two days later, when nobody finishes what was begun."""
        return commands.run(
            ("maintain", "clean", "--apply"),
            folder=self.projects[0],
            environment=self.environment,
            before=at(datetime.now(UTC) + timedelta(days=2)),
        )


def message(fact: Fact, version: int) -> bytes:
    """Return a conversation of one message that says *fact*."""
    return json.dumps([{"role": "user", "content": signed(fact.name, version)}]).encode()
