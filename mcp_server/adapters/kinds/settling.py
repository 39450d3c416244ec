"""
Whether a sentence settles something for good, judged by its meaning and its words together.

"Deploys happen from the box in room 12" and "kafka it is" have none of the words by which patterns tell what
a person settles (`core/capture/corrections.py`). Labelled sentences, four in five of them English, were
embedded and their words counted: `benchmarks/settling.py` makes the numbers of them, and
`benchmarks/results/learning.md` says what these are worth.
"""

import functools
import re
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mcp_server.adapters.index.search.quantised import Floats
from mcp_server.adapters.kinds.quadratic_form import values
from mcp_server.adapters.model_folder import SHIPPED_MODELS
from mcp_server.core.ports import Vector
from mcp_server.core.text.words import is_foreign

NUMBERS = SHIPPED_MODELS / "settling.npz"  # for the shipped model
TYPES = ("preference", "decision", "reference")
LEAST = 0.5  # of 3,542 prompts that ask for work, one in a hundred has a sentence with more
LEAST_IN_OTHERS = 0.65  # in other languages, which the model hardly knows
LEAST_BY_WORDS = -0.4  # 16 in a hundred sentences of these have more, and nearly all that settle something
BUCKETS = 8192  # by which words and pairs of words are told apart

_SIGN = r"\u3040-\u30ff\u3400-\u9fff"  # of Chinese and Japanese, where no blanks part words
_PART = re.compile(rf"[{_SIGN}]|[^\W\d_{_SIGN}]+(?:['’][^\W\d_{_SIGN}]+)?|\d+|[?.,:!]")
_BEGIN, _END, _NUMBER = "<", ">", "#"


class Numbers(NamedTuple):
    """Quadratic forms, and weights for the buckets: first for settling anything, then for each of TYPES."""

    forms: Floats
    weights: Floats


def settled(sentences: Sequence[str], embed: Callable[[Sequence[str]], Sequence[Vector]]) -> list[str]:
    """
    Return the type of what each of *sentences* settles for good, '' for nothing.

    *embed* returns what texts become as questions to the shipped model; only those are embedded whose words
    alone do not rule it out.
    """
    types = dict.fromkeys(sentences, "")
    by_words = counted(list(types)) @ _numbers().weights[0]
    asked = [sentence for sentence, value in zip(types, by_words, strict=True) if value > LEAST_BY_WORDS]
    if asked:
        embedded = np.frombuffer(b"".join(embed(asked)), "<f4").reshape(len(asked), -1)
        settles, *of_types = scores(_numbers(), asked, embedded)
        best = np.argmax(of_types, axis=0)
        least = [LEAST_IN_OTHERS if is_foreign(sentence) else LEAST for sentence in asked]
        rows = zip(asked, settles, least, best, strict=True)
        types |= {sentence: TYPES[type] for sentence, value, at_least, type in rows if value > at_least}
    return [types[sentence] for sentence in sentences]


def scores(numbers: Numbers, sentences: Sequence[str], vectors: Floats) -> Floats:
    """Return a row of values for each of *numbers*: one for each sentence, about 1 for yes and -1 for no."""
    counts = counted(sentences)
    rows = [
        values(form, vectors) + counts @ weights
        for form, weights in zip(numbers.forms, numbers.weights, strict=True)
    ]
    return np.stack(rows)


def counted(sentences: Sequence[str]) -> Floats:
    """Return which words, pairs of words and pairs with one between each sentence has, as unit vectors."""
    counts = np.zeros((len(sentences), BUCKETS), np.float32)
    for row, sentence in zip(counts, sentences, strict=True):
        words = [_NUMBER if part.isdecimal() else part for part in _PART.findall(sentence.lower())]
        words = [_BEGIN, *words, _END]
        pairs = [f"{word} {following}" for word, following in pairwise(words)]
        apart = [f"{word} _ {following}" for word, following in zip(words, words[2:], strict=False)]
        for feature in {*words, *pairs, *apart}:
            row[zlib.crc32(feature.encode()) % BUCKETS] += 1
    return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), np.float32)


@functools.cache
def _numbers() -> Numbers:
    with np.load(NUMBERS, allow_pickle=False) as arrays:
        return Numbers(*(arrays[name].astype(np.float32) for name in Numbers._fields))
