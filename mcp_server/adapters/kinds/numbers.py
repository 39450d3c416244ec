"""
Numbers that tell kinds of texts apart, by their embedding and their words, made of labelled texts.

For each kind there is a quadratic form on the embedding and a weight for each bucket of words; about 1 is yes
and about -1 no. `benchmarks/calling.py` and `benchmarks/settling.py` make them.
"""

import functools
import re
import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mcp_server.adapters.index.search.quantised import Floats

BUCKETS = 8192  # by which words and pairs of words are told apart

_WIDTH = 385  # of a row of a form: a direction in the 384 dimensions of the shipped model, and a number
_SIGN = r"\u3040-\u30ff\u3400-\u9fff"  # of Chinese and Japanese, where no blanks part words
_PART = re.compile(rf"[{_SIGN}]|[^\W\d_{_SIGN}]+(?:['’][^\W\d_{_SIGN}]+)?|\d+|[?.,:!]")
_BEGIN, _END, _NUMBER = "<", ">", "#"


class Numbers(NamedTuple):
    """
    For each kind a form and the weights of the buckets.

    The first row of a form holds a direction and the number that is added to the product with it; each other
    row holds a direction and the sign with which the square of its product counts.
    """

    forms: Floats
    weights: Floats


@functools.cache
def read(path: Path) -> Numbers:
    """Return the numbers in a file that `write` wrote."""
    table = np.load(path, allow_pickle=False).astype(np.float32)
    forms, weights = table[:, :-BUCKETS], table[:, -BUCKETS:]
    return Numbers(forms.reshape(len(table), -1, _WIDTH), weights)


def write(path: Path, numbers: Numbers) -> None:
    """Write *numbers* with 16 bits each, a row for each kind: an archive would take longer to read."""
    table = np.hstack([numbers.forms.reshape(len(numbers.forms), -1), numbers.weights])
    np.save(path, table.astype(np.float16))


def values(numbers: Numbers, vectors: Floats, counts: Floats) -> Floats:
    """Return a row for each kind, with a value for each text, of which there is a vector and `counted`."""
    rows = []
    for form, weights in zip(numbers.forms, numbers.weights, strict=True):
        products = vectors @ form[:, :-1].T
        by_meaning = products[:, 0] + form[0, -1] + products[:, 1:] ** 2 @ form[1:, -1]
        rows.append(by_meaning + counts @ weights)
    return np.stack(rows)


def counted(texts: Sequence[str]) -> Floats:
    """Return which words, pairs of words and pairs with one between each text has, as unit vectors."""
    counts = np.zeros((len(texts), BUCKETS), np.float32)
    for row, text in zip(counts, texts, strict=True):
        np.add.at(row, buckets_of(text), 1)
    return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), np.float32)


def buckets_of(text: str) -> list[int]:
    """Return the bucket of each of these in *text*; two of them may have the same."""
    words = [_NUMBER if part.isdecimal() else part for part in _PART.findall(text.lower())]
    words = [_BEGIN, *words, _END]
    pairs = [f"{word} {following}" for word, following in pairwise(words)]
    apart = [f"{word} _ {following}" for word, following in zip(words, words[2:], strict=False)]
    return [zlib.crc32(feature.encode()) % BUCKETS for feature in {*words, *pairs, *apart}]
