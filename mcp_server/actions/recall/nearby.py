"""nearby: find memories that may be about the same thing as a new one, for the caller to judge."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from mcp_server.actions.recall.recall import recall
from mcp_server.actions.recall.sent import sent
from mcp_server.adapters.index.events import settled_pairs
from mcp_server.adapters.index.memories import selections
from mcp_server.core.capture.extraction import KNOWN, NEIGHBOUR, known_line
from mcp_server.core.errors import IndexUnavailable
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, vault_in
from mcp_server.core.render import within
from mcp_server.core.search.confidence import COVERAGE_SHARE, MAXSIM_SHARE
from mcp_server.core.search.prompt_parts import sentences_of
from mcp_server.core.search.query import Filter, Hit, Mode, Query, Sort
from mcp_server.core.sessions.transcript import Speaker, Utterance
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.text_relation import Statement, guarded_difference, jaccard
from mcp_server.core.text.words import content_words, query_terms, telling
from mcp_server.store import Store

NEIGHBOURS = 10  # nearest memories that are looked at
AT_ONCE = 5  # of those, before the file is written,
LONGEST_WORDS = 3  # and words that they are looked for with
OF_SENTENCE = 3  # nearest memories of one sentence of a transcript,
SENTENCES = 100  # of which a piece of 6,000 characters seldom has more,
SENTENCE = 200  # characters: with more words the rarest alone would be searched
NAMED = 3  # memories, at most, that an answer names
# From where a memory may be about the same thing; benchmarks/results/learning.md has what that names.
NEAR_EVIDENCE = 0.88  # cosine plus the gate's shares,
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


def neighbours_of(store: Store, text: str, *, mode: Mode = Mode.HYBRID, limit: int) -> list[Hit]:
    """Return the memories nearest to *text* that may be changed: those of vaults the person made."""
    query = Query(text, mode, Sort.RELEVANCE, limit, filter=Filter(kinds=(Kind.KNOWLEDGE,)))
    return [hit for hit in recall(store, query).hits if vault_in(hit.ref) in store.adopted]


def near_sentences(store: Store, utterances: Iterable[Utterance]) -> list[Hit]:
    """
    Return the memories that a piece of a transcript may change: the nearest to each of its sentences.

    One sentence of a piece may change a memory that the rest is not about. Each sentence's nearest come
    first, the nearer before the farther, as many as a model is shown. Of a long memory only the passage near
    a sentence is shown, so a memory may come more than once.
    """
    best: dict[tuple[str, str], tuple[tuple[bool, float], Hit]] = {}
    for sentence in _sentences(utterances):
        for place, hit in enumerate(sent(store, neighbours_of(store, sentence, limit=OF_SENTENCE))):
            order = (place > 0, -_evidence(hit))
            text = excerpt(hit.text, query_terms(sentence), NEIGHBOUR)
            if (hit.ref, text) not in best or order < best[hit.ref, text][0]:
                best[hit.ref, text] = order, replace(hit, text=text)
    hits = [hit for _, hit in sorted(best.values(), key=lambda ranked: (ranked[0], ranked[1].ref))]
    lines = [known_line(number, hit.type, hit.title, hit.text) for number, hit in enumerate(hits, start=1)]
    return hits[: len(within(lines, KNOWN)[0])]


def _sentences(utterances: Iterable[Utterance]) -> list[str]:
    """Return the sentences of *utterances* in pieces that are searched whole; the person's come first."""
    turns = sorted(utterances, key=lambda utterance: utterance.speaker is not Speaker.USER)
    spoken = (turn.words for turn in turns if turn.speaker is not Speaker.TOOL)
    pieces = (
        piece for words in spoken for sentence in sentences_of(words) for piece in wrap(sentence, SENTENCE)
    )
    return list(dict.fromkeys(pieces))[:SENTENCES]


def nearest(store: Store, draft: Draft) -> list[Hit]:
    """Return the memories nearest to *draft*, by words and meaning; none where the index cannot be used."""
    if draft.kind is not Kind.KNOWLEDGE or draft.id:
        return []
    repeats = draft.text.casefold().startswith(draft.title.casefold().rstrip("\u2026."))
    return _near(store, draft.text if repeats else f"{draft.title}\n{draft.text}", Mode.HYBRID, NEIGHBOURS)


def sharing_words(store: Store, draft: Draft) -> list[Hit]:
    """Return memories that share the longest words with *draft*, which are rare and quick to look up."""
    if draft.kind is not Kind.KNOWLEDGE or draft.id:
        return []
    longest = sorted(content_words(draft.text), key=lambda word: (-len(word), word))[:LONGEST_WORDS]
    return _near(store, " ".join(longest), Mode.KEYWORD, AT_ONCE)


def _near(store: Store, text: str, mode: Mode, limit: int) -> list[Hit]:
    try:
        return neighbours_of(store, text, mode=mode, limit=limit)
    except IndexUnavailable:
        return []


def near_to(
    store: Store, draft: Draft, hits: Sequence[Hit], gone_ids: Collection[str], *, of: str = ""
) -> tuple[Near, ...]:
    """
    Return at most three of *hits* that may be about the same thing as *draft*, none of *gone_ids*.

    *of* is the ref of the memory that says what *draft* says: memories told apart from it are left out.
    """
    own = stated(draft)
    near = {hit.ref: hit for hit in hits if hit.id not in gone_ids and _is_near(own, hit)}
    distinct_refs = _told_apart(store, of, list(near)) if of and near else frozenset()
    return tuple(
        Near(
            hit.id,
            hit.title,
            f"{hit.updated:%Y-%m-%d}",
            guarded_difference(own.title_and_text, shown(hit).title_and_text),
        )
        for hit in [hit for ref, hit in near.items() if ref not in distinct_refs][:NAMED]
    )


def _told_apart(store: Store, of: str, refs: Sequence[str]) -> frozenset[str]:
    """Return which of *refs* were told apart from the memory *of*, as both are now."""
    try:
        with store.database.read() as db:
            own = selections.with_ref(db, of)
            rows = [row for ref in refs if (row := selections.with_ref(db, ref))]
            return frozenset(row.ref for row in rows if own and settled_pairs.is_resolved(db, own, row))
    except IndexUnavailable:
        return frozenset()


def _is_near(own: Statement, hit: Hit) -> bool:
    common = jaccard(telling(own.title_and_text), telling(shown(hit).title_and_text))
    if hit.parts.cosine is None:
        return common >= NEAR_WORDS
    return _evidence(hit) >= (NEAR_EVIDENCE if common >= NEAR_COMMON else SURE_EVIDENCE)


def _evidence(hit: Hit) -> float:
    """Return the gate's cosine with its shares; without an embedding model the share of words alone."""
    if hit.parts.cosine is None:
        return hit.parts.coverage
    likeness = hit.parts.cosine + MAXSIM_SHARE * (hit.parts.maxsim or hit.parts.cosine)
    return likeness + COVERAGE_SHARE * hit.parts.coverage


def stated(draft: Draft) -> Statement:
    """Return *draft* as a statement, for the rules of the core to compare."""
    return Statement(draft.title, draft.text, draft.type, draft.source)


def shown(hit: Hit) -> Statement:
    """Return a hit as a statement; of a long memory that is one passage."""
    return Statement(hit.title, hit.text, hit.type)
