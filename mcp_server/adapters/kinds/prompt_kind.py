"""
Whether a prompt calls for memories, judged by its meaning and its words.

"Deploy this" and "add a table" touch what a team has agreed on; "rename this variable" and "what is a
mutex?" do not. Written prompts of both kinds were embedded and their words counted: `benchmarks/calling.py`
makes the numbers of them, and `benchmarks/results/prompts.md` says what these are worth.
"""

import numpy as np

from mcp_server.adapters.kinds.numbers import counted, read, values
from mcp_server.adapters.model_folder import SHIPPED_MODELS
from mcp_server.core.ports import Vector
from mcp_server.core.text.developer_words import with_other_names

NUMBERS = SHIPPED_MODELS / "calling.npy"  # for the shipped model, and for `with_other_names`
LOOKED_AT = 2000  # characters whose words are counted: the rest of a prompt is mostly pasted


def calling(prompt: str, vector: Vector) -> float:
    """
    Return how strongly *prompt* calls for memories; *vector* is that of it, or of its first sentence, by the
    shipped model.

    About 1 for a prompt that does, about -1 for one that does not.
    """
    vectors = np.frombuffer(vector, "<f4")[np.newaxis]
    return float(values(read(NUMBERS), vectors, counted([with_other_names(prompt[:LOOKED_AT])]))[0, 0])
