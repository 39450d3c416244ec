"""
What links, the graph and upkeep cost in a large store: `python benchmarks/curation.py [--write]`.

10,000 made-up memories with 30,000 links between them (a third of them labelled by somebody), 400 of them put
through the graph's tools, which is more than a level may show. Vectors are random, as in latency.py.
"""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as bin/daybook has it
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the environment that it makes has bytecode

import click
from tabulate import tabulate

from benchmarks import synthetic
from benchmarks.latency import ROOT, command, machine, percentile, timed
from benchmarks.pages import replace_table
from benchmarks.synthetic_store import give_vectors, make_index, open_empty
from mcp_server.actions.context.brief import brief
from mcp_server.actions.exchange.seed import bootstrap_project
from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.graph.kg import put_edge, put_node
from mcp_server.actions.graph.sync import register, sync_graph
from mcp_server.actions.judge.contradiction import find_contradictions
from mcp_server.actions.memory.related import get_related
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.age import compacted
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters import memory_file
from mcp_server.adapters.vault import make_vault_folders
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Link, Memory
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Query

MEMORIES, LINKS, NODES = 10_000, 30_000, 400
LABELS = ("relates-to", "relates-to", "depends-on")
TIMES = 60
PROCESSES = 20
PROJECT = Level.PROJECT


@click.command()
@click.option("--write", is_flag=True, help="Replace the table in results/upkeep.md.")
def main(write: bool) -> None:
    """Measure what links, the graph and upkeep cost."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="daybook-curation-") as folder:
        for title, times in measure(Path(folder)):
            rows.append([title, f"{percentile(times, 50):.1f}", f"{percentile(times, 95):.1f}", len(times)])
            click.echo(rows[-1], err=True)
    table = tabulate(rows, ["what", "p50 ms", "p95 ms", "times"], "github", disable_numparse=True)
    table_text = f"{table}\n\n{machine()}"
    click.echo(table_text)
    if write:
        replace_table("upkeep", "curation", table_text)


def measure(folder: Path) -> Iterator[tuple[str, list[float]]]:
    """Yield (what, milliseconds of each time) for a store below the empty *folder*."""
    opened = open_empty(folder)
    memories = write_linked(opened)
    make_index(opened)
    give_vectors(opened)
    store = opened.store()
    chance = random.Random(2)
    names = [memory.id for memory in chance.choices(memories, k=TIMES)]
    questions = synthetic.questions(memories, TIMES + 10)
    recall(store, Query(questions[0]))

    yield "hybrid recall", [timed(recall, store, Query(text)) for text in questions[10:]]
    yield (
        "hybrid recall with expansion along links",
        [timed(recall, store, Query(text, expand=True)) for text in questions[10:]],
    )
    yield "what a memory is linked with (get_related)", [timed(get_related, store, name) for name in names]
    yield "kg_read", [timed(read_graph, store) for _ in range(TIMES)]
    session, other_session = (
        register(store.in_session(name), folder=str(folder)) for name in ("one", "other")
    )
    own = store.in_session(session)
    put_times, drawn, synced = [], [], []
    for number in range(TIMES):
        node = f"new-{number}"
        put_times.append(timed(put_node, own, PROJECT, node, f"Insight number {number}."))
        drawn.append(timed(put_edge, own, PROJECT, node, names[0], "depends-on"))
        synced.append(timed(sync_graph, store, other_session))
    yield "kg_put_node", put_times
    yield "kg_put_edge", drawn
    yield "kg_sync, one node and one edge new", synced
    keys = [vault.key for vault in store.vaults]
    yield (
        "what compaction would archive",
        [timed(lambda: list(compacted(store, keys))) for _ in range(TIMES // 10)],
    )
    yield "find_contradictions", [timed(find_contradictions, store) for _ in range(TIMES // 10)]
    yield "tidy --dry-run", [timed(partial(tidy, dry_run=True), store) for _ in range(3)]
    yield "the brief, in a process that runs", [timed(brief, store) for _ in range(TIMES)]
    environment = {**os.environ, "MEMORY_DIR": str(opened.home), "HOME": str(folder)}
    environment |= {"CLAUDE_PROJECT_DIR": str(opened.folder), "PYTHONPATH": str(ROOT)}
    start = partial(subprocess.run, env=environment, input=b"{}", capture_output=True, check=True)
    started = [timed(start, command("hook", "SessionStart")) for _ in range(PROCESSES + 1)]
    yield "SessionStart hook, a process", started[1:]
    projects = [documented(folder / f"documented {number}") for number in range(3)]
    yield (
        "bootstrap of twenty documents",
        [timed(bootstrap_project, project_store.store()) for project_store in projects],
    )


def documented(folder: Path) -> Opened:
    """Return an empty store, seen from a project with twenty documents of twelve parts."""
    folder.mkdir()
    opened = open_empty(folder)
    (opened.folder / "docs").mkdir()
    for number in range(20):
        parts = [f"## Part {part}\n\nDocument {number} says {part} things about it.\n" for part in range(12)]
        text = "\n".join([f"# Guide {number}\n", *parts])
        (opened.folder / f"docs/{number:02}.md").write_text(text, encoding="utf-8")
    return opened


def write_linked(opened: Opened) -> list[Memory]:
    """Write the memories with their links into the project's vault, past the index; return all of them."""
    vault = opened.store().vaults[-1]
    make_vault_folders(vault)
    memories = list(synthetic.memories(MEMORIES))
    chance = random.Random(1)
    links: list[list[Link]] = [[] for _ in memories]
    for _ in range(LINKS):
        links[chance.randrange(MEMORIES)].append(Link(chance.choice(LABELS), chance.choice(memories).id))
    for number, (memory, own) in enumerate(zip(memories, links, strict=True)):
        category = "graph" if number < NODES else ""
        linked = replace(memory, links=tuple(dict.fromkeys(own)), category=category)
        vault.path_for(memory.id, memory.kind).write_bytes(memory_file.render(linked))
    return memories


if __name__ == "__main__":
    main()
