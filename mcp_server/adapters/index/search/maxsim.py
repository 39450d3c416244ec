"""
MaxSim: how well a memory answers a question token by token.

The vector of a whole passage says what it is about and blurs its single words. Late interaction
(ColBERT, https://doi.org/10.1145/3397271.3401075) compares tokens instead: each of the question's has a
best cosine with those of the passage.
Of a passage's tokens only the signs of the numbers are kept, 48 bytes per token at 384
dimensions; the question's tokens keep their numbers.
"""

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mcp_server.adapters.index.search.quantised import Floats
from mcp_server.core.ports import Embedded, Vector
from mcp_server.core.search import ranking

MOST_TOKENS = 64  # tokens of a question that are compared; each costs the same
AT_ONCE = 128  # tokens of passages that are unpacked at once: they fit the processor's cache
ALIKE = 1e-4  # of a cosine: memories that say the same differ by less, from rounding

_SIGNS_OF_BYTE = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) - 1.0


def packed(tokens: Vector, dimensions: int) -> bytes:
    """Return the signs of the numbers of *tokens*, vectors of that many dimensions, a bit for each."""
    return np.packbits(_vectors(tokens, dimensions) > 0, axis=1).tobytes()


class Match(NamedTuple):
    """How well a memory answers the tokens of a query, -1 to 1, and the passage of it that does so best."""

    maxsim: float
    passage: int


def maxsim(
    db: sqlite3.Connection, model: str, query: Embedded, memories: Mapping[int, Sequence[int]]
) -> dict[int, Match]:
    """Return memory → how well it answers the tokens of *query*; *memories* tells its best passages."""
    passages = [passage for of_memory in memories.values() for passage in of_memory]
    return answered(query, memories, _signs(db, model, passages))


def answered(
    query: Embedded, memories: Mapping[int, Sequence[int]], signs_of: Mapping[int, bytes]
) -> dict[int, Match]:
    """
    Return memory → how well it answers the tokens of *query*; *signs_of* has those of its best passages.

    A token counts by how far the best of the memories is above their mean: one that all of them answer
    alike, such as a stop word, says nothing about which is better. Of a memory's passages the best and the
    mean count as they do for the cosine of the whole. Memories without tokens are left out.
    """
    tokens = _vectors(query.tokens, len(query.vector) // 4)[:MOST_TOKENS]
    sums = [
        (memory, passage, signs_of[passage])
        for memory, passages in memories.items()
        for passage in passages
        if signs_of.get(passage)
    ]
    if not sums or not len(tokens):
        return {}
    of_passages = _best_cosines(tokens, [signs for _, _, signs in sums])
    numbers = np.array([memory for memory, _, _ in sums])
    first = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
    of_memories = np.maximum.reduceat(of_passages, first, axis=0)
    telling = of_memories.max(axis=0) - of_memories.mean(axis=0)
    telling[telling < ALIKE] = 0.0  # else rounding, of either sign, would weigh what equal memories say
    weights = telling / telling.sum() if telling.any() else np.full(len(tokens), 1 / len(tokens))
    # Not `@`: for a product this small OpenBLAS computes with leftovers of its stack and then drops them, and
    # numpy warns of an invalid value that no number of ours has.
    scores = np.einsum("pt,t->p", of_passages, weights)
    groups = np.repeat(np.arange(len(first)), np.diff(first, append=len(scores)))
    best = np.lexsort((-scores, groups))[first]
    mean = np.add.reduceat(scores, first) / np.bincount(groups)
    maxsims = map(ranking.of_passages, scores[best].tolist(), mean.tolist())
    matches = map(Match, maxsims, [sums[at][1] for at in best])
    return dict(zip(numbers[first].tolist(), matches, strict=True))


def _best_cosines(tokens: Floats, passages: Sequence[bytes]) -> Floats:
    """Return for each of *passages*, given as signs, a row with the best cosine of each of *tokens*."""
    dimensions = tokens.shape[1]
    signs = np.frombuffer(b"".join(passages), dtype=np.uint8).reshape(-1, -(-dimensions // 8))
    # With normal numbers the dot product with their signs is √(2d/π) of that with themselves. The signs that
    # fill up the last byte meet zeros.
    scaled = np.zeros((8 * signs.shape[1], len(tokens)), dtype=np.float32)
    scaled[:dimensions] = tokens.T * math.sqrt(math.pi / 2 / dimensions)
    cosines = np.empty((len(signs), len(tokens)), dtype=np.float32)
    room = np.empty((AT_ONCE, *signs.shape[1:], 8), dtype=np.float32)
    for start in range(0, len(signs), AT_ONCE):
        some = signs[start : start + AT_ONCE]
        numbers = np.take(_SIGNS_OF_BYTE, some, axis=0, out=room[: len(some)], mode="clip")
        np.matmul(numbers.reshape(len(some), -1), scaled, out=cosines[start : start + AT_ONCE])
    first = np.cumsum([0, *(len(passage) // signs.shape[1] for passage in passages[:-1])])
    return np.asarray(np.maximum.reduceat(cosines, first, axis=0))


def _signs(db: sqlite3.Connection, model: str, passages: Sequence[int]) -> dict[int, bytes]:
    return dict(
        db.execute(
            "SELECT v.passage, v.signs FROM json_each(?) wanted"
            " CROSS JOIN vectors v ON v.passage = wanted.value AND v.model = ?",
            (json.dumps(passages), model),
        )
    )


def _vectors(numbers: Vector, dimensions: int) -> Floats:
    return np.frombuffer(numbers, dtype="<f4").reshape(-1, dimensions)
