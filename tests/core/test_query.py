import pytest

from mcp_server.core.search.query import asks_about_now


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
