"""
In which form the resident matrix is best kept: `python benchmarks/matrix.py [--store FOLDER]`.

Forms are searched for the 1,000 passages nearest to a query: float32 as it is, float16, int8 with one scale
for each vector, and signs, by which 4,000 are found that are scored again: in float32, which then has to lie
in a file, or in int8 beside them, as `adapters/index/search/quantised.py` does. Vectors are those of a store
that `retrieval.py --store` kept, repeated with a little noise up to the size asked for, or random ones;
repeated vectors have near twins, random ones no neighbours, so both are the harder for signs.
"""

import contextlib
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as bin/daybook has it

import click
import numpy as np
from numpy.typing import NDArray
from tabulate import tabulate

from mcp_server.adapters.index.search.quantised import RESCORED, Quantised

Array = NDArray[Any]
Search = Callable[[Array], Array]

DIMENSIONS = 384
FOUND = 1000  # passages
QUERIES = 30
NOISE = 0.02  # standard deviation of what is added to a vector that is repeated


@click.command()
@click.option("--sizes", default="10000,100000,1000000", show_default=True, help="Passages.")
@click.option("--store", type=click.Path(exists=True, path_type=Path), help="A store with real vectors.")
def main(sizes: str, store: Path | None) -> None:
    """Measure memory, time and agreement with float32 for each form of the matrix."""
    rows = []
    for size in map(int, sizes.split(",")):
        vectors = made(size, stored(store) if store else None)
        chance = np.random.default_rng(1)
        queries = vectors[chance.integers(0, size, QUERIES)] + chance.standard_normal(
            (QUERIES, DIMENSIONS), dtype=np.float32
        ) * (0.6 / np.sqrt(DIMENSIONS))
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        exact = [nearest(vectors @ query) for query in queries]
        for name, bytes_held, search in forms(vectors):
            times, shares = [], []
            for query, right in zip(queries, exact, strict=True):
                started = time.perf_counter()
                best_rows = search(query)
                times.append((time.perf_counter() - started) * 1000)
                shares.append(len(np.intersect1d(best_rows[:100], right[:100])) / 100)
            rows.append([f"{size:,}", name, f"{bytes_held / 1e6:,.0f}", f"{np.percentile(times, 50):.1f}",
                         f"{np.percentile(times, 95):.1f}", f"{np.mean(shares):.3f}"])  # fmt: skip
            click.echo(rows[-1], err=True)
    headers = ["passages", "form", "MB", "p50 ms", "p95 ms", "same among the nearest 100"]
    click.echo(tabulate(rows, headers, tablefmt="github", disable_numparse=True))


def forms(vectors: Array) -> Iterator[tuple[str, int, Search]]:
    """Yield (name, bytes in memory, search) of each form of *vectors*."""
    yield "float32", vectors.nbytes, lambda query: nearest(vectors @ query)
    half = vectors.astype(np.float16)
    yield "float16", half.nbytes, lambda query: nearest(_in_blocks(half, query))
    scales = np.abs(vectors).max(axis=1) / 127
    small = np.round(vectors / scales[:, None]).astype(np.int8)
    yield "int8", small.nbytes + scales.nbytes, lambda query: nearest(_in_blocks(small, query) * scales)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors"
        vectors.tofile(path)
        on_disk = np.memmap(path, dtype=np.float32, mode="r", shape=vectors.shape)
        yield "float32 in a mapped file", 0, lambda query: nearest(on_disk @ query)
        bits = np.packbits(vectors > 0, axis=1).view(np.uint64)

        def rescored(query: Array) -> Array:
            query_signs = np.packbits(query > 0).view(np.uint64)
            differing = np.bitwise_count(bits ^ query_signs).sum(axis=1, dtype=np.uint16)
            most = min(RESCORED, len(bits) - 1)
            near = np.sort(np.argpartition(differing, most)[:most])
            return np.asarray(near[nearest(on_disk[near] @ query)])

        yield "signs, and float32 in a mapped file", bits.nbytes, rescored
    used = Quantised.empty(len(vectors), vectors.shape[1])
    used.put(0, vectors)
    every = np.arange(len(vectors))

    def found(query: Array) -> Array:
        near = used.near(query, every)
        return np.asarray(near[nearest(used.cosines(query, near))])

    yield "signs and int8: what is used", used.signs.nbytes + used.steps.nbytes + used.scales.nbytes, found


def _in_blocks(matrix: Array, query: Array, rows: int = 8192) -> Array:
    """Return the products of *query* with a matrix that is widened block by block."""
    scores = np.empty(len(matrix), dtype=np.float32)
    for start in range(0, len(matrix), rows):
        scores[start : start + rows] = matrix[start : start + rows].astype(np.float32) @ query
    return scores


def nearest(scores: Array) -> Array:
    """Return the rows with the 1,000 best scores, the best first."""
    most = min(FOUND, len(scores) - 1)
    best = np.argpartition(-scores, most)[:most]
    return best[np.argsort(-scores[best])]


def made(size: int, vectors_known: Array | None) -> Array:
    """Return *size* unit vectors, random ones or *known* ones over and over with a little noise."""
    chance = np.random.default_rng(0)
    if vectors_known is None:
        vectors = chance.standard_normal((size, DIMENSIONS), dtype=np.float32)
    else:
        vectors = vectors_known[np.arange(size) % len(vectors_known)]
        vectors[len(vectors_known) :] += NOISE * chance.standard_normal(
            (max(0, size - len(vectors_known)), DIMENSIONS), dtype=np.float32
        )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def stored(folder: Path) -> Array:
    """Return all vectors of the first index below *folder*."""
    path = next(folder.rglob("memory.db"))
    # Not as a Database, which would make an index of another schema anew.
    with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
        blobs = [row[0] for row in db.execute("SELECT embedding FROM vectors")]
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(-1, DIMENSIONS).copy()


if __name__ == "__main__":
    main()
