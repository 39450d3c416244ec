"""boosts: what raises a memory in an answer beyond its relevance, each with its factor."""

from collections.abc import Sequence

from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.memory import DAY
from mcp_server.core.search import ranking
from mcp_server.core.search.query import Query, Sort, asks_about_now, named_paths, quoted_phrases
from mcp_server.core.text.time_words import span_of
from mcp_server.core.text.words import query_terms, spelled, words
from mcp_server.store import Store


def boosts_of(
    store: Store, query: Query, text: str, rows: Sequence[Row]
) -> list[tuple[tuple[str, float], ...]]:
    """Return for each of *rows* the names and factors of what speaks for it in the question *text*."""
    phrases = quoted_phrases(text)
    paths = named_paths(text)
    asked = {
        *query_terms(text),
        *words(spelled(text)),
        *(said.strip(",;:!?") for said in text.lower().split()),
    }
    span = span_of(text, store.clock())
    now = store.now()
    about_now = query.sort is Sort.COMPOSITE and not query.filter.as_of and asks_about_now(text)
    return [
        (
            *([("now", ranking.now_boost(recency_of(row, now)))] if about_now else []),
            *([("tag", ranking.TAG_BOOST)] if asked.intersection(map(_as_asked, row.tags)) else []),
            *([("phrase", ranking.PHRASE_BOOST)] if _has_phrase(row, phrases) else []),
            *([("path", ranking.PATH_BOOST)] if _touches(row, paths) else []),
            *([("time", ranking.TIME_BOOST)] if span and span.meets(row.created_at, row.updated_at) else []),
        )
        for row in rows
    ]


def recency_of(row: Row, now: int) -> float:
    """Return how recent *row* is *now*, in seconds: 1 for a memory updated this moment."""
    return ranking.recency((now - row.updated) / DAY)


def _as_asked(tag: str) -> str:
    """Return *tag* as a question has it among its words: `c#` as "csharp"."""
    return spelled(tag).strip()


def _has_phrase(row: Row, phrases: Sequence[str]) -> bool:
    said = f"{row.title}\n{row.text}".casefold() if phrases else ""
    return any(phrase in said for phrase in phrases)


def _touches(row: Row, paths: Sequence[str]) -> bool:
    return any(touched.partition(":")[0].endswith(path) for touched in row.touches for path in paths)
