"""
How fast it is: `python benchmarks/latency.py`, every row of the budgets at several store sizes.

Memories and questions are made up (synthetic.py). Their vectors are random unit vectors: searching
costs the same whatever they mean, and embedding 100,000 texts would take half an hour.
With --write the table in README.md beside this file is replaced.
"""

import json
import os
import platform
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import anyio
import click
import numpy as np
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tabulate import tabulate

from benchmarks import synthetic
from mcp_server.actions.recall import recall
from mcp_server.actions.remember import remember
from mcp_server.actions.sync import rebuild, sync
from mcp_server.adapters import memory_file
from mcp_server.adapters.index import vectors
from mcp_server.adapters.vault import make_vault_folders
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.query import Mode, Query

ROOT = Path(__file__).resolve().parent.parent
ASKED = 200  # questions
STARTED = 15  # processes
DIMENSIONS = 384
BUDGETS = {
    "hybrid recall, p95": {1_000: "10 ms", 10_000: "20 ms", 100_000: "100 ms"},
    "remember, acknowledged, p95": "15 ms",
    "SessionStart process, p95": "100 ms",
    "prompt hook in the server, p95": "40 ms",
    "an edit is found by recall": "1 s",
    "rebuild, lexical": {10_000: "5 s"},
    "server memory, embedder loaded": {10_000: "250 MB"},
    "server memory, words only": {10_000: "100 MB"},
    "CLI recall --mode keyword, cold, p95": "300 ms",
}
START, END = "<!-- latency:start -->", "<!-- latency:end -->"

Figures = dict[str, dict[int, str]]


@click.command()
@click.option("--sizes", default="1000,10000,100000", show_default=True, help="Memories in the store.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--write", is_flag=True, help="Replace the table in README.md.")
def main(sizes: str, as_json: bool, write: bool) -> None:
    """Measure every latency and memory budget."""
    figures: Figures = {}
    for size in map(int, sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="daybook-latency-") as folder:
            for name, figure in measure(Path(folder), size):
                figures.setdefault(name, {})[size] = figure
                click.echo(f"{size:>7}  {name}: {figure}", err=True)
    if as_json:
        click.echo(json.dumps(figures, indent=2))
        return
    text = table(figures)
    click.echo(text)
    if write:
        readme = Path(__file__).with_name("README.md")
        before, _, rest = readme.read_text(encoding="utf-8").partition(START)
        after = rest.partition(END)[2]
        readme.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


def measure(folder: Path, size: int) -> Iterator[tuple[str, str]]:
    """Yield (row, figure) for a store of *size* memories below the empty *folder*."""
    project = folder / "project"
    project.mkdir()
    opened = Opened({"MEMORY_DIR": str(folder / "memory"), "HOME": str(folder)}, folder=project)
    store = opened.store()
    asked = fill(opened, size)

    started = time.perf_counter()
    rebuild(store)
    yield "rebuild, lexical", f"{time.perf_counter() - started:.1f} s"
    give_vectors(opened)

    questions = synthetic.questions(asked, ASKED + 10)
    for mode, name in ((Mode.HYBRID, "hybrid recall"), (Mode.KEYWORD, "keyword recall")):
        queries = [Query(text, mode=mode) for text in questions]
        times = [timed(partial(recall, opened.store(), query)) for query in queries]
        yield f"{name}, p50", f"{percentile(times[10:], 50):.1f} ms"
        yield f"{name}, p95", f"{percentile(times[10:], 95):.1f} ms"

    drafts = [Draft(f"{text} {number}", text) for number, text in enumerate(questions)]
    times = [timed(partial(remember, store, draft)) for draft in drafts]
    yield "remember, acknowledged, p95", f"{percentile(times, 95):.1f} ms"
    give_vectors(opened)

    environment = {**os.environ, "MEMORY_DIR": str(opened.home), "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    environment["CLAUDE_PROJECT_DIR"] = str(project)
    hook = [sys.executable, "-P", "-s", "-S", "-m", "mcp_server.doors.hooks", "SessionStart"]
    yield "SessionStart process, p95", f"{processes(hook, environment, b'{}'):.0f} ms"
    cli = [
        sys.executable,
        "-P",
        "-s",
        "-m",
        "mcp_server.doors.cli",
        "recall",
        questions[0],
        "--mode",
        "keyword",
    ]
    yield "CLI recall --mode keyword, cold, p95", f"{processes(cli, environment, b''):.0f} ms"

    path = Path(recall(store, Query(questions[0], limit=1)).hits[0].path)
    yield from served(environment, project, questions, path)


async def _served(
    environment: dict[str, str], project: Path, questions: Sequence[str], path: Path
) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for model, name in (("minilm-l6", "embedder loaded"), ("none", "words only")):
        server = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-s", "-m", "mcp_server"],
            env={**environment, "EMBEDDING_MODEL": model},
            cwd=project,
        )
        async with Client(stdio_client(server)) as client:
            times = []
            for number, text in enumerate(questions):
                hook = {"event": "UserPromptSubmit", "session_id": f"s{number}", "prompt": f"{text} please"}
                started = time.perf_counter()
                await client.call_tool("hook", hook)
                times.append((time.perf_counter() - started) * 1000)
                while number < 10 and model != "none" and "words only" in await asking(client, text):
                    await anyio.sleep(0.1)
            if model != "none":
                rows.append(("prompt hook in the server, p95", f"{percentile(times[10:], 95):.1f} ms"))
                rows.append(("an edit is found by recall", f"{await edited(client, path):.2f} s"))
            rows.append((f"server memory, {name}", f"{resident():.0f} MB"))
    return rows


def served(
    environment: dict[str, str], project: Path, questions: Sequence[str], path: Path
) -> list[tuple[str, str]]:
    """Return the rows that need a running server."""
    return anyio.run(_served, environment, project, questions, path)


async def asking(client: Client, text: str) -> str:
    result = await client.call_tool("recall", {"query": text, "limit": 1})
    return "".join(block.text for block in result.content if block.type == "text")


async def edited(client: Client, path: Path) -> float:
    """Return the seconds until a word written into a file by hand is found."""
    said = path.read_text(encoding="utf-8")
    path.write_text(f"{said}Xylotomous quagga.\n", encoding="utf-8")
    started = time.perf_counter()
    while "quagga" not in await asking(client, "xylotomous quagga"):
        await anyio.sleep(0.01)
    return time.perf_counter() - started


def fill(opened: Opened, size: int) -> list[synthetic.Memory]:
    """Write *size* memories as files and take them in; return some of them to ask about."""
    store = opened.store()
    vault = store.vaults[-1]
    make_vault_folders(vault)
    asked = []
    for number, memory in enumerate(synthetic.memories(size)):
        vault.path_for(memory.id, memory.kind).write_bytes(memory_file.render(memory))
        if number < 2000:
            asked.append(memory)
    sync(store)
    return asked


def give_vectors(opened: Opened) -> None:
    """Give every passage that has none a random unit vector."""
    meaning = opened.meaning()
    assert meaning
    chance = np.random.default_rng(0)
    while True:
        with opened.database.read() as db:
            batch = vectors.pending(db, 2000)
        if not batch:
            return
        made = chance.standard_normal((len(batch), DIMENSIONS)).astype("<f4")
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        with opened.database.write() as db:
            rows = zip((passage for passage, _, _ in batch), (row.tobytes() for row in made), strict=True)
            vectors.put_vectors(db, meaning.embedder.model, rows)


def processes(command: Sequence[str], environment: dict[str, str], stdin: bytes) -> float:
    """Return the p95 in milliseconds of whole runs of *command*, after one that does not count."""

    def run() -> None:
        subprocess.run(command, env=environment, input=stdin, capture_output=True, check=True)

    run()
    return percentile([timed(run) for _ in range(STARTED)], 95)


def timed(action: Callable[[], object]) -> float:
    """Return how many milliseconds *action* takes."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def percentile(values: Sequence[float], percent: int) -> float:
    return float(np.percentile(values, percent))


def resident() -> float:
    """Return the memory in megabytes of the one server that runs as our child (Linux)."""
    listed = subprocess.run(
        ["ps", "-o", "rss=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True
    )
    lines = [line for line in listed.stdout.splitlines() if line.rstrip().endswith("-m mcp_server")]
    return max(int(line.split()[0]) for line in lines) / 1024


def table(figures: Figures) -> str:
    """Return the figures as a markdown table, with what they were measured on."""
    sizes = sorted({size for found in figures.values() for size in found})
    rows = []
    for name, found in figures.items():
        budget = BUDGETS.get(name, "")
        said = (
            budget
            if isinstance(budget, str)
            else ", ".join(f"{size:,}: {most}" for size, most in budget.items())
        )
        rows.append([name, said, *(found.get(size, "") for size in sizes)])
    headers = ["what", "budget", *(f"{size:,} memories" for size in sizes)]
    return f"{tabulate(rows, headers, tablefmt='github')}\n\n{machine()}"


def machine() -> str:
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    cpu = model[1] if model else platform.processor()
    return (
        f"Measured {time.strftime('%Y-%m-%d')} on {os.cpu_count()} cores of {cpu}, {platform.system()},"
        f" Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}."
    )


if __name__ == "__main__":
    main()
