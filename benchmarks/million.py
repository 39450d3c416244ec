"""
Hybrid recall among a million vectors: `python benchmarks/million.py [--texts 2000] [--vectors 1000000]`.

To write a million files and to index their words takes over an hour (`latency.py --searching`), and says
nothing new of the vectors. So `--texts` memories are stored as in `latency.py`, and the rest are rows of the
index alone: memories without words of their own, with ten passages each that have random unit vectors.
What the words of a million cost stands in results/speed.md.
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
from mcp_server.actions.recall.recall import recall
from mcp_server.bootstrap import Opened
from mcp_server.core.search.query import Mode, Query

ASKED = 50  # questions, of which the first 10 do not count
BATCH = 10_000  # vectors made at once
TOKENS = 24  # of a passage, as they are compared one by one
PASSAGES = 10  # of a made-up memory
BITS = 20  # of a row's number in its path


@click.command()
@click.option("--texts", default=2_000, show_default=True, help="Memories with a file and words.")
@click.option("--vectors", default=1_000_000, show_default=True, help="Passages with a vector, in all.")
def main(texts: int, vectors: int) -> None:
    """Tell what recall takes among so many vectors: processor time, time, memory, disk."""
    with tempfile.TemporaryDirectory(prefix="daybook-million-") as folder:
        opened = open_empty(Path(folder))
        questions = synthetic.questions(write_files(opened, texts), ASKED)
        make_index(opened)
        give_vectors(opened)
        path = Path(opened.database.path)
        bytes_of_each = path.stat().st_size / texts
        click.echo(
            f"an index of {texts:,} memories with words and vectors: {bytes_of_each:,.0f} bytes for each"
        )
        with opened.database.write() as db:
            filled = _timed(partial(_fill, db, vectors))
        opened.database.close()  # what was opened before knows no row that was made past the change log
        opened = Opened({"MEMORY_DIR": str(opened.home), "HOME": folder}, folder=opened.folder)
        click.echo(f"filling up to {vectors:,} vectors: {filled[0]:.0f} s of processor time")
        before = _resident()
        loaded = _timed(partial(_ask, opened, questions[:1]))
        meaning = opened.meaning()
        assert meaning, opened.meaning.problem
        assert meaning.matrix._arrays.size >= vectors, "the vectors were not read"
        click.echo(
            f"reading the model and the vectors: {loaded[0]:.1f} s of processor time, {loaded[1]:.1f} s"
        )
        click.echo(f"memory: {before:.0f} MB before, {_resident():.0f} MB with them")
        for mode in (Mode.HYBRID, Mode.KEYWORD):
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
    db.execute("PRAGMA cache_size = -1000000")  # else every page is written many times before the end
    for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {trigger}")
    row, first, passage, model, dimensions, signs = db.execute(
        "SELECT m.row, m.path, p.row, v.model, length(v.embedding) / 4, v.signs FROM memories m"
        " JOIN passages p ON p.memory = m.row JOIN vectors v ON v.passage = p.row ORDER BY p.row DESC LIMIT 1"
    ).fetchone()
    (count,) = db.execute("SELECT count(*) FROM vectors WHERE model = ?", (model,)).fetchone()
    (last,) = db.execute("SELECT max(row) FROM memories").fetchone()
    added = -(-max(0, vectors - count) // PASSAGES)
    values = {"last": last, "passage": passage, "row": row, "added": added, "each": PASSAGES}
    numbers = "WITH numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :added{})"
    columns = [name for _, name, *_ in db.execute("PRAGMA table_info(memories)")]
    own = {
        "row": ":last + n",
        "id": "printf('made-up-%07d', n)",
        "path": "path_of(n)",
        "text": "''",
        "parts": "''",
    }
    copied = ", ".join(own.get(column, column) for column in columns)
    db.create_function("path_of", 1, partial(_path, first))
    for insert in (
        f"memories {numbers.format('')} SELECT {copied} FROM numbers, memories WHERE row = :row",
        f"scoped {numbers.format('')} SELECT :last + n, scope, :each FROM numbers, scoped WHERE row = :row",
        f"passages {numbers.format(' * :each')}"
        " SELECT :passage + n, :last + 1 + (n - 1) / :each, (n - 1) % :each, '', '' FROM numbers",
    ):
        db.execute(f"INSERT INTO {insert}", values)
    db.execute(
        "UPDATE scopes SET held = held + :added, passages = passages + :added * :each"
        " WHERE scope = (SELECT scope FROM scoped WHERE row = :row)",
        values,
    )
    vectors_made = unit_vectors(np.random.default_rng(0), BATCH, dimensions)
    tokens = signs[: TOKENS * dimensions // 8]
    for batch, start in enumerate(range(0, added * PASSAGES, BATCH)):
        db.executemany(
            "INSERT INTO vectors (passage, model, embedding, signs) VALUES (?, ?, ?, ?)",
            # With its numbers in turn, a random vector is as good as another.
            [
                (passage + start + n, model, vector.tobytes(), tokens)
                for n, vector in enumerate(np.roll(vectors_made, batch, axis=1), start=1)
                if start + n <= added * PASSAGES
            ],
        )


def _path(first: str, number: int) -> str:
    """Return another way to write the path *first* for each *number*: recall looks at the file of a hit."""
    folder, _, name = first.rpartition("/")
    return folder + "".join("/./" if number >> bit & 1 else "//" for bit in reversed(range(BITS))) + name


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
