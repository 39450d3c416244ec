"""
Whether a prompt is of a kind that memories are called for by: what it is about, not which words it has.

"Deploy this" and "add a table" touch what a team has agreed on; "rename this variable" and "what is a
mutex?" do not. Written prompts of both kinds were embedded, and a quadratic form tells them apart:
`benchmarks/calling.py` makes it, and `benchmarks/README.md` says what it is worth.
"""

import functools

import numpy as np

from mcp_server.adapters.index.search.quantised import Floats
from mcp_server.adapters.model_folder import SHIPPED_MODELS
from mcp_server.core.ports import Vector

# Of the shipped model, and of `developer_words.with_other_names`.
NUMBERS = SHIPPED_MODELS / "calling.npy"


def calling(vector: Vector) -> float:
    """
    Return how much the prompt with that *vector*, by the shipped model, is of a kind that calls for memories.

    It is about 1 for one that does, and about -1 for one that does not.
    """
    return float(called(_numbers(), np.frombuffer(vector, "<f4")))


def called(numbers: Floats, vectors: Floats) -> Floats:
    """
    Return the same for each of *vectors* by *numbers*.

    Those hold in the first row a direction and what is added to the product, in each other row a direction
    and the sign with which the square of its product counts.
    """
    products = vectors @ numbers[:, :-1].T
    return np.asarray(products[..., 0] + numbers[0, -1] + products[..., 1:] ** 2 @ numbers[1:, -1])


@functools.cache
def _numbers() -> Floats:
    return np.asarray(np.load(NUMBERS, allow_pickle=False), dtype=np.float32)
