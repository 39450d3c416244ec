"""
Writers that are killed at random moments, and a checker of what they left behind.

    python killed_writers.py FOLDER KILLS SEED daybook|naive

Starts two writers at a time, each a fork of this warmed process, which holds no connection and no
thread. Every writer says on a pipe what it is about to do and, when it was told that it is done, that
it is. After each kill the files must say what was acknowledged, or, for the one thing that was under
way, what was before or after it. Ends after KILLS, when a quarter as many things were acknowledged, or when
every fault that it looks for was found. Prints a JSON report.
"""

import contextlib
import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from endless_writers import (
    ACTIVE,
    FORGOTTEN,
    Daybook,
    Expected,
    Naive,
    is_whole,
    signed,
    warm_up,
    write_for_ever,
)

from mcp_server import bootstrap
from mcp_server.adapters import memory_file, vault
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory_parts import Kind
from tests.patience import PATIENCE

WRITERS = 2
LONGEST_LIFE = 0.1  # seconds of every fourth writer, from its birth
MOST_LINES = 40  # that another one says before it is killed, however slow it is
LONGEST_REST = 0.005  # seconds that it goes on then


@dataclass
class Writer:
    """A child that writes; its life counts from its birth, or from when it has said so many lines."""

    pid: int
    model: dict[str, Expected]
    life: float
    counted: bool
    lines: int
    alive: bool = True
    ended: bool = False
    end: float = 0.0

    def __post_init__(self) -> None:
        self.end = time.monotonic() + (self.life if self.counted else PATIENCE)


@dataclass
class Report:
    kills: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    resurrected: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    unfinished: int = 0

    def has_every_fault(self) -> bool:
        return bool(self.lost and self.torn and self.resurrected)

    def is_enough(self, kills: int, kind: type[Daybook] | type[Naive]) -> bool:
        """Tell whether it ends: slow writers need more kills to tell something."""
        if self.has_every_fault() or self.kills >= 20 * kills:
            return True
        return kind is Daybook and self.kills >= kills and self.acknowledged > kills / 4


def run(folder: Path, kills: int, seed: int, kind: type[Daybook] | type[Naive]) -> Report:
    rng = random.Random(seed)
    report = Report()
    models: list[dict[str, Expected]] = [{} for _ in range(WRITERS)]
    while not report.is_enough(kills, kind):
        writers: dict[int, Writer] = {}
        for model in models:
            reading, writing = os.pipe()
            number = rng.randrange(1 << 30)
            child = os.fork()
            if child == 0:
                os.close(reading)
                write_for_ever(kind, folder, model, number, writing)
                os._exit(0)
            os.close(writing)
            from_birth = rng.random() < 0.25
            life = rng.uniform(0.001, LONGEST_LIFE) if from_birth else rng.uniform(0, LONGEST_REST)
            writers[reading] = Writer(child, model, life, from_birth, rng.randint(1, MOST_LINES))
        lines_by_pipe = _kill_on_time(writers)
        for reading, writer in writers.items():
            report.kills += 1
            _compare(folder, writer.model, lines_by_pipe[reading], report)
    for model in models:
        for memory_id, expected in model.items():
            _check(folder, memory_id, [expected], report)
    _look_at_every_file(folder, report)
    return report


def _kill_on_time(writers: dict[int, Writer]) -> dict[int, list[dict[str, Any]]]:
    """Kill every writer at its time, and return what each said until then."""
    data_by_pipe = dict.fromkeys(writers, b"")
    while open_ := [reading for reading, writer in writers.items() if not writer.ended]:
        now = time.monotonic()
        ends = [writers[reading].end for reading in open_]
        for reading in select.select(open_, [], [], max(0, min(ends) - now))[0]:
            part = os.read(reading, 1 << 20)
            data_by_pipe[reading] += part
            writer = writers[reading]
            if not writer.counted and data_by_pipe[reading].count(b"\n") >= writer.lines:
                writer.counted, writer.end = True, time.monotonic() + writer.life
            if not part:
                writer.ended = True
                os.close(reading)
        for writer in writers.values():
            if writer.alive and time.monotonic() >= writer.end:
                os.kill(writer.pid, signal.SIGKILL)
                os.waitpid(writer.pid, 0)
                writer.alive, writer.end = False, now + 10
    # What the kill cut short was not said.
    return {key: [json.loads(line) for line in text.split(b"\n")[:-1]] for key, text in data_by_pipe.items()}


def _compare(folder: Path, model: dict[str, Expected], lines: list[dict[str, Any]], report: Report) -> None:
    """Bring *model* up to what was acknowledged, and compare the files with it."""
    touched: dict[str, list[Expected]] = {}
    for line in lines:
        if "error" in line:
            report.errors.append(line["error"])
        if "id" not in line:
            continue
        memory_id = line["id"]
        before = model.get(memory_id)
        text = signed(line["sign"]) if "sign" in line else before.text if before else ""
        after = Expected(FORGOTTEN if line["verb"] == "forget" else ACTIVE, text)
        if line["done"]:
            report.acknowledged += 1
            model[memory_id] = after
            touched[memory_id] = [after]
        else:
            touched[memory_id] = [expected for expected in (before, after) if expected]
    for memory_id, allowed in touched.items():
        checked = _check(folder, memory_id, allowed, report)
        if checked:
            model[memory_id] = checked  # of what was under way, either is right


def _check(folder: Path, memory_id: str, allowed: list[Expected], report: Report) -> Expected | None:
    active = _text(folder / "knowledge" / f"{memory_id}.md", report)
    trashed = {_text(path, report) for path in _in_trash(folder, memory_id)}
    for expected in allowed:
        if expected.state == ACTIVE and active == expected.text:
            return expected
        if expected.state == FORGOTTEN and active is None and expected.text in trashed:
            return expected
    if active is not None and all(expected.state == FORGOTTEN for expected in allowed):
        report.resurrected.append(memory_id)
    else:
        report.lost.append(memory_id)
    return None


def _in_trash(folder: Path, memory_id: str) -> Iterator[Path]:
    trash = folder / "trash" / "user" / "knowledge"
    yield from trash.glob(f"{memory_id}.md")
    yield from trash.glob(f"{memory_id}.*.md")


def _text(path: Path, report: Report) -> str | None:
    """Return the text of a memory's file, None when there is none; note a torn one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    with contextlib.suppress(DaybookError):
        text = memory_file.parse(
            data, path=str(path), kind=Kind.KNOWLEDGE, archived=False, modified=bootstrap.now()
        ).text
        if is_whole(text):
            return text
    report.torn.append(str(path))
    return None


def _look_at_every_file(folder: Path, report: Report) -> None:
    listed = vault.stamps(vault.Vault("user", folder, vault.Level.USER))
    for stamp in listed:
        _text(Path(stamp.path), report)
    visible = {Path(stamp.path).name for stamp in listed}
    report.unfinished = sum(1 for path in folder.rglob(".daybook-*"))
    report.torn += [name for name in visible if not name.startswith("kept-")]


if __name__ == "__main__":
    place, number, start, name = sys.argv[1:]
    warm_up()
    report = run(Path(place), int(number), int(start), {"daybook": Daybook, "naive": Naive}[name])
    print(json.dumps(report.__dict__))
