"""Words for a time in a question."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_server.core.text import time_words
from mcp_server.core.text.time_words import TimeSpan, span_of

NOW = datetime(2026, 11, 20, 9, 12, 3, tzinfo=UTC)  # a Friday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("what did we decide today?", "2026-11-20", "2026-11-21"),
        ("what broke yesterday", "2026-11-19", "2026-11-20"),
        ("decisions of this week", "2026-11-16", "2026-11-23"),
        ("what did I work on last week", "2026-11-09", "2026-11-16"),
        ("this month's traps", "2026-11-01", "2026-12-01"),
        ("Last month, which library?", "2026-10-01", "2026-11-01"),
        ("what changed last year", "2025-01-01", "2026-01-01"),
        ("three days ago", "2026-11-17", "2026-11-18"),
        ("two weeks ago we chose", "2026-11-03", "2026-11-10"),
        ("in the last 3 days", "2026-11-17", "2026-11-21"),
        ("what did we say on Monday", "2026-11-16", "2026-11-17"),
        ("what did we say last Friday", "2026-11-13", "2026-11-14"),
        ("who joined in March 2024?", "2024-03-01", "2024-04-01"),
        ("the trip in Dec 2023", "2023-12-01", "2024-01-01"),
        ("what happened in December", "2025-12-01", "2026-01-01"),
        ("what happened in November", "2026-11-01", "2026-12-01"),
        ("on 7 May 2023", "2023-05-07", "2023-05-08"),
        ("on May 7th, 2023", "2023-05-07", "2023-05-08"),
        ("the outage of 2026-11-03", "2026-11-03", "2026-11-04"),
        ("which port in 2024?", "2024-01-01", "2025-01-01"),
    ],
)  # fmt: skip
def test_a_span_is_found(question: str, start: str, end: str) -> None:
    assert span_of(question, NOW) == TimeSpan(day(start), day(end))


@pytest.mark.parametrize(
    ("question", "inside", "outside"),
    [
        ("everything since 2026-11-03", "2026-11-03", "2026-11-02"),
        ("everything since March", "2026-03-01", "2026-02-28"),
        ("after May 2025", "2025-06-01", "2025-05-31"),
        ("before 2024", "2023-12-31", "2024-01-01"),
        ("what did we use before March 2024?", "2024-02-29", "2024-03-01"),
        ("until last week", "2026-11-15", "2026-11-16"),
    ],
)
def test_an_edge_opens_the_span_to_one_side(question: str, inside: str, outside: str) -> None:
    span = span_of(question, NOW)

    assert span
    assert span.meets(day(inside), day(inside))
    assert not span.meets(day(outside), day(outside))


@pytest.mark.parametrize(
    "question",
    [
        "how do we deploy", "may I use tabs", "march through the list", "what came before the migration",
        "port 2024", "version 3.11", "2026-02-31", "the second of two weeks", "last but not least", "",
    ],
)  # fmt: skip
def test_what_names_no_time_has_no_span(question: str) -> None:
    assert span_of(question, NOW) is None


def test_what_lasted_meets_a_span_that_it_overlaps() -> None:
    span = TimeSpan(day("2026-11-09"), day("2026-11-16"))

    assert span.meets(day("2026-11-01"), day("2026-11-09"))
    assert span.meets(day("2026-11-15"), day("2026-12-01"))
    assert not span.meets(day("2026-11-16"), day("2026-12-01"))


@example("since 3000-01")
@example("after 3000-01-02")
@given(st.text(max_size=80) | st.from_regex(r"(since|in|before|last) [0-9]{1,4}[- ][0-9]{1,4} (days|march)"))
def test_any_question_is_read(question: str) -> None:
    span = span_of(question, NOW)

    assert span is None or span.start <= span.end


@given(st.one_of(*(st.from_regex(pattern) for _, pattern in time_words._patterns())))
def test_what_names_a_time_is_never_taken_for_a_question_that_names_none(question: str) -> None:
    """The quick look that spares most questions the patterns."""
    assert time_words._MAY_NAME.search(question)
