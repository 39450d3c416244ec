"""
How fast it is, and how much memory it takes: `python benchmarks/latency.py`.

Memories and questions are made up (synthetic.py), and their vectors are random unit vectors: searching
costs the same whatever they mean, and embedding 100,000 texts would take half an hour. Questions are
embedded for real. With --write the table in results/speed.md is replaced.
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
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as bin/daybook has it
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the environment that it makes has bytecode

import click
import numpy as np
from tabulate import tabulate

from benchmarks import synthetic
from benchmarks.measured_server import beside, served, started
from benchmarks.pages import replace_table
from benchmarks.synthetic_store import give_vectors, make_index, open_empty, write_files
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.search import vectors
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Mode, Query

ROOT = Path(__file__).resolve().parent.parent
ASKED = 210  # questions, of which the first 10 do not count
PROCESSES = 20
EMBEDDED = 200  # passages


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that is measured; `budgets` holds for the given numbers of memories, 0 for any."""

    name: str
    unit: str
    budgets: dict[int, float]

    def budget(self, size: int) -> float:
        return self.budgets.get(size, self.budgets.get(0, float("inf")))


ROWS = (
    Row("hybrid recall, p50", "ms", {}),
    Row("hybrid recall, p95", "ms", {1_000: 10, 10_000: 20, 100_000: 100}),
    Row("keyword recall, p50", "ms", {}),
    Row("keyword recall, p95", "ms", {}),
    Row("remember until acknowledged, p95", "ms", {0: 15}),
    Row("remember with what is near, p95", "ms", {0: 40}),
    Row("SessionStart hook, a process, p95", "ms", {0: 100}),
    Row("server, start to its first hook answer, median of the processor", "ms", {0: 250}),
    Row("prompt hook that finds nothing, p95", "ms", {0: 40}),
    Row("prompt hook that shows memories, p95", "ms", {0: 40}),
    Row("prompt hook, three sentences, p95", "ms", {0: 40}),
    Row("prompt hook, four servers at once and one remembering, p95", "ms", {}),
    Row("daybook recall --mode keyword, cold, p95", "ms", {0: 300}),
    Row("an edit is found by recall, slowest of 10", "s", {0: 1}),
    Row("rebuild of the index, by words", "s", {10_000: 5}),
    Row("passages embedded", "1/s", {}),
    Row("server memory, embedder loaded", "MB", {1_000: 250, 10_000: 250}),
    Row("memory of four servers, what they share once", "MB", {1_000: 500, 10_000: 500}),
    Row("server memory, words only", "MB", {1_000: 100, 10_000: 100}),
)

Figures = dict[str, dict[int, float]]


@click.command()
@click.option("--sizes", default="1000,10000,100000", show_default=True, help="Memories in the store.")
@click.option(
    "--searching", is_flag=True, help="Only the index, its vectors and recall, for a million memories."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--write", is_flag=True, help="Replace the table in results/speed.md.")
def main(sizes: str, searching: bool, as_json: bool, write: bool) -> None:
    """Measure every row of the latency and memory budgets."""
    figures: Figures = {row.name: {} for row in ROWS}
    for size in map(int, sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="daybook-latency-") as folder:
            for name, figure in measure(Path(folder), size, searching=searching):
                figures[name][size] = figure
                click.echo(f"{size:>7}  {name}: {figure:.4g}", err=True)
    if as_json:
        click.echo(json.dumps({"machine": machine(), "rows": figures}, indent=2))
    else:
        click.echo(table(figures))
    if write:
        replace_table("speed", "latency", table(figures))


def measure(folder: Path, size: int, *, searching: bool = False) -> Iterator[tuple[str, float]]:
    """Yield (row, figure) for a store of *size* memories below the empty *folder*; *searching*: few rows."""
    opened = open_empty(folder)
    memories = write_files(opened, size)
    yield "rebuild of the index, by words", timed(partial(make_index, opened)) / 1000
    questions = synthetic.questions(memories, ASKED)
    yield "passages embedded", embedded_in_a_second(opened)
    give_vectors(opened)
    for mode in (Mode.HYBRID, Mode.KEYWORD):
        times = [
            timed(lambda query: recall(opened.store(), query), Query(text, mode=mode)) for text in questions
        ]
        yield f"{mode.value} recall, p50", percentile(times[10:], 50)
        yield f"{mode.value} recall, p95", percentile(times[10:], 95)
    if searching:
        return

    drafts = [Draft(text, f"{text} (note {number})") for number, text in enumerate(questions)]
    half = len(drafts) // 2
    times = [timed(partial(remember, opened.store()), draft) for draft in drafts[:half]]
    yield "remember until acknowledged, p95", percentile(times, 95)
    times = [timed(partial(compare_and_store, opened.store()), draft) for draft in drafts[half:]]
    yield "remember with what is near, p95", percentile(times, 95)
    give_vectors(opened)

    project = opened.folder
    environment = {**os.environ, "MEMORY_DIR": str(opened.home), "HOME": str(folder)}
    environment |= {"CLAUDE_PROJECT_DIR": str(project), "PYTHONPATH": str(ROOT)}
    start = partial(subprocess.run, env=environment, input=b"{}", capture_output=True, check=True)
    times = [timed(start, command("hook", "SessionStart")) for _ in range(PROCESSES)]
    yield "SessionStart hook, a process, p95", percentile(times[1:], 95)
    recalls = [command("recall", text, "--mode", "keyword") for text in questions[:PROCESSES]]
    times = [timed(start, words) for words in recalls]
    yield "daybook recall --mode keyword, cold, p95", percentile(times[1:], 95)
    starts = [started(command("serve"), environment, project, text) for text in questions[:PROCESSES]]
    times = [processor for processor, _ in starts[1:]]
    yield "server, start to its first hook answer, median of the processor", percentile(times, 50)

    path = Path(recall(opened.store(), Query(questions[0], limit=1)).hits[0].path)
    serve = partial(served, command("serve"), project=project, questions=questions, path=path)
    server = serve(environment={**environment, "EMBEDDING_MODEL": "minilm-l6"})
    yield "prompt hook that finds nothing, p95", percentile(server.hooks, 95)
    yield "prompt hook, three sentences, p95", percentile(server.hooks_of_three, 95)
    yield "an edit is found by recall, slowest of 10", max(server.edits)
    yield "server memory, embedder loaded", server.memory
    times, memory = beside(
        command("serve"), {**environment, "EMBEDDING_MODEL": "minilm-l6"}, project, questions
    )
    yield "prompt hook, four servers at once and one remembering, p95", percentile(times, 95)
    yield "memory of four servers, what they share once", memory
    # Random vectors agree with no question; by words alone each question finds what it was made of.
    server = serve(environment={**environment, "EMBEDDING_MODEL": "none"})
    yield "prompt hook that shows memories, p95", percentile(server.hooks, 95)
    yield "server memory, words only", server.memory


def embedded_in_a_second(opened: Opened) -> float:
    """Return how many of the first 200 passages that have no vector are embedded in a second."""
    meaning = opened.meaning()
    assert meaning
    with opened.database.read() as db:
        texts = [text for _, _, text in vectors.pending(db, meaning.embedder.model, EMBEDDED)]
    return len(texts) / timed(meaning.embedder.embed_passages, texts) * 1000


def command(*words: str) -> list[str]:
    """Return how *words* are started: by bin/daybook, or by its Python when that has no environment here."""
    if launched():
        return [str(ROOT / "bin" / "daybook"), *words]
    python = [sys.executable, "-P", "-s"]
    match words:
        case ("hook", event):
            return [*python, "-S", "-m", "mcp_server.doors.hooks", event]
        case ("serve",):
            return [*python, "-m", "mcp_server"]
        case _:
            return [*python, "-m", "mcp_server.doors.cli", *words]


def launched() -> bool:
    """Tell whether bin/daybook is ready to start what it is asked for."""
    environment = Path(os.environ.get("DAYBOOK_VENV", ROOT / ".venv"))
    try:
        return (environment / ".daybook-ready").read_text() == (ROOT / "requirements.txt").read_text()
    except FileNotFoundError:
        return False


def timed(action: Callable[..., object], *arguments: object) -> float:
    """Return how many milliseconds *action* takes."""
    started = time.perf_counter()
    action(*arguments)
    return (time.perf_counter() - started) * 1000


def percentile(values: Sequence[float], percent: int) -> float:
    return float(np.percentile(values, percent))


def table(figures: Figures) -> str:
    """Return the figures as a markdown table, those over budget in bold, and what they were measured on."""
    sizes = sorted({size for of_row in figures.values() for size in of_row})
    rows = []
    for row in ROWS:
        figure_of = figures[row.name]
        cells = [_cell(row, size, figure_of[size]) if size in figure_of else "" for size in sizes]
        rows.append([row.name, " / ".join(f"{most:g}" for most in row.budgets.values()), row.unit, *cells])
    headers = ["what", "budget", "unit", *(f"{size:,} memories" for size in sizes)]
    return f"{tabulate(rows, headers, tablefmt='github', disable_numparse=True)}\n\n{machine()}"


def machine() -> str:
    """Return what the figures were measured on, and when."""
    try:
        cpu_line = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except FileNotFoundError:
        cpu_line = None
    cpu = cpu_line[1] if cpu_line else platform.processor()
    by = "bin/daybook" if launched() else "Python"
    return (
        f"Measured on {time.strftime('%Y-%m-%d')} on {os.cpu_count()} cores of {cpu}, {platform.system()},"
        f" Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}; processes started by {by}."
    )


def _cell(row: Row, size: int, figure: float) -> str:
    figure_text = f"{figure:.0f}" if figure >= 100 else f"{figure:.1f}" if figure >= 1 else f"{figure:.2f}"
    return figure_text if figure <= row.budget(size) else f"**{figure_text}**"


if __name__ == "__main__":
    main()
