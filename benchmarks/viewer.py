"""
How fast the viewer is: `python benchmarks/viewer.py [--memories 10000] [--sessions 1000]`.

`daybook view` runs as it does for a person, and a browser's requests are sent one after the other. Memories
are made up (synthetic.py), with links among the newest, and so are the sessions that were told of them.
"""

import http.client
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as bin/daybook has it
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import click
from tabulate import tabulate

from benchmarks import synthetic
from benchmarks.latency import percentile
from benchmarks.synthetic_store import give_vectors, make_index, open_empty, write_files
from mcp_server.adapters import memory_file
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Link, Memory

ROOT = Path(__file__).resolve().parent.parent
LINKS = 1_000  # in the graph
LINKED = 400  # memories that have them
RELATIONS = ("relates-to", "depends-on", "causes", "refines", "part-of")
OFTEN = 20  # requests of each page, of which the slowest in twenty is told
TYPED = 12  # questions that are typed letter by letter
STARTS = 5
PAGES = {"Today": "/", "Memories": "/memories", "What Claude is shown": "/shown", "Insight": "/insight"}
PAGES |= {"Changes": "/changes"}
PAGE, KEY, GRAPH, UP = 200, 100, 2_000, 1_000  # ms: what the issue of the viewer allows


class Browser:
    """Asks the viewer that `daybook view` opens, as the person's browser does."""

    def __init__(self, environment: Mapping[str, str], project: Path, folder: Path) -> None:
        address = folder / "address"
        program = folder / "browser"
        program.write_text(
            f'#!/bin/sh\necho "$1" >"{address}.part" && mv "{address}.part" "{address}"\n', encoding="utf-8"
        )
        program.chmod(0o700)
        began = time.perf_counter()
        self._view = subprocess.Popen(
            [sys.executable, "-P", "-m", "mcp_server.doors.cli", "view"],
            env={**environment, "BROWSER": f"{program} %s"},
            cwd=project,
            stdout=subprocess.DEVNULL,
        )
        while not address.exists():
            assert self._view.poll() is None, "the viewer ended"
            time.sleep(0.002)
        link = urlsplit(address.read_text(encoding="utf-8").strip())
        self._connection = http.client.HTTPConnection(link.netloc)
        self._connection.request("GET", link.path)
        answer = self._connection.getresponse()
        answer.read()
        self._cookie = str(answer.getheader("Set-Cookie")).partition(";")[0]
        self._base = str(answer.getheader("Location")).rstrip("/")
        self.get("/")
        self.up = (time.perf_counter() - began) * 1000
        address.unlink()
        program.unlink()

    def get(self, path: str, *, part: bool = False) -> float:
        """Ask for a page, or a *part* of one; return the milliseconds until all of it is there."""
        headers = {"Cookie": self._cookie} | ({"HX-Request": "true"} if part else {})
        began = time.perf_counter()
        self._connection.request("GET", f"{self._base}{path}", headers=headers)
        answer = self._connection.getresponse()
        answer.read()
        assert answer.status in (200, 204), (path, answer.status)
        return (time.perf_counter() - began) * 1000

    def close(self) -> None:
        self._connection.close()
        self._view.terminate()
        self._view.wait()


@click.command()
@click.option("--memories", default=10_000, show_default=True)
@click.option("--sessions", default=1_000, show_default=True)
def main(memories: int, sessions: int) -> None:
    """Measure how soon the viewer is up, and how soon it answers."""
    with tempfile.TemporaryDirectory(prefix="daybook-viewer-") as name:
        folder = Path(name)
        opened = open_empty(folder)
        memories_written = write_files(opened, memories)
        link(opened, memories_written)
        make_index(opened)
        give_vectors(opened)
        tell(opened, memories_written, sessions)
        environment = {**os.environ, "MEMORY_DIR": str(opened.home), "HOME": name, "PYTHONPATH": str(ROOT)}
        rows = list(measured(environment, opened.folder, folder, memories_written))
    click.echo(tabulate(rows, ("what", "median, ms", "p95, ms", "at most, ms"), floatfmt=".0f"))


def measured(
    environment: Mapping[str, str], project: Path, folder: Path, asked: Sequence[Memory]
) -> Iterator[tuple[str, float, float, int]]:
    """Yield (name, median, p95, budget), all times in milliseconds."""
    starts = []
    for _ in range(STARTS):
        browser = Browser(environment, project, folder)
        starts.append(browser.up)
        browser.close()
    yield row("the viewer is up, with its first page", starts, UP)
    browser = Browser(environment, project, folder)
    try:
        browser.get("/memories")
        for name, path in PAGES.items():
            yield row(name, [browser.get(path) for _ in range(OFTEN)], PAGE)
        read = [browser.get(f"/memories/{memory.id}") for memory in asked[:OFTEN]]
        yield row("a memory", read, PAGE)
        for mode in ("words", ""):
            times = [
                browser.get(f"/memories?{urlencode({'q': typed, 'mode': mode})}", part=True)
                for typed in keystrokes(asked)
            ]
            yield row(f"search as one types, {mode or 'words and meaning'}", times, KEY)
        yield row(f"Graph, {LINKS:,} links", [browser.get("/graph") for _ in range(OFTEN)], GRAPH)
    finally:
        browser.close()


def row(name: str, times: list[float], budget: int) -> tuple[str, float, float, int]:
    return name, percentile(times, 50), percentile(times, 95), budget


def keystrokes(memories: Sequence[Memory]) -> Iterator[str]:
    """Yield what stands in the search field while questions are typed, from the third letter on."""
    for question in synthetic.questions(list(memories), TYPED):
        for end in range(3, len(question) + 1, 3):
            yield question[:end]


def link(opened: Opened, memories: Sequence[Memory]) -> None:
    """Write LINKS links into the files of some *memories*; most stay among a few neighbours."""
    vault = opened.store().vaults[-1]
    chance = random.Random(0)
    some = memories[:LINKED]
    links: dict[str, set[Link]] = {memory.id: set() for memory in some}
    while sum(map(len, links.values())) < LINKS:
        start = chance.randrange(len(some))
        near = start - start % 20 + chance.randrange(20)
        end = near if chance.random() < 0.9 else chance.randrange(len(some))
        if end != start and end < len(some):
            links[some[start].id].add(Link(chance.choice(RELATIONS), some[end].id))
    for memory in some:
        linked = replace(memory, links=tuple(sorted(links[memory.id], key=str)))
        vault.path_for(memory.id, memory.kind).write_bytes(memory_file.render(linked))


def tell(opened: Opened, memories: Sequence[Memory], sessions: int) -> None:
    """Note sessions that were told of *memories*, an hour and more apart."""
    store = opened.store()
    chance = random.Random(1)
    key = store.vaults[-1].key
    at = store.clock() - timedelta(hours=sessions)
    place = {"folder": str(opened.folder), "vault": key}
    for number in range(sessions):
        session = f"{number:08x}-0000-4000-8000-000000000000"
        refs = [f"{key}/{memory.id}" for memory in chance.sample(list(memories), 6)]
        store.ledger.append("session_started", at, session=session, short=session[:8], **place)
        common = {"session": session, "scores": [0.8, 0.7], "tokens": [60, 50], "confident": refs[:2]}
        store.ledger.append("injected", at, refs=refs[:2], prompt="a prompt that calls for it", **common)
        common = {"session": session, "scores": [0.8] * 4, "tokens": [60] * 4, "confident": refs[2:]}
        store.ledger.append("recalled", at, refs=refs[2:], query="how is it done", **common)
        store.ledger.append("used", at, refs=refs[:1], session=session)
        at += timedelta(hours=1)


if __name__ == "__main__":
    main()
