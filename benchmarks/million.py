"""
Hybrid recall among a million vectors: `python benchmarks/million.py [--texts 10000] [--vectors 1000000]`.

To write a million files and to index their words takes over an hour (`latency.py --searching`), and says
nothing new of the vectors. So `--texts` memories are stored as in `latency.py`, and the rest are rows of the
index alone: each a memory without words of its own, with one passage and a random unit vector.
What the words of a million cost stands in README.md beside this file.
"""

import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as bin/daybook has it

import click
import numpy as np

from benchmarks import synthetic
from benchmarks.latency import machine, percentile
from benchmarks.synthetic_store import give_vectors, make_index, open_empty, unit_vectors, write_files
from mcp_server.actions.recall import recall
from mcp_server.adapters.index import changelog
from mcp_server.bootstrap import Opened
from mcp_server.core.query import Mode, Query

ASKED = 110  # questions, of which the first 10 do not count
BATCH = 10_000  # rows in one transaction
BITS = 20  # of a row's number in its path


@click.command()
@click.option("--texts", default=10_000, show_default=True, help="Memories with a file and words.")
@click.option("--vectors", default=1_000_000, show_default=True, help="Passages with a vector, in all.")
def main(texts: int, vectors: int) -> None:
    """Tell what recall takes among so many vectors: processor time, time, memory, disk."""
    with tempfile.TemporaryDirectory(prefix="daybook-million-") as folder:
        opened = open_empty(Path(folder))
        questions = synthetic.questions(write_files(opened, texts), ASKED)
        make_index(opened)
        give_vectors(opened)
        path = Path(opened.database.path)
        told = path.stat().st_size / texts
        click.echo(f"an index of {texts:,} memories with words and vectors: {told:,.0f} bytes for each")
        _ask(opened, questions[:2])  # the model is loaded
        with opened.database.write() as db:
            filled = _timed(partial(_fill, db, vectors))
        click.echo(f"filling up to {vectors:,} vectors: {filled[0]:.0f} s of processor time")
        before = _resident()
        loaded = _timed(partial(_ask, opened, questions[:1]))
        click.echo(f"reading the vectors: {loaded[0]:.1f} s of processor time, {loaded[1]:.1f} s")
        click.echo(f"memory: {before:.0f} MB before, {_resident():.0f} MB with them")
        for mode in (Mode.HYBRID, Mode.SEMANTIC, Mode.KEYWORD):
            times = [*_times(opened, questions, mode)][10:]
            processor, clock = zip(*times, strict=True)
            p50, p95 = (1000 * percentile(processor, percent) for percent in (50, 95))
            slow = [1000 * percentile(clock, percent) for percent in (50, 95)]
            click.echo(
                f"{mode.value} recall: p50 {p50:.0f} ms and p95 {p95:.0f} ms of processor time"
                f" ({slow[0]:.0f} and {slow[1]:.0f} ms by the clock)"
            )
        click.echo(f"index: {path.stat().st_size / 1e9:.2f} GB, of which the words are those of {texts:,}")
        click.echo(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
        opened.database.close()
    click.echo(machine())


def _fill(db: sqlite3.Connection, vectors: int) -> None:
    """Add rows until there are *vectors* of them; what a search by words reads stays as it was."""
    for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {trigger}")
    row, first, model = db.execute(
        "SELECT m.row, m.path, v.model FROM memories m JOIN passages p ON p.memory = m.row"
        " JOIN vectors v ON v.passage = p.row ORDER BY m.row LIMIT 1"
    ).fetchone()
    columns = [name for _, name, *_ in db.execute("PRAGMA table_info(memories)")]
    own = {"row": "?", "id": "?", "path": "?", "text": "''", "parts": "''"}
    copied = ", ".join(own.get(column, column) for column in columns)
    scope = db.execute("SELECT scope FROM scoped WHERE row = ?", (row,)).fetchone()[0]
    (held,) = db.execute("SELECT count(*) FROM vectors WHERE model = ?", (model,)).fetchone()
    (last,) = db.execute("SELECT max(row) FROM memories").fetchone()
    (passage,) = db.execute("SELECT max(row) FROM passages").fetchone()
    signs, dimensions = db.execute(
        "SELECT signs, length(embedding) / 4 FROM vectors WHERE model = ? LIMIT 1", (model,)
    ).fetchone()
    chance = np.random.default_rng(0)
    added = max(0, vectors - held)
    for start in range(0, added, BATCH):
        many = range(start + 1, min(added, start + BATCH) + 1)
        made = unit_vectors(chance, len(many), dimensions)
        db.executemany(
            f"INSERT INTO memories ({', '.join(columns)}) SELECT {copied} FROM memories WHERE row = ?",
            [(last + n, f"made-up-{n}", _path(first, n), row) for n in many],
        )
        db.executemany("INSERT INTO scoped VALUES (?, ?, 1)", [(last + n, scope) for n in many])
        db.executemany(
            "INSERT INTO passages VALUES (?, ?, 0, '', '')", [(passage + n, last + n) for n in many]
        )
        db.executemany(
            "INSERT INTO vectors (passage, model, embedding, signs) VALUES (?, ?, ?, ?)",
            [(passage + n, model, made[n - start - 1].tobytes(), signs) for n in many],
        )
    told = "UPDATE scopes SET held = held + :added, passages = passages + :added WHERE scope = :scope"
    db.execute(told, {"added": added, "scope": scope})
    # More than the matrix follows one by one: it is read anew.
    changelog.note_embedded(db, range(last + 1, last + added + 1), now=0)


def _path(first: str, number: int) -> str:
    """Return another way to write the path *first* for each *number*: recall looks at the file of a hit."""
    folder, _, name = first.rpartition("/")
    return folder + "".join("/./" if number >> bit & 1 else "//" for bit in range(BITS)) + name


def _ask(opened: Opened, questions: list[str]) -> None:
    for text in questions:
        recall(opened.store(), Query(text))


def _times(opened: Opened, questions: list[str], mode: Mode) -> Iterator[tuple[float, float]]:
    for text in questions:
        yield _timed(partial(recall, opened.store(), Query(text, mode=mode)))


def _timed(action: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of the processor, and of the clock, that *action* takes."""
    processor, clock = time.process_time(), time.perf_counter()
    action()
    return time.process_time() - processor, time.perf_counter() - clock


def _resident() -> float:
    """Return how many megabytes this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


if __name__ == "__main__":
    main()
