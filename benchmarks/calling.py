"""
Makes what `adapters/kinds/prompt_kind.py` tells prompts by: `python benchmarks/calling.py FOLDER…`.

It is made of the prompts of each FOLDER (see `prompts.py`), and of two files of prompts as people type them,
in projects of all kinds: with `+` before it one that calls for what a team knows, with `-` one that the code
in sight and common knowledge suffice for. In `data/prompt_kinds.txt` those with `+` are of kinds that such
knowledge often bears on (releases, tables, new parts, data of people, figures, trouble in production); in
`data/prompts_of_six_fields.txt` each was written for a certain memory of a made-up project.
The numbers are those of kernel ridge regression on their embeddings and their words; of the curvature of
the form, only the directions that count most.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
import numpy as np

from benchmarks.conjugate_gradients import solved
from benchmarks.prompts import rows_of
from mcp_server.adapters.index.search.quantised import Floats
from mcp_server.adapters.kinds.numbers import Numbers, counted, write
from mcp_server.adapters.kinds.prompt_kind import NUMBERS
from mcp_server.core.ports import Embedder
from mcp_server.core.text.developer_words import with_other_names
from mcp_server.embedding import load_embedder

DATA = Path(__file__).resolve().parent / "data"
KINDS = DATA / "prompt_kinds.txt"
FIELDS = DATA / "prompts_of_six_fields.txt"
OF_FIELDS = 0.3  # the weight of a prompt of FIELDS: there are as many of them as of all others
RIDGE = 0.5  # .5 to 2, and STRAIGHT .3 or 1, tell prompts of a project left out apart about as well
WORDS = 1.0  # the weight of the words beside the embedding; .5 and 2 do about as well
STRAIGHT = 0.3  # what is added to a product before it is squared: how much the direction counts
CURVED = 32  # directions; with all 384 the area under the curve is .005 larger, with 16 .006 less

Labelled = tuple[str, bool]  # a prompt, and whether it calls for a memory


class Embedded(NamedTuple):
    """Prompts by vector and words: 1 for each that calls for a memory, -1 for the others, and its weight."""

    vectors: Floats
    counts: Floats
    calls: Floats
    weights: Floats


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(folders: Sequence[Path]) -> None:
    """Write the numbers."""
    embedder = load_embedder(Path(), "minilm-l6")
    prompts = [prompt for folder in folders for prompt in of_project(folder)]
    write(NUMBERS, fitted(together([written(embedder), embedded(embedder, prompts)])))


def written(embedder: Embedder) -> Embedded:
    """Return the prompts of both files."""
    return together([embedded(embedder, lines_of(KINDS)), embedded(embedder, lines_of(FIELDS), OF_FIELDS)])


def lines_of(path: Path) -> Iterator[Labelled]:
    """Yield the prompts of a file in which each has its sign before it."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield line[2:].replace("\\n", "\n"), line[0] == "+"


def of_project(folder: Path) -> Iterator[Labelled]:
    """Yield the prompts of the project in *folder*."""
    for prompt in rows_of(folder / "prompts.jsonl"):
        yield prompt["text"], bool(prompt["useful"])


def embedded(embedder: Embedder, prompts: Iterable[Labelled], weight: float = 1.0) -> Embedded:
    """Return *prompts* by the model, each with that *weight*."""
    texts, calls = zip(*prompts, strict=True)
    named = [with_other_names(text) for text in texts]
    vectors = b"".join(both.vector for both in embedder.embed_queries(named))
    floats = np.frombuffer(vectors, "<f4").reshape(len(texts), -1)
    return Embedded(floats, counted(named), np.where(calls, 1.0, -1.0), np.full(len(texts), weight))


def together(sets: Iterable[Embedded]) -> Embedded:
    """Return the prompts of all *sets* as one."""
    return Embedded(*map(np.concatenate, zip(*sets, strict=True)))


def fitted(prompts: Embedded) -> Numbers:
    """Return the numbers that tell *prompts* apart."""
    mean = np.average(prompts.calls, weights=prompts.weights)
    wanted = prompts.calls[:, np.newaxis] - mean
    return regression(
        prompts.vectors, prompts.counts, wanted, RIDGE / prompts.weights, words=WORDS, level=mean
    )


def regression(
    vectors: Floats,
    counts: Floats,
    wanted: Floats,
    ridge: Floats,
    *,
    meaning: float = 1.0,
    words: float,
    level: float = 0.0,
) -> Numbers:
    """
    Return what kernel ridge regression makes of texts: their *vectors*, their words, and what is *wanted*.

    *wanted* has a column for each kind, about *level*, and *ridge* a number for each text. The kernel is that
    of the form and that of the words, with the weights *meaning* and *words*.
    """
    alike = meaning * (STRAIGHT + vectors @ vectors.T) ** 2
    by_words, by_ridge = words * counts.T, ridge[:, np.newaxis].astype(np.float32)

    def product(shares: Floats) -> Floats:
        return np.asarray(alike @ shares + counts @ (by_words @ shares) + by_ridge * shares)

    shares = solved(product, wanted.astype(np.float32)).T
    forms = np.stack([form_of(meaning * of_kind, vectors, level) for of_kind in shares])
    return Numbers(forms, words * shares @ counts)


def form_of(shares: Floats, vectors: Floats, level: float) -> Floats:
    """
    Return a quadratic form as it stands in `Numbers`.

    Its value is *level* and the sum of the *shares*, each times the square of STRAIGHT and the product with
    one of *vectors*.
    """
    straight = 2 * STRAIGHT * shares @ vectors
    bends, directions = np.linalg.eigh((vectors.T * shares) @ vectors)
    most = np.argsort(-np.abs(bends))[:CURVED]
    curved = directions[:, most].T * np.sqrt(np.abs(bends[most]))[:, None]
    level = level + STRAIGHT**2 * shares.sum()
    return np.c_[np.vstack([straight, curved]), np.r_[level, np.sign(bends[most])]]


if __name__ == "__main__":
    main()
