"""A store of made-up memories, filled as fast as files can be written."""

from pathlib import Path

import numpy as np

from benchmarks import synthetic
from mcp_server.actions.sync import rebuild
from mcp_server.adapters import memory_file
from mcp_server.adapters.index import vectors
from mcp_server.adapters.vault import make_vault_folders
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Memory

ASKED_ABOUT = 2000  # memories that questions are made from
BATCH = 2000  # vectors in one transaction


def open_empty(folder: Path) -> Opened:
    """Return a store without memories below *folder*, seen from a project of its own."""
    project = folder / "project"
    project.mkdir()
    return Opened({"MEMORY_DIR": str(folder / "memory"), "HOME": str(folder)}, folder=project)


def write_files(opened: Opened, size: int) -> list[Memory]:
    """Write *size* memories into the project's vault, past the index; return some of them to ask about."""
    vault = opened.store().vaults[-1]
    make_vault_folders(vault)
    asked: list[Memory] = []
    for memory in synthetic.memories(size):
        vault.path_for(memory.id, memory.kind).write_bytes(memory_file.render(memory))
        if len(asked) < ASKED_ABOUT:
            asked.append(memory)
    return asked


def make_index(opened: Opened) -> None:
    rebuild(opened.store())


def give_vectors(opened: Opened) -> None:
    """Give every passage that has none a random unit vector."""
    meaning = opened.meaning()
    assert meaning, opened.meaning.problem
    embedder = meaning.embedder
    chance = np.random.default_rng(0)
    while True:
        with opened.database.read() as db:
            batch = vectors.pending(db, embedder.model, BATCH)
        if not batch:
            return
        made = chance.standard_normal((len(batch), embedder.dimensions)).astype("<f4")
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        with opened.database.write() as db:
            rows = zip((passage for passage, _, _ in batch), (row.tobytes() for row in made), strict=True)
            vectors.put_vectors(db, embedder.model, rows)
