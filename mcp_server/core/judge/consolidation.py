"""
How tidying may combine memories: which pairs say the same, and whether a model's plan is accepted.

A model may say which memories to keep, to merge and to drop. Its plan is carried out only as a whole, when
it names every memory once, drops no protected one, and loses no number, name or negation in a merge.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from mcp_server.core.digests import text_digest
from mcp_server.core.memory_parts import DAY, MAX_TITLE, fingerprint, id_in, vault_in
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.render import one_line
from mcp_server.core.secrets.redaction import find_secrets, redact
from mcp_server.core.text.private import has_private
from mcp_server.core.text.text_relation import (
    AUTHORITY,
    OTHER_WORD,
    Statement,
    guarded_difference,
    names_in,
    negates,
    numbers_in,
    same_subject,
    tokens,
)

LEAST = 5  # memories of one type for which a model is asked: A-40 in docs/features.md
MOST = 40  # memories in one question
MOST_CALLS = 8  # questions of one run
ANSWER_TOKENS = 2048  # of the model, at most
SHOWN = 1000  # characters of a memory in a question; one with more may only be kept
LONGEST = 1000  # characters of a merged text
SHORTEST = 15
MOST_DROPPED = 0.5  # share of a question's memories that one answer may drop

FRESH = DAY  # seconds; a memory younger than that is neither merged nor dropped


@dataclass(frozen=True, slots=True)
class TidyItem:
    """
    A memory as tidying sees it; `created` in Unix seconds.

    `kept`: the person said, pinned or verified it, so it is never removed.
    `fresh`: less than a day old, so no model is shown it.
    `lasting`: kept, or too much used, too long or not surely old enough to be dropped.
    """

    ref: str
    digest: str
    statement: Statement
    created: int = 0
    pinned: bool = False
    fresh: bool = False
    lasting: bool = False

    @property
    def kept(self) -> bool:
        return self.pinned or self.statement.verified or self.statement.source == MANUAL

    @property
    def id(self) -> str:
        return id_in(self.ref)


@dataclass(frozen=True, slots=True)
class Merge:
    """Several memories, by their numbers from 0, and the memory that replaces them."""

    sources: tuple[int, ...]
    title: str
    text: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What a model would do with the memories it was shown, by their numbers from 0, after the checks."""

    merges: tuple[Merge, ...] = ()
    drops: tuple[int, ...] = ()


def deny_each_other(statement: Statement, other: Statement) -> bool:
    """Tell whether two memories say different things about one subject; their sources do not matter."""
    if statement.type != other.type or fingerprint(statement.title, statement.text) == fingerprint(
        other.title, other.text
    ):
        return False
    # "Staging runs on docker", "production runs on docker": for the code, two different subjects.
    return guarded_difference(statement.text, other.text) not in ("", OTHER_WORD) and same_subject(
        statement, other
    )


def absorbing(item: TidyItem, other: TidyItem) -> tuple[TidyItem, TidyItem] | None:
    """
    Return (the one that stays, the one that goes) of two with the same words.

    None when the person said, pinned or verified both: then the person is asked, as both may be their files.
    """
    stays, goes = sorted((item, other), key=_worth)
    return None if goes.kept else (stays, goes)


def holds(text: str, other: str) -> bool:
    """Tell whether *text* has every number and every name of *other*."""
    return numbers_in(other) <= numbers_in(text) and names_in(other) <= tokens(text)


def lowest_source(sources: Iterable[str]) -> str:
    """Return the source with the least authority: a merged memory gets no more than its weakest part."""
    return min(sources, key=lambda source: AUTHORITY.get(source, 0))


def groups(items: Iterable[TidyItem]) -> list[list[TidyItem]]:
    """
    Return groups to show to a model: 5 to 40 memories of one vault and type, the oldest first; none is fresh.

    What the person marked as private is no model's to see, so a memory with such a part is in none.
    """
    by_type: dict[tuple[str, str], list[TidyItem]] = {}
    old_items = (item for item in items if not item.fresh and not has_private(item.statement.title_and_text))
    for item in sorted(old_items, key=lambda item: (item.created, item.ref)):
        by_type.setdefault((vault_in(item.ref), item.statement.type), []).append(item)
    chunks = [
        same_type[at : at + MOST]
        for _, same_type in sorted(by_type.items())
        for at in range(0, len(same_type), MOST)
    ]
    return [chunk for chunk in chunks if len(chunk) >= LEAST]


def digest_of(items: Iterable[TidyItem]) -> str:
    """Return a digest of these memories in their present state, 32 hexadecimal characters."""
    return text_digest("\n".join(sorted(f"{item.ref} {item.digest}" for item in items)))


def request(items: Sequence[TidyItem], *, today: str) -> str:
    """Return the prompt about *items*, numbered from 1, with the days of their creation."""
    lines = []
    for number, item in enumerate(items, start=1):
        mark = " KEEP" if item.kept or is_long(item) else " MERGE OR KEEP" if item.lasting else ""
        statement = item.statement
        title, text = one_line(redact(statement.title)), one_line(redact(statement.text), SHOWN)
        lines.append(f"[{number}]{mark} ({datetime.fromtimestamp(item.created, UTC):%F}) {title}: {text}")
    memories = "\n".join(lines)
    return f"Today is {today}.\n\n<memories>\n{memories}\n</memories>\n\nThe JSON object:"


def is_long(item: TidyItem) -> bool:
    """Tell whether a model sees only the beginning of *item*."""
    return len(item.statement.text) > SHOWN


def plan(answer: str, items: Sequence[TidyItem]) -> MergePlan | str:
    """Return the plan in *answer* for *items*, or a clause that says why it is rejected."""
    proposed = _object(answer)
    if proposed is None:
        return "the answer is not a JSON object"
    if not proposed.keys() <= {"keep", "merge", "drop"} or not all(
        isinstance(x, list) for x in proposed.values()
    ):
        return "the answer has other parts than keep, merge and drop"
    merges: list[Merge] = []
    for item in proposed.get("merge", []):
        checked_merge = _merge(item)
        if checked_merge is None:
            return "a merge lacks its sources, its title or its text"
        merges.append(checked_merge)
    keeps, drops = proposed.get("keep", []), proposed.get("drop", [])
    numbers = [*keeps, *drops, *(number + 1 for merge in merges for number in merge.sources)]
    if wrong := _miscounted(numbers, len(items)):
        return wrong
    dropped = tuple(number - 1 for number in drops)
    if lasting := [items[number] for number in dropped if items[number].lasting or items[number].kept]:
        return f"it drops [{lasting[0].id}], which is protected"
    if len(dropped) > MOST_DROPPED * len(items):
        return f"it drops {len(dropped)} of {len(items)}"
    for merge in merges:
        if wrong := _fault(merge, [items[number] for number in merge.sources]):
            return wrong
    return MergePlan(tuple(merges), dropped)


def _miscounted(numbers: Sequence[Any], count: int) -> str:
    """Return why *numbers* does not have each number from 1 to *count* once, '' when it does."""
    unknown = [number for number in numbers if type(number) is not int or not 1 <= number <= count]
    if unknown:
        return f"it names {str(unknown[0])[:40]!r}, which is not one of the numbers 1 to {count}"
    if len(set(numbers)) < len(numbers):
        return "it names a memory twice"
    missing = set(range(1, count + 1)) - set(numbers)
    return f"it leaves out number {min(missing)}" if missing else ""


def _merge(proposed: object) -> Merge | None:
    match proposed:
        case {"from": [_, _, *_] as sources, "title": str(title), "text": str(text), **rest}:
            tags = rest.get("tags", [])
            if not all(type(number) is int for number in sources) or not isinstance(tags, list):
                return None
            texts = tuple(tag for tag in tags if isinstance(tag, str))
            numbers = tuple(number - 1 for number in sources)
            return Merge(numbers, " ".join(title.split()), " ".join(text.split()), texts)
    return None


def _fault(merge: Merge, sources: Sequence[TidyItem]) -> str:
    """Return why *merge* of these sources is rejected, '' when it is accepted."""
    name = " + ".join(f"[{item.id}]" for item in sources)
    if protected := next((item for item in sources if item.kept or is_long(item)), None):
        return f"it merges [{protected.id}], which stays as it is"
    if not merge.title or len(merge.title) > MAX_TITLE or not SHORTEST <= len(merge.text) <= LONGEST:
        return f"the text for {name} is too short or too long"
    merged = f"{merge.title}\n{merge.text}"
    if reads_like_instruction(merged) or find_secrets(merged):
        return f"the text for {name} reads like an instruction or a secret"
    for first, other in combinations(sources, 2):
        if deny_each_other(first.statement, other.statement):
            return f"{name} contradict each other"
    return _lost(merged, [item.statement.title_and_text for item in sources], name)


def _lost(merged: str, sources: Sequence[str], name: str) -> str:
    for source in sources:
        if not holds(merged, source):
            return f"the text for {name} loses a number or a name"
        swapped = guarded_difference(source, merged)
        if swapped == "swapped operands" or (swapped == "negation" and negates(source) == negates(merged)):
            return f"the text for {name} says the opposite"
    together = "\n".join(sources)
    if not (numbers_in(merged) <= numbers_in(together) and names_in(merged) <= tokens(together)):
        return f"the text for {name} has a number or a name that none of them has"
    if negates(merged) != any(map(negates, sources)):
        return f"the text for {name} says the opposite"
    return ""


def _object(answer: str) -> dict[str, Any] | None:
    start = answer.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(answer, start) if start >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _worth(item: TidyItem) -> tuple[object, ...]:
    """Return a sort key: pinned before unpinned, then more authority first, then the oldest first."""
    return (not item.pinned, -item.statement.authority, item.created, item.ref)
