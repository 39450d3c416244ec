"""
embed: give every passage that lacks one its vector.

When another model is chosen, its vectors are computed beside those that answer; when none is missing
any more, one fact in the index changes, all processes answer with the new model, and the old vectors go.
"""

import math
from collections.abc import Callable

from mcp_server.adapters.index.memories import changelog
from mcp_server.adapters.index.search import vectors
from mcp_server.adapters.index.search.vectors import Answering
from mcp_server.core.embedding_models import NONE
from mcp_server.core.ports import Embedder
from mcp_server.core.search.query import Answer, Mode, Query
from mcp_server.store import Store

BATCH = 16  # passages in one transaction: about a third of a second of one core
SLICE = 2000  # old vectors deleted in one transaction: a few hundredths of a second


def pending(store: Store) -> int:
    """Return how many passages have no vector of the model that answers."""
    with store.database.read() as db:
        told = vectors.answering(db)
        return vectors.count_pending(db, told.model if told else "")


def unseen(store: Store, query: Query, answer: Answer) -> int:
    """Return how many passages a search by meaning alone, which found nothing, could not see yet."""
    by_meaning = query.mode is Mode.SEMANTIC and store.settings.embedding_model != NONE
    return pending(store) if by_meaning and not answer.hits else 0


def embed_pending(
    store: Store,
    *,
    progress: Callable[[int], None] | None = None,
    coming: bool = True,
    most: float = math.inf,
) -> int:
    """
    Embed the passages without a vector, newest first, until none is left or *most* are done; return how many.

    With *coming* also for the model that is chosen and does not answer yet, which answers when it is done.
    Does nothing while there is no embedder. Killed at any point it loses one batch, which is done again.
    """
    chosen = store.embedder()
    if chosen:
        _begin(store, chosen)
    _drop_old(store)
    done, reached = 0, 1 << 62
    while True:
        meaning = store.meaning()
        answers = meaning.embedder if meaning else chosen
        count, _ = _embed_batch(store, answers) if answers else (0, 0)
        if not count and coming and chosen and (not answers or answers.model != chosen.model):
            # From where the last batch ended, not from the newest: else each batch would pass all done.
            count, reached = _embed_batch(store, chosen, below=reached)
        if count:
            done += count
            if progress:
                progress(count)
            if done >= most:
                return done
        elif not coming or chosen is None or change_over(store, chosen):
            _drop_old(store)
            return done


def _begin(store: Store, chosen: Embedder) -> None:
    """Let *chosen* answer at once when nothing else can: there is no other model, or it has no vector."""
    with store.database.read() as db:
        told = vectors.answering(db)
        if told and (told.model == chosen.model or vectors.count_vectors(db, told.model)):
            return
    with store.database.write() as db:
        vectors.answer_with(db, _as_answering(store, chosen))


def _embed_batch(store: Store, embedder: Embedder, *, below: int | None = None) -> tuple[int, int]:
    """Embed up to 16 passages; return how many, and the number of the oldest of them."""
    top = 1 << 62
    with store.database.read() as db:
        if not vectors.count_pending(db, embedder.model):
            return 0, top
        batch = vectors.pending(db, embedder.model, BATCH, below=below or top)
        if not batch and below not in (None, top):
            batch = vectors.pending(db, embedder.model, BATCH, below=top)
    if not batch:
        return 0, top
    found = embedder.embed_passages([text for _, _, text in batch])
    with store.database.write() as db:
        vectors.put_vectors(db, embedder.model, zip((row for row, _, _ in batch), found, strict=True))
        changelog.note_embedded(db, {memory for _, memory, _ in batch}, store.now())
    return len(batch), batch[-1][0]


def change_over(store: Store, chosen: Embedder) -> bool:
    """Let *chosen* answer if it does not yet; false when passages came that it has no vector of."""
    with store.database.read() as db:
        told = vectors.answering(db)
    if told and told.model == chosen.model:
        return True
    with store.database.write() as db:
        if vectors.count_pending(db, chosen.model):
            return False
        vectors.answer_with(db, _as_answering(store, chosen))
    return True


def _drop_old(store: Store) -> None:
    with store.database.read() as db:
        old = vectors.is_leaving(db)
    while old:
        with store.database.write() as db:
            old = vectors.drop_leaving(db, SLICE)


def _as_answering(store: Store, chosen: Embedder) -> Answering:
    return Answering(chosen.model, store.settings.embedding_model)
