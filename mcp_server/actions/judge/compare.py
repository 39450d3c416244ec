"""
compare: compare a new memory with its nearest ten; keep in the index which two may be about the same thing.

The nearest ten are those of its own vault; a project's memory is compared with the person's memories, too.

It runs after the answer, where passages are embedded or memories tidied, so that no answer waits for it.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from mcp_server.actions.model.embed import chosen_model
from mcp_server.adapters.index.memories import memories, pairs, selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.memories.pairs import Pair
from mcp_server.adapters.index.search import lexical, vectors
from mcp_server.core.judge.questions import OTHER, likeness
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search.query import Filter
from mcp_server.core.text.text_relation import Statement
from mcp_server.core.text.words import query_terms
from mcp_server.store import Store

if TYPE_CHECKING:  # slow to import
    from mcp_server.adapters.index.search.semantic import Meaning

BATCH = 16  # memories in one transaction: a tenth of a second at most
NEAREST = 10  # memories with which one is compared

_KNOWLEDGE = Filter(kinds=(Kind.KNOWLEDGE,))


def compare_pending(store: Store, *, most: int | None = None) -> int:
    """
    Compare the new memories, at most *most*, the newest first; return how many were compared.

    A memory without a vector is compared by words, and again when it has one. Raises IndexUnavailable.
    """
    compared = 0
    while most is None or compared < most:
        count = _compare_batch(store, BATCH if most is None else min(BATCH, most - compared))
        if not count:
            break
        compared += count
    return compared


def _compare_batch(store: Store, limit: int) -> int:
    """Compare at most *limit* new memories; return how many were compared."""
    with store.database.read() as db:
        if not pairs.uncompared(db, chosen_model(store), 1):
            return 0  # the usual case: return before a model is loaded
    meaning = store.meaning()
    model = meaning.matrix.model if meaning else ""
    user = store.user_vault.key
    with store.database.read() as db:
        numbers = pairs.uncompared(db, model, limit)
        if not numbers:
            return 0
        vectors_of_new = vectors.of_beginnings(db, model, numbers) if meaning else {}
        everywhere = selections.vaults_in_use(db)
        occurrences = lexical.Occurrences(db)
        near: dict[int, list[int]] = {}
        for row in memories.by_rows(db, numbers).values():
            others = [key for key in everywhere if key != user] if row.vault == user else [user]
            near[row.row] = [
                number
                for vaults in ([row.vault], others)
                if vaults
                for number in _nearest(occurrences, meaning, row, vectors_of_new.get(row.row), vaults)
            ]
        together = {*numbers, *chain.from_iterable(near.values())}
        rows = memories.by_rows(db, together)
        embedded = vectors.of_beginnings(db, model, together) if meaning else {}
    results = {number: _pairs(rows, number, near.get(number, ()), embedded, user) for number in numbers}
    with store.database.write() as db:
        rows_now = memories.by_rows(db, together)
        unchanged = {
            number
            for number in rows.keys() & rows_now.keys()
            if rows[number].digest == rows_now[number].digest
        }
        for number, alike in results.items():
            if number in unchanged:  # a memory that changed meanwhile is compared again, with its new text
                still_alike = [pair for pair in alike if {pair.first, pair.other} <= unchanged]
                pairs.put(db, number, model if number in vectors_of_new else "", still_alike)
    return len(numbers)


def _nearest(
    occurrences: lexical.Occurrences,
    meaning: "Meaning | None",
    row: Row,
    vector: bytes | None,
    vaults: Sequence[str],
) -> list[int]:
    """Return the rows of the ten memories of *vaults* nearest to *row*, by its *vector*, else by words."""
    db = occurrences.db
    if meaning and vector:
        cosines = meaning.matrix.search(
            db, [vector], vaults=vaults, kinds=[Kind.KNOWLEDGE], among=None, also=[()]
        )[0]
        nearness = {number: pair.best for number, pair in cosines.items()}
    else:
        terms = query_terms(f"{row.title}\n{row.text}")
        nearness = dict(lexical.search(occurrences, [terms], _KNOWLEDGE, vaults)[0].memories)
    short = pairs.short_of(db, nearness.keys()) - {row.row}
    return sorted(short, key=lambda number: (-nearness[number], number))[:NEAREST]


def _pairs(
    rows: Mapping[int, Row], number: int, near: Sequence[int], embedded: Mapping[int, bytes], user: str
) -> list[Pair]:
    """
    Return which of *near* may be about the same thing as the memory *number*; all are row numbers.

    *embedded* has the vectors of those that have one, *user* is the key of the user's vault.
    """
    alike_pairs = []
    for other in near:
        if other not in rows:
            continue
        low, high = sorted((number, other))
        stated, other_stated = (Statement(row.title, row.text, row.type) for row in (rows[low], rows[high]))
        cosine = pairs.cosine(embedded[low], embedded[high]) if {low, high} <= embedded.keys() else None
        if alike := likeness(stated, other_stated, cosine):
            fuller = (high if alike.fuller == OTHER else low) if alike.fuller else 0
            if alike.same_words and rows[low].vault != rows[high].vault:
                fuller = low if rows[low].vault == user else high  # a user memory holds here, too
            alike_pairs.append(Pair(low, high, alike.nearness, alike.differs, fuller))
    return alike_pairs
