"""
Search by meaning: the cosine of a query with the passages near it, over a matrix kept in memory.

Vectors are stored as float32 blobs; a vector extension would be slower at our sizes and cannot be
loaded in many Pythons.
The matrix follows the change log: only a memory that changed is read again.
"""

import os
import sqlite3
import threading
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # with two threads the slowest tenth took 60 times as long

import numpy as np
from numpy.typing import NDArray

from mcp_server.adapters.index.memories import changelog
from mcp_server.adapters.index.search.quantised import RESCORED, Floats, Numbers, Quantised
from mcp_server.adapters.index.search.vectors import count_vectors
from mcp_server.core.memory_parts import Kind
from mcp_server.core.ports import Embedded, Embedder, Vector
from mcp_server.core.search.ranking import BEST_PASSAGES, Cosines

CANDIDATES = 200  # memories
_KINDS = list(Kind)
_embedding = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-query")
_READ = 1000  # vectors at a time


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a search by meaning needs: the model that embeds the query, and the vectors it made."""

    embedder: Embedder
    matrix: "Matrix"

    def embedding(self, texts: Sequence[str], *, patience: float) -> Future[list[Embedded]]:
        """Start to embed questions and return the future; one thread does so during the search by words."""
        return _embedding.submit(self.embedder.embed_queries, texts, patience=patience)


@dataclass(slots=True)
class _Arrays:
    """The vectors and what is known of each: rows 0 … size-1 are in use, `alive` tells which count."""

    vectors: Quantised
    passages: Numbers
    memories: Numbers
    vaults: NDArray[np.int32]
    kinds: NDArray[np.int8]
    active: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    size: int = 0


class Matrix:
    """All vectors of one model, resident, shared by the threads of a process."""

    def __init__(self, model: str, dimensions: int) -> None:
        self.model = model
        self.dimensions = dimensions
        self._lock = threading.Lock()
        self._generation = 0
        self._vault_numbers: dict[str, int] = {}
        self._arrays = self._empty(1024)

    def read(self, db: sqlite3.Connection) -> None:
        """Read every vector that is new, changed or gone since the last call."""
        with self._lock:
            self._refresh(db)

    def search(
        self,
        db: sqlite3.Connection,
        queries: Sequence[Vector],
        *,
        vaults: Collection[str],
        kinds: Collection[Kind],
        among: Collection[int] | None,
        also: Sequence[Collection[int]],
        without: Collection[int] = frozenset(),
    ) -> list[dict[int, Cosines]]:
        """
        Return for each query memory → its cosines, of the 200 with the best passages and of all in *also*.

        *among* limits the memories; None means all active ones of *vaults*, of *kinds* if there are any.
        Those *without* are left out.
        """
        with self._lock:
            self._refresh(db)
            arrays, size = self._arrays, self._arrays.size
            allowed = arrays.alive[:size].copy()
            if among is None:
                numbers = [self._vault_numbers[name] for name in vaults if name in self._vault_numbers]
                allowed &= arrays.active[:size] & np.isin(arrays.vaults[:size], numbers)
                if kinds:
                    allowed &= np.isin(arrays.kinds[:size], [_KINDS.index(kind) for kind in kinds])
            else:
                allowed &= np.isin(arrays.memories[:size], _numbers(among))
            if without:
                allowed &= ~np.isin(arrays.memories[:size], _numbers(without))
            rows = np.flatnonzero(allowed)
            return [
                self._nearest(np.frombuffer(query, dtype="<f4"), rows, RESCORED // len(queries), beside)
                for query, beside in zip(queries, also, strict=True)
            ]

    def _nearest(self, query: Floats, rows: Numbers, most: int, also: Collection[int]) -> dict[int, Cosines]:
        """Return memory → its cosines, of the best of the *most* passages near *query*, and of *also*."""
        arrays, size = self._arrays, self._arrays.size
        near = arrays.vectors.near(query, rows, most)
        best = _with_best(arrays.memories[near], arrays.vectors.cosines(query, near), CANDIDATES)
        nearest = np.union1d(best, _numbers(also))
        read = np.flatnonzero(arrays.alive[:size] & np.isin(arrays.memories[:size], nearest))
        return _cosines(arrays.memories[read], arrays.passages[read], arrays.vectors.cosines(query, read))

    def _refresh(self, db: sqlite3.Connection) -> None:
        generation, changed = changelog.changed_rows(db, self._generation)
        if changed is None:
            self._arrays = self._empty(max(1024, int(1.1 * count_vectors(db, self.model))))
            self._append(db.execute(_ALL, (self.model,)))
        elif changed:
            arrays = self._arrays
            numbers = np.fromiter(changed, dtype=np.int64, count=len(changed))
            arrays.alive[: arrays.size] &= ~np.isin(arrays.memories[: arrays.size], numbers)
            for row in changed:
                self._append(db.execute(f"{_ALL} AND p.memory = ?", (self.model, row)))
            self._compact()
        self._generation = generation

    def _append(self, rows: sqlite3.Cursor) -> None:
        while batch := rows.fetchmany(_READ):
            arrays, end = self._arrays, self._arrays.size + len(batch)
            if end > len(arrays.passages):
                arrays = self._arrays = self._grown(arrays, int(1.5 * end))
                end = arrays.size + len(batch)
            new = slice(arrays.size, end)
            passages, memories, vaults, kinds, statuses, embeddings = zip(*batch, strict=True)
            arrays.vectors.put(
                arrays.size, np.frombuffer(b"".join(embeddings), "<f4").reshape(len(batch), -1)
            )
            arrays.passages[new], arrays.memories[new] = passages, memories
            arrays.vaults[new] = [
                self._vault_numbers.setdefault(vault, len(self._vault_numbers)) for vault in vaults
            ]
            arrays.kinds[new] = [_KINDS.index(Kind(kind)) for kind in kinds]
            arrays.active[new], arrays.alive[new] = [status == "active" for status in statuses], True
            arrays.size = end

    def _compact(self) -> None:
        arrays = self._arrays
        dead = arrays.size - int(np.count_nonzero(arrays.alive[: arrays.size]))
        if dead > 1024 and dead > arrays.size // 4:
            self._arrays = self._grown(arrays, max(1024, 2 * (arrays.size - dead)))

    def _empty(self, room: int) -> _Arrays:
        return _Arrays(
            vectors=Quantised.empty(room, self.dimensions),
            passages=np.zeros(room, dtype=np.int64),
            memories=np.zeros(room, dtype=np.int64),
            vaults=np.zeros(room, dtype=np.int32),
            kinds=np.zeros(room, dtype=np.int8),
            active=np.zeros(room, dtype=np.bool_),
            alive=np.zeros(room, dtype=np.bool_),
        )

    def _grown(self, arrays: _Arrays, room: int) -> _Arrays:
        """Return a copy of the living rows with *room* places."""
        grown = self._empty(room)
        living = np.flatnonzero(arrays.alive[: arrays.size])
        grown.size = len(living)
        grown.vectors.copy_from(arrays.vectors, living)
        for name in ("passages", "memories", "vaults", "kinds", "active", "alive"):
            getattr(grown, name)[: grown.size] = getattr(arrays, name)[living]
        return grown


def _numbers(values: Collection[int]) -> Numbers:
    return np.fromiter(values, dtype=np.int64, count=len(values))


def _with_best(memories: Numbers, scores: Floats, limit: int) -> Numbers:
    """Return the *limit* memories with the best scores; *memories* and *scores* are of passages."""
    order = np.argsort(-scores, kind="stable")
    distinct, first = np.unique(memories[order], return_index=True)
    return distinct[np.argsort(first)[:limit]]


def _cosines(memories: Numbers, passages: Numbers, scores: Floats) -> dict[int, Cosines]:
    """Return memory → its cosines, from those of all its passages."""
    if not len(memories):
        return {}
    order = np.lexsort((-scores, memories))
    memories, passages, scores = memories[order], passages[order], scores[order]
    first = np.flatnonzero(np.diff(memories, prepend=memories[0] - 1))
    counts = np.diff(first, append=len(memories))
    rank = np.arange(len(memories)) - np.repeat(first, counts)
    sums = np.add.reduceat(np.where(rank < BEST_PASSAGES, scores, 0.0), first)
    means = sums / np.minimum(counts, BEST_PASSAGES)
    best = np.zeros((len(first), BEST_PASSAGES), dtype=np.int64)
    near = rank < BEST_PASSAGES
    best[np.repeat(np.arange(len(first)), counts)[near], rank[near]] = passages[near]
    columns = (scores[first].tolist(), means.tolist(), best.tolist())
    return dict(zip(memories[first].tolist(), map(Cosines._make, zip(*columns, strict=True)), strict=True))


_ALL = (  # "+": otherwise SQLite would look for the few vectors of one memory among all of the model
    "SELECT v.passage, p.memory, m.vault, m.kind, m.status, v.embedding FROM vectors v"
    " JOIN passages p ON p.row = v.passage JOIN memories m ON m.row = p.memory WHERE +v.model = ?"
)
