"""What makes two texts say different things: the pairs that likeness alone gets wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.text.text_relation import Statement, guarded_difference, jaccard, outranks, tokens


def statement(text: str, *, source: str = "manual", **more: object) -> Statement:
    return Statement("", text, "decision", source, **more)  # type: ignore[arg-type]


@pytest.mark.feature("3.1-4")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The timeout is 30 seconds", "The timeout is 60 seconds"),
        ("Chose Postgres over MySQL", "Chose MySQL over Postgres"),
        ("Never use npm in this repository", "Always use npm in this repository"),
        ("Use npm to install packages here", "Do not use npm to install packages here"),
        ("The API runs on Python 3.11", "The API runs on Python 3.12"),
        ("Release freeze starts on 2026-11-20", "Release freeze starts on 2026-12-01"),
        ("Feature flags are enabled by default", "Feature flags are disabled by default"),
        ("Run migrations before the deploy step", "Run migrations after the deploy step"),
        ("Jobs go through the Redis queue in billing", "Jobs go through the RabbitMQ queue in billing"),
        ("The cache module depends on the store module", "The store module depends on the cache module"),
        ("The limit of uploads is 5 MB", "The limit of uploads is 50 MB"),
        ("Port 8080 serves the admin pages", "Port 9090 serves the admin pages"),
    ],
)
def test_what_differs_where_it_matters_is_told(old: str, new: str) -> None:
    assert guarded_difference(new, old)
    assert guarded_difference(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "The project uses the Next.js app router for all pages",
            "The project uses the Next.js app router for its pages",
        ),
        (
            "Deploys run from GitHub Actions on every push to main",
            "Deploys run from GitHub Actions on each push to main",
        ),
        ("All colour tokens of the shop live in theme.css", "All color tokens of the shop live in theme.css"),
        ("Tests run with pytest and hypothesis", "The tests run with pytest and hypothesis"),
    ],
)
def test_what_says_the_same_in_other_words_differs_in_nothing(old: str, new: str) -> None:
    assert guarded_difference(new, old) == ""


@pytest.mark.feature("A-27")
def test_jaccard_is_the_share_of_common_words() -> None:
    one, other = "Using Next.js app router", "Project uses Next.js app router"

    assert jaccard(tokens(one), tokens(other)) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("new", "old", "verified", "expected"),
    [
        ("extracted", "manual", False, False),
        ("mined", "manual", False, True),
        ("assistant", "manual", False, True),
        ("assistant", "extracted", True, True),
        ("assistant", "extracted", False, False),
        ("manual", "extracted", True, False),
    ],
)
def test_what_claude_or_a_pattern_says_does_not_undo_the_persons_word(
    new: str, old: str, verified: bool, expected: bool
) -> None:
    assert outranks(statement("a", source=old, verified=verified), statement("b", source=new)) is expected


@pytest.mark.feature("A-26")
@given(st.text(), st.text())
def test_any_two_texts_are_judged_alike_both_ways(one: str, other: str) -> None:
    assert bool(guarded_difference(one, other)) == bool(guarded_difference(other, one))
    assert guarded_difference(one, one) == ""
    assert 0.0 <= jaccard(tokens(one), tokens(other)) <= 1.0


@pytest.mark.parametrize(("one", "other"), [("C", "C++"), ("C", "C#"), ("C++", "C#")])
def test_languages_that_only_signs_tell_apart_are_different_words(one: str, other: str) -> None:
    assert tokens(f"The parser is in {one}.") != tokens(f"The parser is in {other}.")
    assert tokens("Add a+ to b.") == tokens("Add a to b.")
