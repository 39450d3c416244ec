"""
compare: compare a new memory with its nearest ten; keep in the index which two may be about the same thing.

The nearest ten are those of its own vault; a project's memory is compared with the person's memories, too.

It runs after the answer, where passages are embedded or memories tidied, so that no answer waits for it.
"""

from collections.abc import Collection, Mapping, Sequence

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
        own = vectors.of_beginnings(db, model, numbers) if meaning else {}
        everywhere = selections.vaults_in_use(db)
        near: dict[int, list[int]] = {}
        for row in memories.by_rows(db, numbers).values():
            others = [key for key in everywhere if key != user] if row.vault == user else [user]
            occurrences = lexical.Occurrences(db)
            for vaults in filter(None, ([row.vault], others)):
                if meaning and row.row in own:
                    cosines = meaning.matrix.search(
                        db, [own[row.row]], vaults=vaults, kinds=[Kind.KNOWLEDGE], among=None, also=[()]
                    )[0]
                    by_number = {number: pair.best for number, pair in cosines.items()}
                else:
                    terms = query_terms(f"{row.title}\n{row.text}")
                    by_number = dict(lexical.search(occurrences, [terms], _KNOWLEDGE, vaults)[0].memories)
                short = pairs.short_of(db, by_number.keys()) - {row.row}
                near.setdefault(row.row, []).extend(_nearest(by_number, short))
        together = {*numbers, *(number for by_number in near.values() for number in by_number)}
        rows = memories.by_rows(db, together)
        embedded = vectors.of_beginnings(db, model, together) if meaning else {}
    results = {number: _pairs(rows, number, near.get(number, ()), embedded, user) for number in numbers}
    with store.database.write() as db:
        now = memories.by_rows(db, together)
        for number, alike in results.items():
            # A memory that changed meanwhile is compared again, with its new text.
            if _same(rows, now, number):
                unchanged = [
                    pair for pair in alike if _same(rows, now, pair.first) and _same(rows, now, pair.other)
                ]
                pairs.put(db, number, model if number in own else "", unchanged)
    return len(numbers)


def _nearest(likeness: Mapping[int, float], among: Collection[int]) -> list[int]:
    return sorted(among, key=lambda number: (-likeness[number], number))[:NEAREST]


def _pairs(
    rows: dict[int, Row], number: int, near: Sequence[int], embedded: dict[int, bytes], user: str
) -> list[Pair]:
    near_pairs = []
    for second in near:
        if second not in rows:
            continue
        first, last = sorted((number, second))
        statement, other = (Statement(row.title, row.text, row.type) for row in (rows[first], rows[last]))
        cosine = pairs.cosine(embedded[first], embedded[last]) if {first, last} <= embedded.keys() else None
        if alike := likeness(statement, other, cosine):
            fuller = (last if alike.fuller == OTHER else first) if alike.fuller else 0
            if alike.same_words and rows[first].vault != rows[last].vault:
                fuller = first if rows[first].vault == user else last  # a user memory holds here, too
            near_pairs.append(Pair(first, last, alike.nearness, alike.differs, fuller))
    return near_pairs


def _same(rows: dict[int, Row], now: dict[int, Row], number: int) -> bool:
    return number in now and now[number].digest == rows[number].digest
