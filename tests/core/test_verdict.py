"""What becomes of a candidate: the table of docs/capture.md, and the pairs that likeness alone gets wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.verdict import (
    Action,
    Statement,
    guarded_difference,
    jaccard,
    judge,
    richer,
    tokens,
)


def said(
    text: str, *, type: str = "decision", source: str = "manual", title: str = "", **more: object
) -> Statement:
    return Statement(title, text, type, source, **more)  # type: ignore[arg-type]


def action(new: str, old: str, **more: object) -> Action:
    return judge(said(new, source="extracted", **more), [said(old, source="extracted")]).action  # type: ignore[arg-type]


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
def test_what_differs_where_it_matters_is_replaced_and_never_merged(old: str, new: str) -> None:
    assert guarded_difference(new, old)
    assert action(new, old) is Action.REPLACE
    assert action(old, new) is Action.REPLACE


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
def test_what_says_the_same_in_other_words_is_merged(old: str, new: str) -> None:
    assert guarded_difference(new, old) == ""
    assert action(new, old) is Action.MERGE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Alice prefers tabs in Python files", "Bob prefers tabs in Python files"),
        ("Invoices are numbered per year", "The build caches wheels between runs"),
        ("The API limit is 30 requests", "The Queue limit is 60 messages"),
        ("Install dependencies with pnpm in the pipeline", "Install dependencies with yarn in the pipeline"),
        ("The staging server listens on port 8080", "The production server listens on port 9090"),
        ("The staging database runs on Hetzner", "The production database runs on Azure"),
        ("Never use npm in the pipeline", "Always use npm in the docs folder"),
        ("Deploy staging with docker compose", "Deploy production with docker compose"),
    ],
)
def test_other_subjects_are_added(old: str, new: str) -> None:
    assert action(new, old) is Action.ADD


def test_equal_words_are_ignored_whatever_their_case_and_blanks() -> None:
    judged = judge(said("Use   UTC everywhere"), [said("Another thing"), said("use utc everywhere")])

    assert (judged.action, judged.neighbour) == (Action.IGNORE, 1)


def test_equal_words_under_titles_that_differ_are_two_things() -> None:
    one = said("Because of the cost.", title="Choice 1")
    other = said("Because of the cost.", title="Choice 2")

    assert judge(other, [one]).action is Action.ADD


def test_another_type_is_never_merged() -> None:
    assert (
        action("We deploy on Fridays from main", "We deploy on Fridays from the main", type="gotcha")
        is Action.ADD
    )


def test_a_jaccard_of_exactly_the_bound_is_no_duplicate() -> None:
    one, other = "Using Next.js app router", "Project uses Next.js app router"

    assert jaccard(tokens(one), tokens(other)) == pytest.approx(0.6)
    assert action(other, one) is Action.ADD


def test_the_search_for_a_duplicate_does_not_stop_at_the_first_that_is_similar() -> None:
    new = said("Deploys run from GitHub Actions on each push to main", source="extracted")
    similar = said("Deploys run from GitHub Actions with a push to main", type="gotcha")
    elsewhere = said("Deploys run from GitHub Actions on each push to staging", source="extracted")
    same = said("Deploys run from GitHub Actions on every push to main", source="extracted")

    judged = judge(new, [similar, elsewhere, same])

    assert (judged.action, judged.neighbour) == (Action.MERGE, 2)


def test_near_vectors_merge_what_words_do_not() -> None:
    old = said("Project uses the app router of Next.js", source="extracted", cosine=0.95)

    assert judge(said("Using Next.js app router", source="extracted"), [old]).action is Action.MERGE


@pytest.mark.parametrize(
    ("new", "old", "verified", "expected"),
    [
        ("extracted", "manual", False, Action.CONTRADICT),
        ("mined", "extracted", False, Action.CONTRADICT),
        ("assistant", "extracted", False, Action.CONTRADICT),
        ("extracted", "assistant", False, Action.REPLACE),
        ("manual", "extracted", True, Action.REPLACE),
        ("extracted", "extracted", True, Action.CONTRADICT),
        ("extracted", "extracted", False, Action.REPLACE),
    ],
)
def test_lesser_authority_contradicts_and_does_not_replace(
    new: str, old: str, verified: bool, expected: Action
) -> None:
    known = said("The timeout is 30 seconds", source=old, verified=verified)

    assert judge(said("The timeout is 60 seconds", source=new), [known]).action is expected


def test_what_names_its_predecessor_replaces_it_whatever_the_likeness() -> None:
    judged = judge(
        said("We moved to Bun", source="extracted"), [said("a"), said("npm installs")], supersedes=1
    )

    assert (judged.action, judged.neighbour) == (Action.REPLACE, 1)


def test_what_claude_says_alone_does_not_supersede_what_the_person_said() -> None:
    old = [said("Deploys need two approvals", source="manual")]

    assert (
        judge(said("Deploys need no approval", source="assistant"), old, supersedes=0).action
        is Action.CONTRADICT
    )
    assert (
        judge(said("Deploys need no approval", source="extracted"), old, supersedes=0).action
        is Action.REPLACE
    )


def test_near_memories_are_related_three_at_most() -> None:
    near = [said(f"something else {word}", cosine=0.8) for word in ("red", "green", "blue", "black")]

    assert judge(said("quite new"), near).related == (0, 1, 2)


def test_the_richer_text_is_kept() -> None:
    assert richer("Use UTC", "Use UTC for stored times, local time for display") == (
        "Use UTC for stored times, local time for display"
    )
    assert richer("a b c", "c b a") == "a b c"


@given(st.text(), st.text())
def test_any_two_texts_are_judged_alike_both_ways(one: str, other: str) -> None:
    assert bool(guarded_difference(one, other)) == bool(guarded_difference(other, one))
    assert guarded_difference(one, one) == ""
    assert 0.0 <= jaccard(tokens(one), tokens(other)) <= 1.0
