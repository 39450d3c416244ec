"""
Makes what `adapters/kinds/bearing.py` tells by what bears on what: `python benchmarks/bearing.py FOLDER…`.

Each FOLDER is a project, as in `prompts.py`. Pairs of a prompt that needs memories and a memory of the same
project are what is learned from: whether the memory is of use. Memories that are of use for no prompt are
left out, or the numbers would learn what such projects keep beside.
Two texts are alike by the product of their embeddings and words, two pairs by the product of both: kernel
ridge regression with the pairwise kernel (https://doi.org/10.1093/bioinformatics/bti1016), solved by
conjugate gradients, because that kernel of all pairs would not fit the memory.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
import numpy as np

from benchmarks.conjugate_gradients import solved
from benchmarks.prompts import rows_of
from mcp_server.adapters.index.search.quantised import Floats
from mcp_server.adapters.kinds.bearing import NUMBERS, Sides, write
from mcp_server.adapters.kinds.numbers import counted
from mcp_server.core.ports import Embedded, Embedder
from mcp_server.core.text.developer_words import with_other_names
from mcp_server.embedding import load_embedder

RIDGE = 1.0  # .3 to 3 rank as well
DIRECTIONS = 32  # kept of the products; 64 rank as well, 16 a little worse


class Pairs(NamedTuple):
    """Prompts and memories of a project, a row for each, and a row for each prompt of what is of use: 1."""

    prompts: Floats
    memories: Floats
    of_use: Floats


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(folders: Sequence[Path]) -> None:
    """Write the numbers."""
    embedder = load_embedder(Path(), "minilm-l6")
    write(NUMBERS, fitted([pairs_of(embedder, folder) for folder in folders]))


def pairs_of(embedder: Embedder, folder: Path) -> Pairs:
    """Return what is learned from the project in *folder*."""
    prompts = [row for row in rows_of(folder / "prompts.jsonl") if row["useful"]]
    used = {name for prompt in prompts for name in prompt["useful"]}
    memories = [row for row in rows_of(folder / "memories.jsonl") if row["id"] in used]
    of_use = [[memory["id"] in prompt["useful"] for memory in memories] for prompt in prompts]
    asked = [with_other_names(prompt["text"].strip()) for prompt in prompts]
    known = [f"{memory['title']}\n{memory['text']}" for memory in memories]
    return Pairs(
        _rows(embedder.embed_queries(asked), asked),
        _rows(embedder.embed_passages(known), known),
        np.array(of_use, np.float32),
    )


def fitted(projects: Iterable[Pairs]) -> Sides:
    """Return the numbers by which the pairs of *projects* are told apart."""
    prompts, memories, of_use = zip(*projects, strict=True)
    all_prompts, all_memories = np.vstack(prompts), np.vstack(memories)
    asked = np.zeros((len(all_prompts), len(all_memories)), np.float32)  # 1 where both are of one project
    wanted = np.zeros_like(asked)
    prompt, memory = 0, 0
    for rows in of_use:
        end, last = prompt + len(rows), memory + rows.shape[1]
        asked[prompt:end, memory:last] = 1.0
        wanted[prompt:end, memory:last] = rows - rows.mean(axis=1, keepdims=True)
        prompt, memory = end, last
    alike_prompts, alike_memories = all_prompts @ all_prompts.T, all_memories @ all_memories.T
    shares = solved(lambda shares: asked * (alike_prompts @ shares @ alike_memories) + RIDGE * shares, wanted)
    return _sides(all_prompts, shares, all_memories)


def _sides(prompts: Floats, shares: Floats, memories: Floats) -> Sides:
    """Return the DIRECTIONS that count most of the product of *prompts*, *shares* and *memories*."""
    of_prompts, prompts_by_it = np.linalg.qr(prompts.T)
    of_memories, memories_by_it = np.linalg.qr(memories.T)
    left, sizes, right = np.linalg.svd(prompts_by_it @ shares @ memories_by_it.T)
    scale = np.sqrt(sizes[:DIRECTIONS])
    return Sides(of_prompts @ left[:, :DIRECTIONS] * scale, of_memories @ right[:DIRECTIONS].T * scale)


def _rows(embedded: Sequence[Embedded], texts: Sequence[str]) -> Floats:
    """Return embedding and words of each text, a row for each."""
    vectors = np.stack([np.frombuffer(both.vector, "<f4") for both in embedded])
    return np.hstack([vectors, counted(texts)])


if __name__ == "__main__":
    main()
