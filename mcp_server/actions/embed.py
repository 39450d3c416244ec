"""embed: give every passage that lacks one its vector."""

from collections.abc import Callable

from mcp_server.adapters.index import changelog, vectors
from mcp_server.store import Store

BATCH = 16  # passages in one transaction: about a third of a second of one core


def pending(store: Store) -> int:
    """Return how many passages have no vector yet."""
    with store.database.read() as db:
        return vectors.count_pending(db)


def embed_pending(store: Store, *, progress: Callable[[int], None] | None = None) -> int:
    """
    Embed the passages without a vector, newest first, until none is left; return how many.

    Does nothing while there is no embedder. Killed at any point it loses one batch, which is done again.
    """
    meaning = store.meaning()
    if meaning is None:
        return 0
    embedder = meaning.embedder
    with store.database.read() as db:
        foreign = vectors.other_model(db, embedder.model)
    if foreign:
        with store.database.write() as db:
            vectors.adopt_model(db, embedder.model)
    done = 0
    while True:
        with store.database.read() as db:
            batch = vectors.pending(db, BATCH)
        if not batch:
            return done
        found = embedder.embed_passages([text for _, _, text in batch])
        with store.database.write() as db:
            vectors.put_vectors(
                db, embedder.model, zip((passage for passage, _, _ in batch), found, strict=True)
            )
            changelog.note_embedded(db, {memory for _, memory, _ in batch}, store.now())
        done += len(batch)
        if progress:
            progress(len(batch))
