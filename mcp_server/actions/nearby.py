"""nearby: the memories that may be about the same thing as a new one, for whoever can tell."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mcp_server.actions.recall import recall
from mcp_server.core.errors import IndexUnavailable
from mcp_server.core.gate import COVERAGE_SHARE, MAXSIM_SHARE
from mcp_server.core.memory import Draft, Kind
from mcp_server.core.query import Filter, Hit, Mode, Query, Sort
from mcp_server.core.render import one_line
from mcp_server.core.verdict import Statement, guarded_difference, jaccard
from mcp_server.core.words import STOP_WORDS, content_words, query_terms
from mcp_server.store import Store

NEIGHBOURS = 10  # nearest memories that are looked at
AT_ONCE = 5  # of those, before the file is written,
LONGEST_WORDS = 3  # and words that they are looked for with
NAMED = 3  # memories, at most, that an answer names
# From where a memory may be about the same thing; benchmarks/README.md has what that names.
NEAR_EVIDENCE = 0.80  # cosine plus the gate's shares,
NEAR_COMMON = 0.06  # if this share of the telling words is common as well,
SURE_EVIDENCE = 1.10  # cosine plus the gate's shares alone,
NEAR_WORDS = 0.20  # share of common words without an embedding model


@dataclass(frozen=True, slots=True)
class Near:
    """A memory that may be about the same thing: its id, title and day, and what differs ('' if nothing)."""

    id: str
    title: str
    updated: str
    differs: str

    def __str__(self) -> str:
        differs = f", differs in {self.differs}" if self.differs else ""
        return f'{self.id} ({self.updated}) "{one_line(self.title, 80)}"{differs}'


def neighbours_of(store: Store, text: str, *, mode: Mode = Mode.HYBRID, limit: int = NEIGHBOURS) -> list[Hit]:
    """Return the memories nearest to *text* that may be changed: those of vaults the person made."""
    query = Query(text, mode, Sort.RELEVANCE, limit, filter=Filter(kinds=(Kind.KNOWLEDGE,)))
    adopted = {vault.key for vault in store.vaults if vault.adopted}
    return [hit for hit in recall(store, query).hits if hit.ref.rpartition("/")[0] in adopted]


def nearest(store: Store, draft: Draft) -> list[Hit]:
    """Return the memories nearest to *draft*, by words and meaning; none where the index cannot be used."""
    if draft.kind is not Kind.KNOWLEDGE or draft.id:
        return []
    repeats = draft.text.casefold().startswith(draft.title.casefold().rstrip("\u2026."))
    return _found(store, draft.text if repeats else f"{draft.title}\n{draft.text}", Mode.HYBRID, NEIGHBOURS)


def sharing_words(store: Store, draft: Draft) -> list[Hit]:
    """Return memories that share the longest words with *draft*, which are rare and quick to look up."""
    if draft.kind is not Kind.KNOWLEDGE or draft.id:
        return []
    telling = sorted(content_words(draft.text), key=lambda word: (-len(word), word))[:LONGEST_WORDS]
    return _found(store, " ".join(telling), Mode.KEYWORD, AT_ONCE)


def _found(store: Store, text: str, mode: Mode, limit: int) -> list[Hit]:
    try:
        return neighbours_of(store, text, mode=mode, limit=limit)
    except IndexUnavailable:
        return []


def named(draft: Draft, hits: Sequence[Hit], gone: Collection[str]) -> tuple[Near, ...]:
    """Return at most three of *hits* that may be about the same thing as *draft*, none of *gone*."""
    own = stated(draft)
    near = [hit for hit in hits if hit.id not in gone and _is_near(own, hit)]
    return tuple(
        Near(hit.id, hit.title, f"{hit.updated:%Y-%m-%d}", guarded_difference(own.said, shown(hit).said))
        for hit in near[:NAMED]
    )


def _is_near(own: Statement, hit: Hit) -> bool:
    common = jaccard(_telling(own.said), _telling(shown(hit).said))
    if hit.parts.cosine is None:
        return common >= NEAR_WORDS
    evidence = hit.parts.cosine + MAXSIM_SHARE * (hit.parts.maxsim or hit.parts.cosine)
    evidence += COVERAGE_SHARE * hit.parts.coverage
    return evidence >= (NEAR_EVIDENCE if common >= NEAR_COMMON else SURE_EVIDENCE)


def _telling(text: str) -> frozenset[str]:
    return frozenset(query_terms(text)) - STOP_WORDS


def stated(draft: Draft) -> Statement:
    """Return what *draft* says, as the rules of the core compare it."""
    return Statement(draft.title, draft.text, draft.type, draft.source)


def shown(hit: Hit) -> Statement:
    """Return what a hit says; of a long memory that is one passage."""
    return Statement(hit.title, hit.text, hit.type)
