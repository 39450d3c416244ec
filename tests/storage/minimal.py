"""A storage in a dictionary: the least that keeps what the port promises, as an example for others."""

import threading
from collections.abc import Callable, Sequence
from datetime import datetime

from mcp_server.core.errors import Conflict, NotFound
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import clean_text, fingerprint
from mcp_server.core.search import confidence, ranking
from mcp_server.core.search.query import Query, check_limit
from mcp_server.core.search.ranking import Score
from mcp_server.core.storage.port import PAGE, ChangeKind, ChangeRecord, Result, Results, Stored
from mcp_server.core.text.words import query_terms


class MinimalStorage:
    """Memories of one person in memory, found by how many of the question's words they have."""

    def __init__(self, author: str, clock: Callable[[], datetime]) -> None:
        self._author = author
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, Stored] = {}
        self._forgotten: dict[str, Stored] = {}
        self._changes: dict[str, list[ChangeRecord]] = {}

    def save(self, memory: Memory, *, replaces: str = "") -> Stored:
        clean_text(memory.text)
        new = Stored(memory, fingerprint("", repr(memory)), self._author)
        with self._lock:
            stored = self._kept.get(memory.id)
            if stored and stored.digest == new.digest:
                return stored
            if replaces and not stored:
                raise NotFound(memory.id)
            if stored and stored.digest != replaces:
                raise Conflict(f"{memory.id} was changed meanwhile.")
            self._note(memory.id, ChangeKind.REVISED if stored else ChangeKind.CREATED)
            self._kept[memory.id] = new
            self._forgotten.pop(memory.id, None)
        return new

    def load(self, memory_id: str) -> Stored:
        try:
            return self._kept[memory_id]
        except KeyError:
            raise NotFound(memory_id) from None

    def search(self, query: Query) -> Results:
        limit = check_limit(query.limit)
        terms = frozenset(query_terms(query.text))
        by_share = sorted(
            ((self._share(stored.memory, terms), stored) for stored in self._kept.values()),
            key=lambda pair: (-pair[0], pair[1].memory.id),
        )
        best = [_result(stored, share) for share, stored in by_share if share > 0]
        return Results(tuple(best[:limit]), semantic=False)

    def forget(self, memory_id: str, *, digest: str) -> None:
        with self._lock:
            stored = self.load(memory_id)
            if stored.digest != digest:
                raise Conflict(f"{memory_id} was changed meanwhile.")
            self._note(memory_id, ChangeKind.FORGOTTEN)
            self._forgotten[memory_id] = self._kept.pop(memory_id)

    def restore(self, memory_id: str) -> Stored:
        with self._lock:
            if memory_id not in self._forgotten:
                raise NotFound(memory_id)
            self._note(memory_id, ChangeKind.RESTORED)
            self._kept[memory_id] = self._forgotten.pop(memory_id)
            return self._kept[memory_id]

    def history(self, memory_id: str) -> Sequence[ChangeRecord]:
        try:
            return tuple(self._changes[memory_id])
        except KeyError:
            raise NotFound(memory_id) from None

    def page(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        ids = sorted(memory_id for memory_id in self._kept if memory_id > after)
        return tuple(self._kept[memory_id] for memory_id in ids[:most])

    def _note(self, memory_id: str, kind: ChangeKind) -> None:
        stored = self._kept.get(memory_id)
        before = stored.memory if stored else None
        self._changes.setdefault(memory_id, []).append(
            ChangeRecord(kind, self._clock(), self._author, before)
        )

    def _share(self, memory: Memory, terms: frozenset[str]) -> float:
        texts = (memory.title, memory.text, *memory.tags, *memory.use_when)
        memory_terms = frozenset(term for text in texts for term in query_terms(text))
        return len(terms & memory_terms) / len(terms) if terms else 0.0


def _result(stored: Stored, share: float) -> Result:
    """Return *stored* as a result that has that *share* of the question's words, and nothing else."""
    relevance = ranking.relevance(words=share, near=0.0, cosine=None)
    score = Score(
        words=share,
        near=0.0,
        cosine=None,
        mean=None,
        maxsim=None,
        coverage=share,
        relevance=relevance,
        boosts=(),
        recency=0.0,
        usage=0.0,
        trust=0.0,
        helpfulness=0.0,
        total=relevance,
    )
    weighed = confidence.weigh(cosine=None, coverage=share, words_matched=1, words_asked=1)
    return Result(stored, stored.memory.text, score, weighed.verdict)
