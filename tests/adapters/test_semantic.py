"""The resident matrix says what the vectors in the index say, whatever happened in between."""

from collections.abc import Sequence

import numpy as np
import pytest

from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.adapters.index.memories import changelog
from mcp_server.adapters.index.search import vectors
from mcp_server.adapters.index.search.semantic import Matrix
from mcp_server.core.memory import Draft
from mcp_server.core.ports import Embedded
from mcp_server.store import Store
from tests.conftest import Open

DIMENSIONS = 48


def embed(store: Store, seed: int = 0) -> None:
    """Give every passage that has none a vector of its own."""
    source = np.random.default_rng(seed)
    with store.database.write() as db:
        passages = vectors.pending(db, "made up", 100_000)
        matrix = source.standard_normal((len(passages), DIMENSIONS)).astype("<f4")
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        made_of = [Embedded(row.tobytes(), b"") for row in matrix]
        pairs = zip((passage for passage, _, _ in passages), made_of, strict=True)
        vectors.put_vectors(db, "made up", pairs)
        changelog.note_embedded(db, {memory for _, memory, _ in passages}, store.now())


def exact(store: Store, query: bytes) -> dict[int, float]:
    """Return memory → its best cosine, read from the index."""
    best: dict[int, float] = {}
    with store.database.read() as db:
        for memory, embedding in db.execute(
            "SELECT p.memory, v.embedding FROM vectors v JOIN passages p ON p.row = v.passage"
            " JOIN memories m ON m.row = p.memory WHERE m.status = 'active'"
        ):
            cosine = float(np.frombuffer(embedding, "<f4") @ np.frombuffer(query, "<f4"))
            best[memory] = max(best.get(memory, -1.0), cosine)
    return best


def cosines_of(store: Store, matrix: Matrix, query: bytes, also: Sequence[int] = ()) -> dict[int, float]:
    with store.database.read() as db:
        keys = [vault.key for vault in store.vaults]
        (cosines_by_memory,) = matrix.search(db, [query], vaults=keys, kinds=(), among=None, also=[also])
    return {memory: cosines.best for memory, cosines in cosines_by_memory.items()}


@pytest.fixture
def query() -> bytes:
    direction = np.random.default_rng(9).standard_normal(DIMENSIONS).astype("<f4")
    return (direction / np.linalg.norm(direction)).tobytes()


def test_what_is_new_changed_and_gone_is_known_at_the_next_question(store: Store, query: bytes) -> None:
    matrix = Matrix("made up", DIMENSIONS)
    remembered = [remember(store, Draft(f"Note {number}", f"text {number}")) for number in range(30)]
    embed(store)
    assert cosines_of(store, matrix, query) == pytest.approx(exact(store, query), abs=0.003)

    for memory in remembered[::3]:
        forget(store, memory.memory.id)
    remember(store, Draft("Another", "that came later"))
    embed(store, seed=1)

    assert len(cosines_of(store, matrix, query)) == 21
    assert cosines_of(store, matrix, query) == pytest.approx(exact(store, query), abs=0.003)


def test_a_matrix_that_grows_and_shrinks_stays_right(store: Store, query: bytes) -> None:
    matrix = Matrix("made up", DIMENSIONS)
    long = "\n\n".join(f"Paragraph {number}. " + "It goes on and on. " * 40 for number in range(80))
    remembered = []
    for seed in range(3):
        remembered += [remember(store, Draft(f"Long {seed} {number}", long)) for number in range(8)]
        embed(store, seed=seed)
        assert cosines_of(store, matrix, query) == pytest.approx(exact(store, query), abs=0.003)

    for memory in remembered[1:]:
        forget(store, memory.memory.id)

    assert list(cosines_of(store, matrix, query)) == list(exact(store, query))
    assert cosines_of(store, matrix, query) == pytest.approx(exact(store, query), abs=0.003)


def test_only_two_hundred_are_taken_and_those_asked_for_beside_them(store: Store, query: bytes) -> None:
    matrix = Matrix("made up", DIMENSIONS)
    for number in range(230):
        remember(store, Draft(f"Note {number}", f"text {number}"))
    embed(store)
    every = exact(store, query)
    ranked = sorted(every, key=lambda memory: -every[memory])

    assert set(ranked[:190]) <= set(cosines_of(store, matrix, query)) <= set(ranked[:210])
    assert ranked[-1] in cosines_of(store, matrix, query, also=[ranked[-1]])


def test_a_memory_that_was_archived_meanwhile_has_its_own_cosine(store: Store, query: bytes) -> None:
    """The words found it a moment before the matrix heard of it."""
    matrix = Matrix("made up", DIMENSIONS)
    for number in range(5):
        remember(store, Draft(f"Note {number}", f"text {number}"))
    embed(store)
    every = exact(store, query)
    gone = max(every)
    with store.database.write() as db:
        db.execute("UPDATE memories SET status = 'archived' WHERE row = ?", (gone,))

    assert cosines_of(store, matrix, query, also=[gone]) == pytest.approx(every, abs=0.003)


def test_a_loaded_model_has_read_its_vectors_before_the_first_question(
    open_here: Open,
) -> None:
    store = open_here(EMBEDDING_MODEL="minilm-l6").store()
    remember(store, Draft("Note", "of something"))
    embed_pending(store)

    other = open_here(EMBEDDING_MODEL="minilm-l6").store()
    meaning = other.meaning()

    assert meaning
    statements: list[str] = []
    with other.database.read() as db:
        db.set_trace_callback(statements.append)
        keys = [vault.key for vault in other.vaults]
        answer = meaning.matrix.search(db, [bytes(4 * 384)], vaults=keys, kinds=(), among=None, also=[()])
        db.set_trace_callback(None)
    assert any(answer)
    assert statements
    assert not [statement for statement in statements if "embedding" in statement]
