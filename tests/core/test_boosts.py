"""What raises a memory beyond its relevance is never more than the question told beforehand."""

from datetime import UTC, datetime

import pytest

from mcp_server.core.search import ranking
from mcp_server.core.search.boosts import AskedFor, asks_about_now
from mcp_server.core.search.query import Query

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("", set()),
        ("stripe webhooks", {"tag"}),
        ('stripe and "raw body"', {"tag", "phrase"}),
        ("stripe in src/hook.py", {"tag", "path"}),
        ("stripe yesterday", {"tag", "time"}),
        ("what is stripe doing currently?", {"tag", "now"}),
        ('what does "raw body" in src/hook.py say about stripe currently?', {"tag", "phrase", "path", "now"}),
    ],
)
def test_the_most_is_what_a_memory_gets_that_has_all(question: str, names: set[str]) -> None:
    asked_for = AskedFor.of(Query(question), question, clock=NOW, now=NOW.timestamp())
    moment = asked_for.span.start if asked_for.span else NOW
    boosts = asked_for.boosts(
        title="Stripe",
        text="It needs the raw body.",
        tags=("stripe",),
        touches=("src/hook.py:7",),
        created=moment,
        updated=moment,
    )
    assert {name for name, _ in boosts} == names
    assert ranking.boosted(1.0, boosts) == pytest.approx(asked_for.most)


@pytest.mark.parametrize(
    "text",
    [
        "What is the current timeout of the proxy?",
        "what's our latest release branch",
        "Which linter do we currently use?",
        "How does the importer work now?",
        "which database is it now, Postgres or MySQL",
    ],
)
def test_a_question_about_the_present_is_told(text: str) -> None:
    assert asks_about_now(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Now add a test for the parser",
        "open the current tab in a new window",
        "Which timeout did the proxy have?",
        "How is the current user found?",
        "knowledge of nowhere",
    ],
)
def test_other_questions_are_not_about_the_present(text: str) -> None:
    assert not asks_about_now(text)
