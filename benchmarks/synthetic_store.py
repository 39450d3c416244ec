"""A store of made-up memories, filled as fast as files can be written."""

import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import synthetic
from mcp_server.actions.files.sync import rebuild
from mcp_server.adapters import memory_file
from mcp_server.adapters.index.memories import changelog
from mcp_server.adapters.index.search import vectors
from mcp_server.adapters.vault import make_vault_folders
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Memory
from mcp_server.core.ports import Embedded

ASKED_ABOUT = 2000  # memories that questions are made from
BATCH = 2000  # vectors in one transaction
TOKENS = 20_000  # different ones, as many as there are words


def open_empty(folder: Path) -> Opened:
    """Return a store without memories below *folder*, seen from a project of its own."""
    project = folder / "project"
    project.mkdir()
    return Opened({"MEMORY_DIR": str(folder / "memory"), "HOME": str(folder)}, folder=project)


def write_files(opened: Opened, size: int) -> list[Memory]:
    """Write *size* memories into the project's vault, past the index; return some of them to ask about."""
    vault = opened.store().vaults[-1]
    make_vault_folders(vault)
    memories_written: list[Memory] = []
    for memory in synthetic.memories(size):
        vault.path_for(memory.id, memory.kind).write_bytes(memory_file.render(memory))
        if len(memories_written) < ASKED_ABOUT:
            memories_written.append(memory)
    return memories_written


def make_index(opened: Opened) -> None:
    rebuild(opened.store())


def give_vectors(opened: Opened) -> None:
    """Give every passage that has none a random unit vector, and each of its words one for its token."""
    meaning = opened.meaning()
    assert meaning, opened.meaning.problem
    embedder = meaning.embedder
    chance = np.random.default_rng(0)
    tokens = unit_vectors(chance, TOKENS, embedder.dimensions)
    looked = {}  # below which number the next are sought: else all that have one are passed over again
    while True:
        with opened.database.read() as db:
            batch = vectors.pending(db, embedder.model, BATCH, **looked)
        if not batch:
            return
        looked = {"below": batch[-1][0]}
        vectors_made = unit_vectors(chance, len(batch), embedder.dimensions)
        with opened.database.write() as db:
            vectors.put_vectors(
                db,
                embedder.model,
                (
                    (passage, Embedded(vector.tobytes(), tokens[_tokens_of(text)].tobytes()))
                    for (passage, _, text), vector in zip(batch, vectors_made, strict=True)
                ),
            )
            # Without it a matrix that was read before knows of none, and a search by meaning costs nothing.
            changelog.note_embedded(db, {memory for _, memory, _ in batch}, now=0)


def unit_vectors(chance: np.random.Generator, count: int, dimensions: int) -> NDArray[np.float32]:
    """Return *count* random vectors of length one, one in each row."""
    vectors_made = chance.standard_normal((count, dimensions)).astype("<f4")
    return np.asarray(vectors_made / np.linalg.norm(vectors_made, axis=1, keepdims=True))


def _tokens_of(text: str) -> list[int]:
    """Return a number for each different word of *text*, the same one for the same word."""
    return sorted({zlib.crc32(word.encode()) % TOKENS for word in text.split()})
