"""bench: ask the person's own memories for themselves, and tell which are hard to find."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.events import receipts
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.memory import Kind, Status
from mcp_server.core.search.query import Filter, Query, Sort
from mcp_server.core.secrets.redaction import redact
from mcp_server.store import Store

LOOKED_AT = 10  # hits in which an answer counts as found
WEAK = 5  # an answer behind that place is hard to find: a prompt shows five at most
PAGE = 500

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer: *how* it was made, the memory it is to find, and its place (0: nowhere)."""

    how: str
    text: str
    id: str
    place: int = 0
    milliseconds: float = 0.0
    first: str = ""
    """The id that stood first instead, '' when the answer did."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Every question that was asked, in the order of asking."""

    asked: tuple[Question, ...]

    def of(self, how: str) -> list[Question]:
        return [each for each in self.asked if each.how == how]

    @property
    def weak(self) -> list[Question]:
        """The questions whose answer was not among the first five, the worst first."""
        missed = [each for each in self.asked if not 0 < each.place <= WEAK]
        return sorted(missed, key=lambda each: (each.place or LOOKED_AT + 1, each.id), reverse=True)


def share_within(asked: Sequence[Question], places: int) -> float:
    """Return the share of answers among the first *places*, 0 when nothing was asked."""
    found = sum(0 < each.place <= places for each in asked)
    return found / len(asked) if asked else 0.0


def mean_reciprocal_rank(asked: Sequence[Question]) -> float:
    """Return the mean of 1 / place, 0 for what was not found."""
    return sum(1 / each.place for each in asked if each.place) / len(asked) if asked else 0.0


def bench(store: Store, *, most: int = 200, progress: Progress | None = None) -> Bench:
    """
    Ask for at most *most* active memories by their titles, for what they link to by theirs, and for what
    was of use by what was asked or prompted then.

    The same memories give the same questions. Nothing is noted as recalled. Raises IndexUnavailable.
    """
    active = _active(store)
    store.meaning()  # loading the model is no part of the first answer's time
    asked = []
    for question in (*_questions(store, _sample(active, most)), *_helped(store, active, most)):
        asked.append(_ask(store, question))
        if progress:
            progress(1)
    return Bench(tuple(asked))


def _active(store: Store) -> list[Row]:
    filter = Filter(kinds=(Kind.KNOWLEDGE,))
    rows: list[Row] = []
    while page := list_memories(store, filter, limit=PAGE, offset=len(rows)).rows:
        rows += page
    return rows


def _sample(rows: Sequence[Row], most: int) -> list[Row]:
    """Return *most* of *rows*, the same ones each time, whatever was added since."""
    return sorted(rows, key=lambda row: hashlib.blake2b(row.ref.encode()).digest())[:most]


def _questions(store: Store, rows: Sequence[Row]) -> Iterator[Question]:
    keys = [vault.key for vault in store.vaults]
    for row in rows:
        yield Question("title", row.title, row.id)
        with store.database.read() as db:
            linked = selections.linked_from(db, row.path, keys)
        for target in linked:
            searched = target.kind is Kind.KNOWLEDGE and target.status is Status.ACTIVE
            if searched and target.id != row.id:
                yield Question("link", row.title, target.id)


def _helped(store: Store, active: Sequence[Row], most: int) -> Iterator[Question]:
    ids = {row.ref: row.id for row in active}
    catch_up_if_free(store)
    with store.database.read() as db:
        found = receipts.helped(db, [vault.key for vault in store.vaults], limit=most)
    for said, ref in found:
        if ref in ids:
            yield Question("use", said, ids[ref])


def _ask(store: Store, question: Question) -> Question:
    query = Query(question.text, sort=Sort.RELEVANCE, limit=LOOKED_AT, filter=Filter(kinds=(Kind.KNOWLEDGE,)))
    started = time.perf_counter()
    ids = [hit.id for hit in recall(store, query).hits]
    spent = (time.perf_counter() - started) * 1000
    place = ids.index(question.id) + 1 if question.id in ids else 0
    first = "" if place == 1 or not ids else ids[0]
    return Question(question.how, redact(question.text), question.id, place, spent, first)
