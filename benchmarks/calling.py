"""
Makes what `adapters/prompt_kind.py` tells prompts by: `python benchmarks/calling.py FOLDER…`.

It is made of the prompts of each FOLDER (see `prompts.py`), and of `data/prompt_kinds.txt`, whose lines are
prompts as people type them, in projects of all kinds: with `+` before it one of a kind that what a team
knows often bears on (releases, tables, new parts, data of people, figures, trouble in production), with `-`
one that the code in sight and common knowledge suffice for.
The quadratic form is that of kernel ridge regression on their embeddings, and of its curvature the
directions that count most.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
import numpy as np

from benchmarks.prompts import rows_of
from mcp_server.adapters.index.search.quantised import Floats
from mcp_server.adapters.prompt_kind import NUMBERS
from mcp_server.core.ports import Embedder
from mcp_server.core.text.developer_words import with_other_names
from mcp_server.embedding import load_embedder

KINDS = Path(__file__).resolve().parent / "data" / "prompt_kinds.txt"
RIDGE = 0.5  # .5 to 2, and STRAIGHT .3 or 1, tell prompts of a project left out apart about as well
STRAIGHT = 0.3  # what is added to a product before it is squared: how much the direction counts
CURVED = 32  # directions; with all 384 the area under the curve is .005 larger, with 16 .006 less

Labelled = tuple[str, bool]  # a prompt, and whether it calls for a memory


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(folders: Sequence[Path]) -> None:
    """Write the numbers."""
    embedder = load_embedder(Path(), "minilm-l6")
    prompts = [*written(), *(prompt for folder in folders for prompt in of_project(folder))]
    np.save(NUMBERS, fitted(*embedded(embedder, prompts)))


def written() -> Iterator[Labelled]:
    """Yield the prompts of `data/prompt_kinds.txt`."""
    for line in KINDS.read_text(encoding="utf-8").splitlines():
        yield line[2:].replace("\\n", "\n"), line[0] == "+"


def of_project(folder: Path) -> Iterator[Labelled]:
    """Yield the prompts of the project in *folder*."""
    for prompt in rows_of(folder / "prompts.jsonl"):
        yield prompt["text"], bool(prompt["useful"])


def embedded(embedder: Embedder, prompts: Iterable[Labelled]) -> tuple[Floats, Floats]:
    """Return the vectors of *prompts*, and for each 1 if it calls for a memory, else -1."""
    texts, calls = zip(*prompts, strict=True)
    vectors = [embedder.embed_queries([with_other_names(text)])[0].vector for text in texts]
    return np.frombuffer(b"".join(vectors), "<f4").reshape(len(texts), -1), np.where(calls, 1.0, -1.0)


def fitted(vectors: Floats, calls: Floats) -> Floats:
    """Return the numbers of `adapters.calling.called`, as 16 bits each."""
    vectors = vectors.astype(float)
    kernel = (STRAIGHT + vectors @ vectors.T) ** 2
    shares = np.linalg.solve(kernel + RIDGE * np.eye(len(vectors)), calls - calls.mean())
    straight = 2 * STRAIGHT * shares @ vectors
    level = calls.mean() + STRAIGHT**2 * shares.sum()
    bends, directions = np.linalg.eigh((vectors.T * shares) @ vectors)
    most = np.argsort(-np.abs(bends))[:CURVED]
    curved = directions[:, most].T * np.sqrt(np.abs(bends[most]))[:, None]
    numbers = np.c_[np.vstack([straight, curved]), np.r_[level, np.sign(bends[most])]]
    return np.asarray(numbers, dtype=np.float16)


if __name__ == "__main__":
    main()
