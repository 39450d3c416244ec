"""
Makes and judges what `adapters/kinds/settling.py` tells sentences by that settle something for good.

`python benchmarks/settling.py` writes the numbers. They are made of the labelled sentences of
`tests/data/corrections`, `chosen.tsv` and `written.tsv`, and of prompts that ask for work and settle nothing:
kernel ridge regression on their embeddings and their words, one for settling anything and one for each type.

`python benchmarks/settling.py FILE…` tells for each file of labelled sentences which share of those that
settle something is noticed, by patterns and with these numbers, and of the others, too.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
import numpy as np

from benchmarks.calling import FIELDS, KINDS, lines_of, regression
from mcp_server.adapters.kinds.numbers import Numbers, counted, write
from mcp_server.adapters.kinds.settling import NUMBERS, TYPES, settled
from mcp_server.core.capture.mining import Judge, mine
from mcp_server.core.ports import Embedder
from mcp_server.embedding import load_embedder

LABELLED = Path(__file__).resolve().parent.parent / "tests" / "data" / "corrections"
FITTED_TO = ("chosen", "written")
NOTHING = "-"
EACH = 6  # of the prompts of FIELDS, every sixth is learned from; the others tell how LEAST does on prompts
MEANING, WORDS = 0.5, 1.5  # the weights of the two products; half or twice of WORDS does about as well
RIDGE, OF_PROMPTS = 0.3, 0.1  # and the weight of a prompt: there are almost as many as labelled sentences


class Sentence(NamedTuple):
    """A sentence, its language, and the type of what it settles, NOTHING for nothing."""

    language: str
    text: str
    type: str


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, path_type=Path))
def main(files: Sequence[Path]) -> None:
    """Write the numbers, or judge them on labelled FILEs."""
    embedder = load_embedder(Path(), "minilm-l6")
    if not files:
        write(NUMBERS, fitted(embedder))
        return
    judge = judge_by(embedder)
    for file in files:
        sentences = read(file)
        for is_english in (True, False):
            of_language = [sentence for sentence in sentences if (sentence.language == "en") is is_english]
            if of_language:
                print(f"{file.stem}, {'English' if is_english else 'others'}: {told(of_language, judge)}")
    unlearned = [text for number, (text, _) in enumerate(lines_of(FIELDS)) if number % EACH]
    noticed = [sum(map(bool, (found(prompt, by) for prompt in unlearned))) for by in (None, judge)]
    print(f"of {len(unlearned):,} prompts: {noticed[0]} by patterns, {noticed[1]} with the numbers")


def told(sentences: Sequence[Sentence], judge: Judge) -> str:
    """Return which shares of *sentences* are noticed, without and with *judge*."""
    parts = []
    for settles in (True, False):
        some = [sentence for sentence in sentences if (sentence.type != NOTHING) is settles]
        types = [[found(sentence.text, by) for sentence in some] for by in (None, judge)]
        shares = [sum(map(bool, of_one)) / len(some) for of_one in types]
        parts.append(f"{shares[0]:.2f} -> {shares[1]:.2f} of {len(some)}")
        if settles:
            right = [type == sentence.type for type, sentence in zip(types[1], some, strict=True) if type]
            parts[0] += f" that settle something, the type right for {sum(right) / len(right):.2f}"
    return f"{parts[0]}; {parts[1]} that settle nothing"


def found(text: str, judge: Judge | None) -> str:
    """Return the type of what is taken from *text* as settled, '' for nothing."""
    return next((mined.type for mined in mine([("user", text)], judge=judge) if mined.settles), "")


def judge_by(embedder: Embedder) -> Judge:
    """Return what judges sentences by the numbers that were written."""
    return lambda texts: settled(texts, lambda some: [both.vector for both in embedder.embed_queries(some)])


def read(path: Path) -> list[Sentence]:
    """Return the labelled sentences of a file: language, sentence and type, with tabs between."""
    return [Sentence(*line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()]


def fitted(embedder: Embedder) -> Numbers:
    """Return the numbers for settling anything, and for each of TYPES."""
    labelled = [sentence for name in FITTED_TO for sentence in read(LABELLED / f"{name}.tsv")]
    prompts = [*lines_of(KINDS), *list(lines_of(FIELDS))[::EACH]]
    asked = [Sentence("en", text, NOTHING) for text, _ in prompts]
    sentences = [*labelled, *asked]
    texts = [sentence.text for sentence in sentences]
    embedded = b"".join(both.vector for both in embedder.embed_queries(texts))
    vectors = np.frombuffer(embedded, "<f4").reshape(len(texts), -1)
    weights = np.r_[np.ones(len(labelled)), np.full(len(asked), OF_PROMPTS)]
    types = np.array([sentence.type for sentence in sentences])
    wanted = np.stack([types != NOTHING, *(types == type for type in TYPES)], axis=1)
    signs = np.where(wanted, 1.0, -1.0)
    return regression(vectors, counted(texts), signs, RIDGE / weights, meaning=MEANING, words=WORDS)


if __name__ == "__main__":
    main()
