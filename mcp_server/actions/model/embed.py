"""
embed: give every passage that lacks one its vector of the chosen model.

A passage has one vector. When another model is chosen, its vectors replace the old ones one by one; until its
vector is replaced, a memory is found by words.
"""

import contextlib
import math
from collections.abc import Callable, Sequence

from mcp_server.adapters.index.memories import changelog, selections
from mcp_server.adapters.index.search import vectors
from mcp_server.adapters.model_folder import name_of
from mcp_server.core.embedding_models import NONE
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.ports import Embedded, Embedder
from mcp_server.core.search.query import Answer, Confidence, Mode, Query
from mcp_server.core.text.private import has_private
from mcp_server.store import Store

Batch = Sequence[tuple[int, int, str]]
"""(passage, memory, text) of each, as the index numbers them."""
BATCH = 16  # passages in one transaction: about a third of a second of one core


def chosen_model(store: Store) -> str:
    """Return the name that the chosen model has beside its vectors, '' when it is not here; loads nothing."""
    with contextlib.suppress(EmbedderUnavailable):
        if store.settings.embedding_model != NONE:
            return name_of(store.home, store.settings.embedding_model)
    return ""


def pending(store: Store) -> int:
    """Return how many passages have no vector of the chosen model, 0 when none is wanted."""
    if store.settings.embedding_model == NONE:
        return 0
    with store.database.read() as db:
        return vectors.count_pending(db, chosen_model(store))


def unseen(store: Store, query: Query, answer: Answer) -> int:
    """Return how many passages a search by meaning, which is sure of nothing, could not see yet."""
    by_meaning = query.mode is not Mode.KEYWORD
    return pending(store) if by_meaning and answer.verdict is Confidence.NONE else 0


def embed_pending(
    store: Store,
    *,
    progress: Callable[[int], None] | None = None,
    replace: bool = True,
    most: float = math.inf,
) -> int:
    """
    Embed the passages without a vector, newest first, until none is left or *most* are done; return how many.

    Vectors of another model are replaced. Without *replace* nothing is done while there are any, because that
    takes minutes: only the server, or a caller who waits for it, does it. Does nothing while there is no
    model, and ends where it does not answer or another is chosen: `store.meaning.problem` says why. A kill at
    any point loses one batch, which is done again.
    """
    meaning = store.meaning.loaded()
    if meaning is None:
        return 0
    embedder = meaning.embedder
    with store.database.read() as db:
        if not replace and vectors.are_of_others(db, embedder.model):
            return 0
    # The passages in between have their vectors; looking at them again for each batch would be quadratic.
    newest, oldest = 0, vectors.ABOVE_ALL
    count = 0
    while count < most:
        with store.database.read() as db:
            batch = vectors.pending(db, embedder.model, BATCH, above=newest)
            batch = batch or vectors.pending(db, embedder.model, BATCH, below=oldest)
        if not batch:
            break
        newest, oldest = max(newest, batch[0][0]), batch[-1][0]
        if store.meaning() is not meaning:
            break  # what the person no longer chooses is sent nothing more
        try:
            embedded = _embedded(store, embedder, batch)
        except EmbedderUnavailable:
            break
        with store.database.write() as db:
            vectors.put_vectors(db, embedder.model, zip((row for row, _, _ in batch), embedded, strict=True))
            changelog.note_embedded(db, {memory for _, memory, _ in batch}, store.now())
        count += len(batch)
        if progress:
            progress(len(batch))
    return count


def _embedded(store: Store, embedder: Embedder, batch: Batch) -> list[Embedded]:
    """
    Return what the model makes of *batch*; raises EmbedderUnavailable.

    No passage of a memory in which the person marked something as private is sent anywhere: its vector is
    zero, so that words alone find it.
    """
    stays: set[int] = set()
    if embedder.sends:
        with store.database.read() as db:
            texts = selections.texts_of(db, {memory for _, memory, _ in batch})
        stays = {memory for memory, text in texts.items() if has_private(text)}
    sent = iter(embedder.embed_passages([text for _, memory, text in batch if memory not in stays]))
    nothing = Embedded(bytes(4 * embedder.dimensions), b"")
    return [nothing if memory in stays else next(sent) for _, memory, _ in batch]
