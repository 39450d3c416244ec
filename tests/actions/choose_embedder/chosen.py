"""Memories to embed, a store whose model is chosen, and which model answers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcp_server.actions.model.choose_embedder import choose
from mcp_server.actions.recall.recall import recall
from mcp_server.core.search.query import Answer, Mode, Query
from mcp_server.embedding import load_embedder
from mcp_server.store import Store
from tests.conftest import Open

MEMORIES = 40  # more than two batches
TITLES = [
    f"{word} number {n}" for n, word in enumerate(["quagga", "zebra", "okapi", "tapir"] * (MEMORIES // 4))
]


class Chosen:
    """A store of its own process whose model is named in config.toml, as `daybook model use` does."""

    def __init__(self, open_here: Open) -> None:
        self._open = open_here
        self.opened = open_here(EMBEDDING_MODEL="")

    @property
    def store(self) -> Store:
        return self.opened.store()

    def use(self, setting: Path | str) -> Store:
        choose(self.store, str(setting), load=lambda setting: load_embedder(self.opened.home, setting))
        return self.store

    def another_process(self) -> Store:
        return self._open(EMBEDDING_MODEL="").store()


def ask(store: Store, question: str = "quagga") -> Answer:
    return recall(store, Query(question, mode=Mode.SEMANTIC))


def found_by_meaning(store: Store) -> set[str]:
    hits = recall(store, Query("seen", mode=Mode.SEMANTIC, limit=50)).hits
    return {hit.id for hit in hits if hit.parts.cosine is not None}


def who_answers(store: Store) -> str:
    """Return the folder of the model whose query and vectors a search really uses."""
    meaning = store.meaning()
    assert meaning
    best = ask(store, TITLES[0]).hits[0]
    assert best.parts.cosine is not None
    with store.database.read() as db:
        (vector,) = db.execute(
            "SELECT v.embedding FROM vectors v JOIN passages p ON p.row = v.passage JOIN memories m"
            " ON m.row = p.memory WHERE m.id = ? AND v.model = ?",
            (best.id, meaning.embedder.model),
        ).fetchone()
    assert len(vector) == 4 * meaning.embedder.dimensions
    return meaning.embedder.model.rpartition("-")[0]


def stored_models(store: Store) -> set[str]:
    with store.database.read() as db:
        return {row[0].rpartition("-")[0] for row in db.execute("SELECT DISTINCT model FROM vectors")}


class Stop(Exception):
    pass


@contextmanager
def stopped_after(batches: int) -> Iterator[Callable[[int], None]]:
    """Give a progress that ends the work after that many batches."""
    batches_left = [batches]

    def advance(_: int) -> None:
        batches_left[0] -= 1
        if not batches_left[0]:
            raise Stop

    with pytest.raises(Stop):
        yield advance
