"""
Whether a prompt calls for memories, judged by its meaning and not by its words.

"Deploy this" and "add a table" touch what a team has agreed on; "rename this variable" and "what is a
mutex?" do not. Written prompts of both kinds were embedded, and a quadratic form tells them apart:
`benchmarks/calling.py` makes it, and `benchmarks/results/prompts.md` says what it is worth.
"""

import functools

import numpy as np

from mcp_server.adapters.index.search.quantised import Floats
from mcp_server.adapters.kinds.quadratic_form import values
from mcp_server.adapters.model_folder import SHIPPED_MODELS
from mcp_server.core.ports import Vector

# For the shipped model, and for `developer_words.with_other_names`.
NUMBERS = SHIPPED_MODELS / "calling.npy"


def calling(vector: Vector) -> float:
    """
    Return how strongly the prompt with this *vector*, by the shipped model, calls for memories.

    About 1 for a prompt that does, about -1 for one that does not.
    """
    return float(values(_numbers(), np.frombuffer(vector, "<f4")))


@functools.cache
def _numbers() -> Floats:
    return np.asarray(np.load(NUMBERS, allow_pickle=False), dtype=np.float32)
