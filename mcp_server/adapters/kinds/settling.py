"""
Whether a sentence settles something for good, judged by its meaning and its words together.

"Deploys happen from the box in room 12" and "kafka it is" have none of the words by which patterns tell what
a person settles (`core/capture/corrections.py`). Labelled sentences, four in five of them English, were
embedded and their words counted: `benchmarks/settling.py` makes the numbers of them, and
`benchmarks/results/learning.md` says what these are worth.
"""

from collections.abc import Callable, Sequence

import numpy as np

from mcp_server.adapters.kinds.numbers import counted, read, values
from mcp_server.adapters.model_folder import SHIPPED_MODELS
from mcp_server.core.ports import Vector
from mcp_server.core.text.words import is_foreign

NUMBERS = SHIPPED_MODELS / "settling.npy"  # for the shipped model: for settling anything, and for each type
TYPES = ("preference", "decision", "reference")
LEAST = 0.5  # of 3,542 prompts that ask for work, one in a hundred has a sentence with more
LEAST_IN_OTHERS = 0.65  # in other languages, which the model hardly knows
LEAST_BY_WORDS = -0.4  # 14 in a hundred sentences of these have more, and 98 of those that settle something


def settled(sentences: Sequence[str], embed: Callable[[Sequence[str]], Sequence[Vector]]) -> list[str]:
    """
    Return the type of what each of *sentences* settles for good, '' for nothing.

    *embed* returns what texts become as questions to the shipped model; only those are embedded whose words
    alone do not rule it out.
    """
    types = dict.fromkeys(sentences, "")
    counts, numbers = counted(list(types)), read(NUMBERS)
    may_settle = counts @ numbers.weights[0] > LEAST_BY_WORDS
    asked = [sentence for sentence, may in zip(types, may_settle, strict=True) if may]
    if asked:
        vectors = np.frombuffer(b"".join(embed(asked)), "<f4").reshape(len(asked), -1)
        settles, *of_types = values(numbers, vectors, counts[may_settle])
        best = np.argmax(of_types, axis=0)
        least = [LEAST_IN_OTHERS if is_foreign(sentence) else LEAST for sentence in asked]
        rows = zip(asked, settles, least, best, strict=True)
        types |= {sentence: TYPES[type] for sentence, value, at_least, type in rows if value > at_least}
    return [types[sentence] for sentence in sentences]
