"""evidence: how well each memory answers, by its words, its meaning and its tokens."""

import contextlib
import heapq
import itertools
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from mcp_server.adapters.index.memories import filters, selections
from mcp_server.adapters.index.search import lexical
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.ports import Embedded
from mcp_server.core.search import ranking
from mcp_server.core.search.matches import Matches
from mcp_server.core.search.query import Mode, Query
from mcp_server.core.search.ranking import Cosines
from mcp_server.core.secrets.redaction import find_secrets
from mcp_server.core.text.developer_words import with_other_names
from mcp_server.core.text.private import kept_of
from mcp_server.core.text.words import query_terms
from mcp_server.store import Store

PATIENCE = 3.0  # seconds that a search waits for a model that another program runs
PROMPT_PATIENCE = 0.3  # the same for a prompt, which the person waits for
SHORTLIST = 60  # most relevant memories whose boosts are looked at: ten times a usual answer

_NOT_FOUND = (None, None, ())


class Evidence(NamedTuple):
    """
    What speaks for the memory *number*, its row in the index, as an answer to the *question*-th asked.

    `relevance` is the rest fused, 0 to 1. `matches` is what the words of the question found, `matching` is
    the memory's best passage by words, `passages` are the best by meaning and `answering` is the best of all
    these by tokens, each 0 when there is none; the rest is as in `ranking.Score`.
    """

    number: int
    question: int
    matches: Matches
    relevance: float
    words: float
    near: float
    matching: int
    cosine: float | None = None
    mean: float | None = None
    passages: Sequence[int] = ()
    maxsim: float | None = None
    answering: int = 0

    @property
    def best_passage(self) -> int:
        """The number of the passage that answers best, 0 when there is none."""
        return self.answering or self.matching or (self.passages[0] if self.passages else 0)


class Gathered(NamedTuple):
    """
    The evidence for the most relevant memories, best first, and what they were searched by.

    `questions` are empty and `model` is '' where meaning was not searched.
    """

    evidence: list[Evidence]
    questions: Sequence[Embedded]
    model: str


def gather(
    store: Store,
    db: sqlite3.Connection,
    query: Query,
    text: str,
    vaults: Sequence[str],
    *,
    occurrences: lexical.Occurrences,
    without: Collection[int],
    questions: Sequence[Embedded] | None,
) -> Gathered:
    """
    Return what speaks for the 60 most relevant memories of *vaults*, or three times what *query* asks for.

    The rows *without* are left out. *occurrences* are those of words in *db*. *questions* are the texts as
    the model embedded them before: () when it did not, and words alone answer; None when it was not asked
    yet.

    Its parts are asked one by one instead of *text*, each has as many places among the 60, and a memory
    counts by the part that it answers best.
    """
    meaning = store.meaning() if query.mode is not Mode.KEYWORD and text.strip() else None
    texts = query.parts or (text,)
    texts_to_embed = map(with_other_names, texts) if query.of_prompt else texts
    coming = None
    if meaning and questions is None and (not meaning.embedder.sends or may_be_sent(query.text)):
        coming = meaning.embedding(
            [*texts_to_embed], patience=PROMPT_PATIENCE if query.of_prompt else PATIENCE
        )
    matches = lexical.search(
        occurrences, [query_terms(part) for part in texts], query.filter, vaults, without=without
    )
    with contextlib.suppress(EmbedderUnavailable):  # `store.meaning.problem` says why
        questions = coming.result() if coming else questions
    if not questions:
        meaning, questions = None, ()
    by_words = query.mode is not Mode.SEMANTIC or meaning is None
    cosines: list[dict[int, Cosines]] = [{} for _ in texts]
    if meaning:
        is_simple = filters.is_simple(query.filter)
        among = None if is_simple else selections.row_numbers(db, query.filter, vaults)
        cosines = meaning.matrix.search(
            db,
            [question.vector for question in questions],
            vaults=vaults,
            kinds=query.filter.kinds,
            among=among,
            also=[match.memories if by_words else () for match in matches],
            without=without,
        )
    share = max(SHORTLIST, 3 * query.limit) // len(texts)
    of_each = [
        _most_relevant(occurrences, question, *of_question, by_words=by_words, most=share)
        for question, of_question in enumerate(zip(matches, cosines, strict=True))
    ]
    model = meaning.matrix.model if meaning and any(cosines) else ""
    return Gathered(_once(of_each), questions, model)


def may_be_sent(text: str) -> bool:
    """Tell whether the person may want a question sent: nothing private and no secret is in it."""
    return kept_of(text) == text.strip() and not find_secrets(text)


def looked_at_closely(
    db: sqlite3.Connection, gathered: Gathered, evidence: Sequence[Evidence]
) -> list[Evidence]:
    """Return *evidence*, some of what was *gathered*, with what the tokens of each question say as well."""
    if not gathered.model:
        return [*evidence]
    # Slow to import, and a search by words needs none.
    from mcp_server.adapters.index.search.maxsim import maxsim

    best_passages: dict[int, tuple[float, int]] = {}
    for number, question in enumerate(gathered.questions):
        own = [item for item in evidence if item.question == number]
        best = {item.number: [*dict.fromkeys((*item.passages, item.matching))] for item in own}
        best_passages |= maxsim(db, gathered.model, question, best)

    closer_evidence = []
    for item in evidence:
        maxsim_of_best, passage = best_passages.get(item.number, (None, 0))
        relevance = ranking.relevance(
            words=item.words, near=item.near, cosine=item.cosine, mean=item.mean, maxsim=maxsim_of_best
        )
        closer_evidence.append(item._replace(relevance=relevance, maxsim=maxsim_of_best, answering=passage))
    return closer_evidence


def _most_relevant(
    occurrences: lexical.Occurrences,
    question: int,
    matches: Matches,
    cosines: Mapping[int, Cosines],
    *,
    by_words: bool,
    most: int,
) -> list[Evidence]:
    """
    Return what speaks for the *most* relevant memories, by the words and the meaning of one *question*.

    *question* is its number, *cosines* has row number → how near in meaning; words count only if *by_words*.
    """
    words = ranking.normalised(matches.memories if by_words else {}, matches.best_coverage())
    near = matches.near if by_words else {}

    def relevance(number: int) -> float:
        cosine, mean, _ = cosines.get(number, _NOT_FOUND)
        return ranking.relevance(
            words=words.get(number, 0.0), near=near.get(number, 0.0), cosine=cosine, mean=mean
        )

    # Among hundreds, only the best need their full evidence.
    scored = ((relevance(number), number) for number in words.keys() | cosines.keys())
    best = heapq.nlargest(most, scored)
    matching = lexical.best_passages(occurrences, matches, [number for _, number in best if number in words])
    evidence = []
    for fused, number in best:
        cosine, mean, passages = cosines.get(number, _NOT_FOUND)
        evidence.append(
            Evidence(
                number,
                question,
                matches,
                relevance=fused,
                words=words.get(number, 0.0),
                near=near.get(number, 0.0),
                matching=matching.get(number, 0),
                cosine=cosine,
                mean=mean,
                passages=passages,
            )
        )
    return evidence


def _once(of_each: Sequence[Sequence[Evidence]]) -> list[Evidence]:
    """Return what each question found, best first, every memory once."""
    ordered = sorted(itertools.chain(*of_each), key=_order)
    best = {item.number: item for item in ordered}
    return sorted(best.values(), key=_order, reverse=True)


def _order(evidence: Evidence) -> tuple[float, int]:
    return evidence.relevance, evidence.number
