"""What can be asked of the memory, and what an answer consists of."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from mcp_server.core.errors import Rejected
from mcp_server.core.links import as_name
from mcp_server.core.memory import NOT_STALE, TAGS, WORDS, Memory, Staleness, Words
from mcp_server.core.memory_parts import Kind, Level, Status, check_type, moment_in
from mcp_server.core.search.ranking import Score

MAX_QUERY = 4096  # characters that are looked at
DEFAULT_LIMIT, MAX_LIMIT = 5, 50  # hits of one answer


class Mode(StrEnum):
    """How a question is compared with memories: by words, by meaning, or by both."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class Sort(StrEnum):
    """What orders the hits: how well they answer alone, or with trust, age and use."""

    RELEVANCE = "relevance"
    COMPOSITE = "composite"


class Confidence(StrEnum):
    """How far the best hits can be relied on."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    """Not to be relied on, yet worth a look; only what a prompt calls for is so."""
    NONE = "no confident match: do not guess"


class Bar(NamedTuple):
    """A bar of the gate: what it measures, the figure that a memory reached, and the least that passes."""

    measure: str
    figure: float
    least: float

    @property
    def missing(self) -> float:
        """How much is missing, 0 or less when nothing is."""
        return self.least - self.figure


@dataclass(frozen=True, slots=True)
class Filter(Words):
    """
    Which memories may answer; an empty field leaves everything in.

    They have all of `tags`, each of which may be several with `|` between them: one of those is enough.
    """

    level: Level | None = None
    all_projects: bool = False
    kinds: tuple[Kind, ...] = ()
    subagents: bool = True
    """Whether the transcripts of subagents may answer, where conversations may."""
    beside: str = ""
    """The session whose own transcript does not answer: what was said in it is in its context."""
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    since: datetime | None = None
    until: datetime | None = None
    touches: str = ""
    as_of: datetime | None = None


ANY_STATUS = tuple(Status)


def fits(memory: Memory, level: Level, filter: Filter, words: Sequence[str] = ()) -> bool:
    """
    Tell whether a memory outside the index fits *filter*, its status and vault apart, and has all *words*.

    The words are those of `links.as_name`: each stands somewhere in its title, text, tags or id.
    """
    searched_text = as_name(" ".join((memory.title, memory.text, *memory.tags, memory.id))) if words else ""
    return (
        filter.level in (None, level)
        and (not filter.kinds or memory.kind in filter.kinds)
        and (not filter.types or memory.type in filter.types)
        and all(not set(memory.tags).isdisjoint(tag.split("|")) for tag in filter.tags)
        and (filter.since is None or memory.updated >= filter.since)
        and (filter.until is None or memory.updated < filter.until)
        and all(getattr(filter, name) in ("", getattr(memory, name)) for name in WORDS)
        and all(word in searched_text for word in words)
    )


def covers_all(filter: Filter) -> bool:
    """Tell whether *filter* asks for what holds elsewhere or held before, too."""
    return filter.all_projects or set(filter.statuses) == set(Status)


@dataclass(frozen=True, slots=True)
class Query:
    """
    A question to recall; *limit* bounds the hits, 1 to 50.

    With *only_confident* the confident ones among the *examined* best, at least *limit*, are hits.
    With *parts*, these are asked one by one instead of the whole *text*, and a memory counts by the part that
    it answers best. A text *of_prompt* is a prompt to Claude, which may ask for nothing: developers' words
    match their other names too, and no tag answers it by itself. With *unasked*, only what may be shown
    unasked answers.
    """

    text: str
    mode: Mode = Mode.HYBRID
    sort: Sort = Sort.COMPOSITE
    limit: int = DEFAULT_LIMIT
    only_confident: bool = False
    examined: int = 20
    expand: bool = False
    filter: Filter = field(default_factory=Filter)
    parts: tuple[str, ...] = ()
    of_prompt: bool = False
    unasked: bool = False


PRESETS = {
    "precision": {"only_confident": True, "limit": 3},
    "balanced": {"limit": 5},
    "exploratory": {"limit": 10},
}


@dataclass(frozen=True, slots=True)
class Hit:
    """
    One memory of an answer: what it is, the passage that matched, and why it ranks where it does.

    `ref` names it in the ledger; `pushable` tells whether it may be shown unasked. `bars` are what its
    `confidence` was measured by.
    `stale` are those of its files that changed since it was written, or are gone.
    """

    id: str
    ref: str
    digest: str
    title: str
    kind: Kind
    type: str
    level: Level
    status: Status
    path: str
    text: str
    score: float
    confidence: Confidence
    parts: Score
    tags: tuple[str, ...]
    updated: datetime
    pushable: bool
    linked_from: str = ""
    """Id of the hit that has a link to it, for one that was only found by that link."""
    superseded_by: str = ""
    shadowed_by: str = ""
    """Id of this project's memory that shadows it here; elsewhere it applies."""
    project: str = ""
    """The key of the vault of another project that it is in, '' for a memory that is visible here."""
    stale: Staleness = NOT_STALE
    below: bool = False
    """Whether it is a past conversation that the query did not ask for; it comes after knowledge."""
    outdated_by: tuple[str, ...] = ()
    """Ids of the memories that hold now, where a conversation says what they have superseded since."""
    replaced: tuple[str, ...] = ()
    """Ids of the memories that it superseded, the latest first."""
    bars: tuple[Bar, ...] = ()
    contradicts: tuple[str, ...] = ()
    """Ids of the active memories that say otherwise, whichever of the two has the link."""
    author: str = ""
    """Who wrote it, for a memory of the person's team."""
    confirmed_by: str = ""
    """The curator of the team who confirmed it as it is, '' for none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """
    The hits of a query, and how far those that answer it can be relied on.

    If the query names no kind, knowledge comes first, best first, then past conversations.
    """

    verdict: Confidence
    hits: tuple[Hit, ...]
    semantic: bool
    """Whether meaning was searched; false while the embedding model loads or when there is none."""
    team: str = ""
    """Why the person's team did not answer, a sentence; '' when it did, or was not asked."""
    is_anything_known: bool = True
    """Whether there is knowledge or a saved session here; without hits it says whether to search again."""


def check_question(text: str) -> str:
    """Return *text* when it has a word to look for; raise Rejected otherwise."""
    if not any(map(str.isalnum, text)):
        given = f"'{text.strip()[:20]}' has no word to look for" if text.strip() else "No question was given"
        raise Rejected(f"{given}.", "Ask in words, as in: how are invoices stored")
    return text


def check_limit(limit: int) -> int:
    """Return *limit* when it is 1 to 50; raise Rejected otherwise."""
    if not 1 <= limit <= MAX_LIMIT:
        raise Rejected(f"A limit of {limit} cannot be used.", f"Give a number from 1 to {MAX_LIMIT}.")
    return limit


def check_offset(offset: int) -> int:
    """Return *offset* when it is 0 or more; raise Rejected otherwise."""
    if offset < 0:
        raise Rejected(f"An offset of {offset} cannot be used.", "Give 0 or more.")
    return offset


def parse_mode(name: str) -> Mode:
    """Return the mode called *name* ('auto' and '' mean hybrid); raise Rejected for another word."""
    lowered = name.strip().lower()
    if lowered in ("", "auto"):
        return Mode.HYBRID
    try:
        return Mode(lowered)
    except ValueError:
        raise Rejected(f"'{name}' is not a search mode.", "Use keyword, semantic or hybrid.") from None


def filter_of(
    *,
    level: str | None = "",
    kind: str | None = "",
    type: str = "",
    tags: tuple[str, ...] = (),
    since: str = "",
    until: str = "",
    as_of: str = "",
    touches: str = "",
    category: str = "",
    all_projects: bool = False,
    include_archived: bool = False,
) -> Filter:
    """
    Return the filter that those words ask for; raise Rejected for an unknown type or a bad date.

    Only knowledge has a type. As of a day means the end of that day.
    """
    return Filter(
        level=Level(level) if level else None,
        all_projects=all_projects,
        kinds=(Kind(kind or Kind.KNOWLEDGE),) if kind or type else (),
        types=(check_type(type),) if type else (),
        tags=tuple(
            "|".join((TAGS.cleaned((alternative,)) or (alternative,))[0] for alternative in tag.split("|"))
            for tag in tags
        ),
        statuses=ANY_STATUS if include_archived else (Status.ACTIVE,),
        since=_date(since),
        until=_date(until),
        as_of=_end(as_of),
        touches=touches,
        category=category.strip(),
    )


def with_preset(query: Query, preset: str | None, *, has_limit: bool) -> Query:
    """
    Return *query* with the limit and the strictness of a preset: precision, balanced or exploratory.

    Raises Rejected for a query that *has_limit* of its own, which the preset would replace.
    """
    if not preset:
        return query
    if has_limit:
        raise Rejected(f"The preset '{preset}' has a limit of its own.", "Leave out the preset or the limit.")
    return replace(query, **PRESETS[preset])  # type: ignore[arg-type]


def _date(text: str) -> datetime | None:
    if not text:
        return None
    if moment := moment_in(text):
        return moment
    raise Rejected(f"'{text[:80]}' is not a date.", "Write it as 2026-11-20.")


_TO_ITS_END = timedelta(days=1, seconds=-1)  # from the beginning of a day


def _end(text: str) -> datetime | None:
    moment = _date(text)
    return moment + _TO_ITS_END if moment and len(text.strip()) == len("2026-11-20") else moment
