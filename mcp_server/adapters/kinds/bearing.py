"""
How far memories bear on a prompt, whatever words the two share.

"Store the isolation reason with each stay" calls for "every migration needs an undo script", and no
likeness tells so. Prompts of made-up projects, with the memories that are of use for each, tell what bears
on what: `benchmarks/bearing.py` makes the numbers of them, and `benchmarks/results/prompts.md` says what
these are worth.

Embedding and words of a prompt, and those of a memory, are each made one short vector. Their product is the
value: that of kernel ridge regression on pairs, of which the directions that count most are kept.
"""

import functools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcp_server.adapters.index.search.quantised import Floats
from mcp_server.adapters.kinds.numbers import BUCKETS, buckets_of
from mcp_server.adapters.model_folder import SHIPPED_MODELS
from mcp_server.core.ports import Vector
from mcp_server.core.text.developer_words import with_other_names

NUMBERS = SHIPPED_MODELS / "bearing.npy"  # for the shipped model, and for `with_other_names`
PROMPT_READ, MEMORY_READ = 2000, 1000  # characters whose words are counted: the rest is mostly pasted
KEPT = 1000  # texts whose buckets are kept, at most 2 MB: prompts meet the same memories again and again


class Sides(NamedTuple):
    """For each number of an embedding, then for each bucket of words, a row of what it adds to the vector."""

    of_prompts: Floats
    of_memories: Floats


def bearing(prompt: str, vector: Vector, memories: Sequence[tuple[str, Vector]]) -> list[float]:
    """
    Return how far each of *memories* bears on *prompt*: about 0, the larger the likelier.

    A memory is given as its text and the embedding of its beginning, *vector* is that of the prompt, all by
    the shipped model. The values compare memories for one prompt.
    """
    if not memories:
        return []
    texts, vectors = zip(*memories, strict=True)
    sides = _read(NUMBERS)
    asked = _short(sides.of_prompts, [vector], [with_other_names(prompt[:PROMPT_READ])])
    known = _short(sides.of_memories, vectors, [text[:MEMORY_READ] for text in texts])
    return [float(value) for value in (known @ asked.T)[:, 0]]


def write(path: Path, sides: Sides) -> None:
    """Write *sides* with 16 bits for each number."""
    np.save(path, np.stack(sides).astype(np.float16))


@functools.cache
def _read(path: Path) -> Sides:
    # The servers of a machine share the pages of a mapped file, and only rows that are asked for are read.
    return Sides(*np.load(path, mmap_mode="r", allow_pickle=False))


def _short(side: Floats, vectors: Sequence[Vector], texts: Sequence[str]) -> Floats:
    """Return the vectors, a row for each, that *side* makes of embeddings and the words of texts."""
    dimensions = len(side) - BUCKETS
    embeddings = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    by_meaning = embeddings @ side[:dimensions].astype(np.float32)
    return np.asarray(by_meaning + [_of_words(side[dimensions:], _buckets(text)) for text in texts])


@functools.lru_cache(maxsize=KEPT)
def _buckets(text: str) -> NDArray[np.int16]:
    return np.array(buckets_of(text), np.int16)


def _of_words(rows: Floats, buckets: NDArray[np.int16]) -> Floats:
    """Return the sum of those of *rows* over the length of `counted`, if no bucket is meant by two words."""
    return np.asarray(rows[buckets].sum(axis=0, dtype=np.float32) / math.sqrt(len(buckets)))
