"""Whatever comes in: lines for the server, words for commands, hooks' input, config.toml, the ledger."""

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import click

from benchmarks.attack import commands
from benchmarks.attack.commands import Ended
from benchmarks.attack.outcome import Part, Round, Row
from mcp_server.doors.cli import daybook
from tests.doors.test_protocol_fuzz import CASES
from tests.durability.programs import odd_messages
from tests.durability.served import Served

LONGEST = 1200.0  # seconds for all messages of odd shapes
MOST = 4096  # bytes of a line that is changed at random
PIECES = (b"{", b"}", b"[", b'"', b"\\u0000", b"null", b"1e9", b"\0", b"\\ud800", b"99999999999999999999")
VALUES: tuple[object, ...] = (
    None, True, 0, -1, 1.5, 10**30, "", "x", "\0", "é" * 300, [], [[]], [1, "a", None], {}, {"a": {"b": []}},
    "../../etc/passwd", "2026-13-45T99:99:99Z", ["user/a"] * 300, "w " * 2000, "user/nobody-1234", -(2**63),
)  # fmt: skip
WORDS = (
    "", " ", "-", "--", "-x", "--json", "--limit", "-1", "0", "99999999999999999999", "1e400", "nan",
    "../../etc/passwd", "NEAR( AND *", '"', "'; DROP TABLE memories; --", "col:x", "*" * 5000, "é" * 3000,
    "\x1b[31m", "\u202e", "a|b", "|", "2026-13-45", "--level", "user", "galaxy", "--type", "decision",
    "/dev/null", "/dev/full", "/", ".", "~", "x\ny", "nobody-knows-1234", "all", "--approve", "--apply",
    "--dry-run", "[[a]]", "<!-- MEMORY:START -->", "%s%n", "{}",
)  # fmt: skip
SKIPPED = ("demo",)  # which makes a store of its own


def run(round_: Round) -> list[Row]:
    """Send `count` lines to a server, and a twentieth, a hundredth and so on of that elsewhere."""
    messages = _messages(round_)
    commands.warm_up()
    return [
        messages,
        _answers(round_),
        _row(round_, "words for commands", max(20, round_.count // 20), _arguments),
        _row(round_, "input and environment of hooks", max(10, round_.count // 200), _hooks),
        _row(round_, "config.toml, three commands each", max(10, round_.count // 300), _settings),
        _row(round_, "lines of the ledger, the index made anew", max(10, round_.count // 100), _ledgers),
    ]


def _messages(round_: Round) -> Row:
    rng = random.Random(round_.seed)
    project = round_.folder / "shop"
    project.mkdir(parents=True)
    lines = [
        message if isinstance(message, bytes) else json.dumps(message).encode() for message in CASES.values()
    ]
    short = [line for line in lines if len(line) < MOST]
    wrong: list[str] = []
    most = 0.0
    number = 0
    with Served(round_.folder / "memory", project) as server:
        server.greet()
        for number in range(1, round_.count + 1):
            line = lines[number - 1] if number <= len(lines) else changed(rng, rng.choice(short))
            if round_.planted and number == round_.count:
                server.process.kill()
            try:
                server.send(line.replace(b"\n", b" "))
                began = time.monotonic()
                assert server.ask("ping")["result"] == {}
                most = max(most, time.monotonic() - began)
            except (AssertionError, OSError) as error:
                wrong.append(f"line {number}, {line[:200]!r}: {error}")
                break
            if number % 2000 == 0:
                round_.progress(f"{number} of {round_.count} lines, {len(wrong)} wrong")
        wrong += [f"no JSON: {line[:200]!r}" for line in server.noise]
        peak = _peak(server.process.pid)
    figures = f"slowest ping {most:.2f} s; {peak / 1024:.0f} MB at most" if peak else ""
    return Row("lines for the server, a ping behind each: deaths, no answer, no JSON", number, wrong, figures)


def _peak(pid: int) -> int:
    """Return the most memory that the process had, in KiB; 0 when it is gone or the system does not tell."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1])
    return 0


def _answers(round_: Round) -> Row:
    """Send messages of any shape, and count the answers to each of their ids."""
    count = max(40, round_.count // 4)
    report = commands.program(
        _odd_messages, str(count), str(round_.seed),
        folder=round_.folder, within=LONGEST, before=_swallow if round_.planted else None,
    )  # fmt: skip
    wrong = [f"{name}: {number}" for name in ("too seldom", "too often", "noise") for number in report[name]]
    round_.progress(f"{count} messages of odd shapes, {len(wrong)} wrong")
    return Row(ANSWERED, count, wrong)


def _odd_messages() -> None:
    odd_messages.main(*map(int, sys.argv[1:]))


def _swallow() -> None:
    """The planted fault: an answer goes away."""
    odd_messages.exchange = lambda server, messages: (["planted"], [])


ANSWERED = "messages of odd shapes: ids answered not once, no JSON"


def changed(rng: random.Random, line: bytes) -> bytes:
    """Return *line* with up to five changes at random places."""
    changed_line = bytearray(line)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(changed_line) + 1)
        match rng.randrange(4):
            case 0:
                changed_line[at : at + 1] = rng.randbytes(rng.randrange(1, 4))
            case 1:
                del changed_line[at : at + rng.randrange(1, 20)]
            case 2:
                changed_line[at:at] = changed_line[: rng.randrange(40)]
            case _:
                changed_line[at:at] = rng.choice(PIECES)
    return bytes(changed_line)


Tries = Callable[[random.Random, Path, dict[str, str]], Iterator[tuple[str, Ended]]]


def _row(round_: Round, title: str, count: int, tries: Tries) -> Row:
    """Take *count* tries, and look at how each ended."""
    rng = random.Random(f"{round_.seed} {title}")
    folder = round_.folder / title.split()[0]
    project = folder / "shop"
    project.mkdir(parents=True)
    environment = {
        **os.environ,
        "MEMORY_DIR": str(folder / "memory"),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
    }
    wrong: list[str] = []
    tried, slowest = 0, 0.0
    for input_text, came in tries(rng, project, environment):
        tried += 1
        ended = came
        slowest = max(slowest, ended.seconds)
        if round_.planted and tried == count:
            ended = Ended(commands.TRACEBACK, "", "Traceback (most recent call last)", 0.0)
        if ended.code is None:
            wrong.append(f"no end within {commands.LIMIT:.0f} s: {input_text[:300]}")
        elif ended.code == commands.TRACEBACK or "Traceback" in ended.error:
            wrong.append(f"a traceback: {input_text[:300]}: {ended.error.strip()[-200:]}")
        if tried >= count:
            break
    round_.progress(f"{tried} {title}, {len(wrong)} wrong")
    return Row(f"{title}: tracebacks, hangs", tried, wrong, f"slowest {slowest:.1f} s")


def _arguments(rng: random.Random, project: Path, environment: dict[str, str]) -> Iterator[tuple[str, Ended]]:
    context = click.Context(daybook)
    names = [name for name in daybook.list_commands(context) if name not in SKIPPED]
    commands.run(("remember", "A thing | that is known"), folder=project, environment=environment)
    while True:
        for name in names:
            command = daybook.get_command(context, name)
            assert command
            options = [
                option for parameter in command.params for option in parameter.opts if option.startswith("-")
            ]
            words = [name, *rng.choices((*WORDS, *options), k=rng.randrange(5))]
            yield (
                repr(words),
                commands.run(words, folder=project, environment=environment, stdin=rng.choice(STDIN)),
            )


VARIABLES = ("CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_DATA", "DAYBOOK_HOOKS")
STDIN = (b"", b"\xff\xfe\0", b"[]", b"x" * 100_000, b"\0" * 100, b'[{"role": 1}]', b"{" * 5000)


def _hooks(rng: random.Random, project: Path, environment: dict[str, str]) -> Iterator[tuple[str, Ended]]:
    fields = ("session_id", "transcript_path", "cwd", "source", "reason", "hook_event_name", "prompt")
    long = ("x" * 10_000, "x" * 300_000, "x" * (4 << 20), "../" * 2000, "\0", "\ud800", str(project))
    while True:
        event = rng.choice(("SessionStart", "SessionEnd", "SessionStart", "Nothing"))
        hook_fields = {field: rng.choice((*VALUES, *long)) for field in fields if rng.random() < 0.7}
        stdin = rng.choice(
            (
                json.dumps(hook_fields).encode(),
                json.dumps(hook_fields).encode(),
                changed(rng, json.dumps(hook_fields).encode()),
            )
        )
        odd = {name: rng.choice(("", "/", "x" * 5000, "/dev/null", "~")) for name in VARIABLES}
        settings = environment | {name: value for name, value in odd.items() if rng.random() < 0.3}
        yield f"{event} {stdin[:300]!r}", commands.hook(event, stdin, folder=project, environment=settings)


def _settings(rng: random.Random, project: Path, environment: dict[str, str]) -> Iterator[tuple[str, Ended]]:
    names = (
        "capture",
        "daily_usd",
        "daily_calls",
        "embedding_model",
        "model_calls",
        "auto_archive_days",
        "api_key",
    )
    values = (
        "1",
        "-1",
        '"x"',
        "[]",
        "{}",
        "1e999",
        "nan",
        "true",
        '"\\u0000"',
        "1979-05-27",
        "9" * 400,
        "[[1]]",
    )
    whole = (
        b"[" * 100_000, b"a = " + b"{a=" * 3000, b"\xff\xfe", b"\0" * 1000, b"=", b"a" * (5 << 20),
        b"[a]\n[a]\n", b'a = "' + b"x" * 100_000, b"a.b" * 5000 + b" = 1", b"\xef\xbb\xbfcapture = 1",
    )  # fmt: skip
    path = Path(environment["MEMORY_DIR"]) / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    number = 0
    while True:
        lines = [f"{rng.choice(names)} = {rng.choice(values)}" for _ in range(rng.randrange(1, 4))]
        data = whole[number] if number < len(whole) else "\n".join(lines).encode()
        number += 1
        path.write_bytes(data)
        for words in (("recall", "thing"), ("status",), ("remember", "A | b")):
            yield f"{words} {data[:100]!r}", commands.run(words, folder=project, environment=environment)


def _ledgers(rng: random.Random, project: Path, environment: dict[str, str]) -> Iterator[tuple[str, Ended]]:
    memory = Path(environment["MEMORY_DIR"])
    commands.run(("remember", "A thing | that is known"), folder=project, environment=environment)
    (path,) = (memory / "ledger").glob("*.jsonl")
    first = json.loads(path.read_bytes().splitlines()[0])
    events = """recalled injected forgotten accepted judged sighted transcript_seen transcript_learned moved
        model_called imported linked trusted session seeded tidied""".split()
    fields = """refs at session digests tokens why path end from candidates verdict usd seconds key folder
        forever score entries run""".split()
    while True:
        lines = []
        for _ in range(5):
            event = {
                **first,
                "event": rng.choice(events),
                **{field: rng.choice(VALUES) for field in rng.choices(fields, k=6)},
            }
            for name in list(event):
                if rng.random() < 0.1:
                    event[name] = rng.choice(VALUES)
            line = json.dumps(event).encode()
            lines.append(changed(rng, line).replace(b"\n", b" ") if rng.random() < 0.3 else line)
        with open(path, "ab") as ledger:
            ledger.write(b"\n".join(lines) + b"\n")
        for old in memory.glob("memory.db*"):
            old.unlink()
        words = rng.choice(
            (("recall", "thing"), ("audit",), ("status",), ("quality",), ("metrics",), ("brief",), ("hot",))
        )
        yield f"{words} {lines!r}"[:600], commands.run(words, folder=project, environment=environment)


PART = Part(
    "fuzz",
    "lines for the server with a ping behind each; words, hooks' input, settings and ledgers for commands",
    count=20_000,
    quick=400,
    run=run,
    longest=2400,
)
