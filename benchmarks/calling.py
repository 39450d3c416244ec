"""
Makes what `core/calling.py` tells prompts by: `python benchmarks/calling.py`, from `data/prompt_kinds.txt`.

Each line of that file is a prompt as people type it, in a project of no matter which kind: with `+` before
it one of a kind that what a team knows often bears on (releases, tables, new parts, data of people, figures,
trouble in production), with `-` one that the code in sight and common knowledge suffice for.
The direction is that of ridge regression on the embeddings of all lines.
"""

import sys
from base64 import b85encode
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
import numpy as np

from mcp_server.core.developer_words import with_other_names
from mcp_server.core.ports import Embedder
from mcp_server.meanings import load_embedder

KINDS = Path(__file__).resolve().parent / "data" / "prompt_kinds.txt"
RIDGE = 5.0  # 1 to 30 tell the prompts of `prompts.py` apart about as well


@click.command()
def main() -> None:
    """Print DIRECTION, STEP and LEVEL."""
    direction, step, level = fitted(load_embedder(Path(), "minilm-l6"))
    click.echo(f"DIRECTION = {b85encode(direction).decode()!r}\nSTEP = {step:.6f}\nLEVEL = {level:.4f}")


def fitted(embedder: Embedder) -> tuple[bytes, float, float]:
    """Return the direction as signed bytes, what a step of them is worth, and what to add to the product."""
    lines = [line for line in KINDS.read_text(encoding="utf-8").splitlines() if line]
    texts = [with_other_names(line[2:].replace("\\n", "\n")) for line in lines]
    calls = np.array([line[0] == "+" for line in lines], dtype=float)
    vectors = np.array([np.frombuffer(embedder.embed_query(text).vector, "<f4") for text in texts], float)
    middle = vectors.mean(axis=0)
    apart = vectors - middle
    ridge = apart.T @ apart + RIDGE * np.eye(apart.shape[1])
    direction = np.linalg.solve(ridge, apart.T @ (calls - calls.mean()))
    direction /= (apart @ direction).std()
    step = float(np.abs(direction).max() / 127)
    return np.round(direction / step).astype(np.int8).tobytes(), step, float(-middle @ direction)


if __name__ == "__main__":
    main()
