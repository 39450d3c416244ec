"""One real server that answers thousands of calls of a day's mix, the embedding model switched on."""

import os
import random
import select
import statistics
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.attack.outcome import Part, Round, Row
from tests.durability.served import Served

MEMORIES = 300  # so many are there from the first twentieth on
WORDS = "invoice webhook retry cart postgres window ledger token deploy cache queue tenant price tax".split()
MIX = {
    "recall": 35, "read_memory": 15, "hook": 15, "list_memories": 8, "remember": 10, "revise": 8, "forget": 7,
    "restore_memory": 2,
}  # fmt: skip
LONGEST_EXIT = 2.0  # seconds from the end of its input
GROWTH = 1.15  # times that the memory may grow after the first twentieth


@dataclass(frozen=True, slots=True)
class Look:
    """What a process takes: resident megabytes, threads, descriptors."""

    megabytes: float
    threads: int
    descriptors: int


def run(round_: Round) -> list[Row]:
    """Call the server `count` times; compare its use and the time of recall at the beginning and the end."""
    rng = random.Random(round_.seed)
    memory, project = round_.folder / "memory", round_.folder / "shop"
    project.mkdir(parents=True)
    live: list[str] = []
    gone: list[str] = []
    times: dict[int, list[float]] = defaultdict(list)
    wrong: list[str] = []
    looks: list[Look] = []
    part = min(max(round_.count // 20, 200), round_.count)
    with Served(memory, project, EMBEDDING_MODEL="minilm-l6") as server:
        server.greet()
        leaked = []
        for number in range(round_.count):
            tool = _tool(rng, live, gone, min(MEMORIES // 2, part // 4))
            began = time.perf_counter()
            try:
                _call(server, tool, number, rng, live, gone)
            except AssertionError as error:
                wrong.append(f"call {number}, {tool}: {error}"[:400])
                if server.process.poll() is not None:
                    break
            if tool == "recall":
                times[number // part].append((time.perf_counter() - began) * 1000)
            if number % part == part - 1:
                looks.append(_look(server.process.pid))
                round_.progress(f"{number + 1} of {round_.count}: {looks[-1]}")
            if round_.planted:
                leaked.append(os.open(project, os.O_RDONLY))
        exits = _exit(server)
    if round_.planted:
        looks.append(replace(looks[-1], descriptors=looks[-1].descriptors + len(leaked)))
    first, last = looks[0], looks[-1]
    recalls = [statistics.median(times[key]) for key in sorted(times)]
    wrong += judged(first, last, exits)
    figures = (
        f"{first.megabytes:.0f} MB after {part:,} calls, {last.megabytes:.0f} at the end; threads"
        f" {first.threads} and {last.threads}, descriptors {first.descriptors} and {last.descriptors}; recall"
        f" p50 {recalls[min(1, len(recalls) - 1)]:.1f} and {recalls[-1]:.1f} ms;"
        f" ended {exits:.2f} s after its input"
    )
    return [Row("calls of one server: errors, growth, late exit", round_.count, wrong, figures)]


def judged(first: Look, last: Look, exits: float) -> list[str]:
    """Return what grew between two looks, and whether the server ended late."""
    wrong = []
    if last.megabytes > first.megabytes * GROWTH:
        wrong.append(f"memory grew: {first.megabytes:.0f} to {last.megabytes:.0f} MB")
    if last.threads > first.threads + 2:
        wrong.append(f"threads grew: {first.threads} to {last.threads}")
    if last.descriptors > first.descriptors + 4:
        wrong.append(f"descriptors grew: {first.descriptors} to {last.descriptors}")
    if exits > LONGEST_EXIT:
        wrong.append(f"it ended {exits:.1f} s after its input")
    return wrong


def _tool(rng: random.Random, live: list[str], gone: list[str], least: int) -> str:
    if len(live) < least:
        return "remember"
    (tool,) = rng.choices(list(MIX), list(MIX.values()))
    if (tool == "restore_memory" and not gone) or (tool == "remember" and len(live) >= MEMORIES):
        return "forget"
    return tool


def _call(
    server: Served, tool: str, number: int, rng: random.Random, live: list[str], gone: list[str]
) -> None:
    words = " ".join(rng.choices(WORDS, k=5))
    arguments: dict[str, object] = {}
    match tool:
        case "remember":
            text = f"{words} " * rng.randrange(2, 40)
            arguments = {"title": f"{words} {number}", "content": f"Number {number}: {text}"}
        case "recall":
            arguments = {"query": words}
        case "hook":
            arguments = {"event": "UserPromptSubmit", "session_id": f"s{number // 50}", "prompt": f"{words}?"}
        case "revise":
            arguments = {"id": rng.choice(live), "content": f"Changed in call {number}: {words}"}
        case "read_memory":
            arguments = {"id": rng.choice(live)}
        case "forget":
            gone.append(live.pop(rng.randrange(len(live))))
            arguments = {"id": gone[-1]}
        case "restore_memory":
            live.append(gone.pop())
            arguments = {"id": live[-1]}
    answer = server.ask("tools/call", {"name": tool, "arguments": arguments})
    assert "result" in answer, answer
    result = answer["result"]
    assert not result.get("isError"), result
    if tool == "remember":
        (content,) = result["content"][:1]
        live.append(content["text"].split(":", 1)[0].split()[0])


def _look(pid: int) -> Look:
    process = Path(f"/proc/{pid}")
    status = dict(
        line.split(":", 1) for line in (process / "status").read_text(encoding="ascii").splitlines()
    )
    return Look(
        int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"]), len(list((process / "fd").iterdir()))
    )


def _exit(server: Served) -> float:
    """Close the server's input, and return after how many seconds it has ended."""
    assert server.process.stdin
    began = time.monotonic()
    server.process.stdin.close()
    while server.process.poll() is None and time.monotonic() < began + 2 * LONGEST_EXIT:
        select.select([], [], [], 0.005)
    return time.monotonic() - began


PART = Part(
    "soak",
    "calls of one server with the embedding model, in the mix of a day",
    count=20_000,
    quick=400,
    run=run,
    longest=1800,
)
