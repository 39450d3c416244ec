"""
shelves: knowledge answers first; what past conversations add is shown below it.

Of a conversation only the words that answer count: that the same was asked before is no evidence.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mcp_server.actions.recall.evidence import Evidence
from mcp_server.adapters.index.memories import scopes
from mcp_server.adapters.index.search import lexical
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search import confidence, ranking
from mcp_server.core.search.query import Confidence, Query

KNOWN = (Kind.KNOWLEDGE, Kind.SESSION)
MOST = 2  # past conversations below the knowledge
ROOM = 400  # characters of each


class Contribution(NamedTuple):
    """
    What a conversation that asks the same question says besides.

    `share` is how far its words cover the question, `telling_share` how much of the conversation's text says
    more than the question.
    """

    text: str
    terms: frozenset[str]
    share: float
    telling_share: float


def upper(query: Query) -> Query:
    """Return *query* for the shelf of knowledge, unchanged when the query asks for a kind."""
    return query if query.filter.kinds else replace(query, filter=replace(query.filter, kinds=KNOWN))


def lower(
    db: sqlite3.Connection, query: Query, vaults: Sequence[str], *, in_context: str = ""
) -> Query | None:
    """
    Return *query* for the shelf of past conversations; None when there are none, or a kind is asked for.

    *in_context* is the session that asks, if it still has all that was said in it: that is not past. Only
    knowledge has a type, so a query for a type asks for a kind.
    """
    if query.filter.kinds or query.filter.types:
        return None
    only = replace(query.filter, kinds=(Kind.CONVERSATION,), subagents=False, beside=in_context)
    if not scopes.searched(db, only, vaults).number:
        return None
    return replace(query, limit=min(MOST, query.limit), only_confident=True, expand=False, filter=only)


def answering(db: sqlite3.Connection, text: str, evidence: Sequence[Evidence]) -> dict[int, Contribution]:
    """Return row → what it answers, for those conversations of *evidence* that ask the question *text*."""
    from mcp_server.core.search.echo import (  # slow to load, and a store may have no conversations
        echoed_question,
        without_echo,
    )

    numbers = {
        conversation.number: {conversation.matching, *conversation.passages} - {0}
        for conversation in evidence
    }
    texts = lexical.passage_texts(db, [*set().union(*numbers.values())])
    question = echoed_question(text)
    contributions = {}
    for conversation in evidence:
        passages = [texts[number] for number in sorted(numbers[conversation.number]) if number in texts]
        remaining = [without_echo(passage, question) for passage in passages]
        if remaining != passages:
            telling_share = sum(map(len, remaining)) / sum(map(len, passages))
            contributions[conversation.number] = max(
                (
                    _answering(passage, question.answered_by(passage), conversation, telling_share)
                    for passage in remaining
                ),
                key=lambda answer: answer.share,
            )
    return contributions


def weighed(answer: Contribution, words_asked: int, margin: float) -> Confidence:
    """
    Return how far *answer* can be relied on: by its own words alone, and never highly.

    *words_asked* counts the telling words of the question, *margin* is by how much every threshold is higher.
    """
    by_words = confidence.weigh(
        cosine=None,
        coverage=answer.share,
        words_matched=len(answer.terms),
        words_asked=words_asked,
        margin=margin,
    )
    return min(by_words.verdict, Confidence.MEDIUM, key=confidence.ORDER.index)


def as_sure(hit: Confidence, knowledge: Confidence) -> bool:
    """Tell whether a conversation of confidence *hit* helps below the knowledge, of that confidence."""
    return confidence.ORDER.index(hit) >= confidence.ORDER.index(knowledge)


def _answering(passage: str, terms: frozenset[str], evidence: Evidence, telling_share: float) -> Contribution:
    return Contribution(passage, terms, ranking.coverage(terms, evidence.matches.weights), telling_share)
