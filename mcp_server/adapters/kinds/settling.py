"""
Whether a sentence settles something for good, judged by its meaning and its words together.

"Deploys happen from the box in room 12" and "kafka it is" have none of the words by which patterns tell what
a person settles (`core/capture/corrections.py`). Labelled sentences, English for the most part, were embedded
and their words counted: `benchmarks/settling.py` makes the numbers of them, and
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
LEAST = 0.45  # of 3,542 prompts that ask for work, one in 120 has a sentence with more
LEAST_BY_WORDS = -0.4  # 16 in a hundred sentences of these have more, and nearly all that settle something
BUCKETS = 8192  # by which words and pairs of words are told apart

_PART = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[?.,:!]")
_BEGIN, _END, _NUMBER = "<", ">", "#"


class Numbers(NamedTuple):
    """Quadratic forms, and weights for the buckets: first for settling anything, then for each of TYPES."""

    forms: Floats
    weights: Floats


def settled(sentences: Sequence[str], embed: Callable[[Sequence[str]], Sequence[Vector]]) -> list[str]:
    """
    Return the type of what each of *sentences* settles for good, '' for nothing and for other languages.

    *embed* returns what texts become as questions to the shipped model; only those are embedded whose words
    alone do not rule it out.
    """
    types = dict.fromkeys(sentences, "")
    by_words = counted(list(types)) @ _numbers().weights[0]
    asked = [
        sentence
        for sentence, value in zip(types, by_words, strict=True)
        if value > LEAST_BY_WORDS and not is_foreign(sentence)
    ]
    if asked:
        embedded = np.frombuffer(b"".join(embed(asked)), "<f4").reshape(len(asked), -1)
        settles, *of_types = scores(_numbers(), asked, embedded)
        best = np.argmax(of_types, axis=0)
        rows = zip(asked, settles, best, strict=True)
        types |= {sentence: TYPES[type] for sentence, value, type in rows if value > LEAST}
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
