"""What is new meets what is known: Claude settles it in the same turn, by the words of the tool's answer."""

import re
from typing import Any

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import Request, call

pytestmark = pytest.mark.client

OLD = "The upload timeout is 30 seconds."
NEW = "The upload timeout is 60 seconds, because the gateway is slow."


def ids_in_answer(request: Request) -> tuple[str, str]:
    """Return (the id that the last answer gives, that of the nearest memory it names)."""
    answer = request.tool_results()[-1]
    near = re.search(r"Near it: (\S+)", answer)
    assert near, answer
    return answered_id(request), near[1]


def settled(word: str, **fields: str) -> Any:
    """Return the turn in which Claude settles the answer by *word*, supersedes or distinct."""

    def turn(request: Request) -> dict[str, Any]:
        new, near = ids_in_answer(request)
        words = f"If {new} replaces one of them, call remember again with the same words and supersedes"
        assert words in request.tool_results()[-1]
        return call("remember", **fields, **{word: near})

    return turn


def test_an_old_number_is_superseded_by_the_words_of_the_answer(claude: Claude) -> None:
    claude.prompt(OLD, [call("remember", title="Upload timeout", content=OLD, type="decision"), "ok"])

    run = claude.prompt(
        NEW,
        [
            call("remember", title="Upload timeout", content=NEW, type="decision"),
            settled("supersedes", title="Upload timeout", content=NEW),
            call("recall", query="upload timeout", kind="knowledge"),
            call("recall", query="upload timeout", kind="knowledge", include_archived=True),
            "it is 60 seconds now",
        ],
    )

    _, revised, recalled, everything = run.tool_results
    assert "It replaces upload-timeout-" in revised
    assert "60 seconds" in recalled and "30 seconds" not in recalled
    assert "30 seconds" in everything and "superseded by upload-timeout-" in everything
    next_session = claude.prompt("how long is the upload timeout?", ["60 seconds"])
    assert "30 seconds" not in next_session.main[0].said("system") + next_session.main[0].said()


def answered_id(request: Request) -> str:
    """Return the id that the last answer gives."""
    return request.tool_results()[-1].split(":", 1)[0].split()[-1]


def test_siblings_are_kept_and_nobody_is_asked_about_them_twice(claude: Claude) -> None:
    first, second = (f"Server {number} has the address 10.0.0.{number}." for number in (1, 2))
    claude.prompt(first, [call("remember", title="Server 1", content=first), "ok"])

    run = claude.prompt(
        second,
        [
            call("remember", title="Server 2", content=second),
            settled("distinct", title="Server 2", content=second),
            call("remember", title="Server 2", content=second),
            call("recall", query="address of the servers", kind="knowledge"),
            "both hold",
        ],
    )

    stored, told_apart, again, recalled = run.tool_results
    assert "Near it: server-1-" in stored
    assert "the pair is not asked about again" in told_apart
    assert "Near it" not in told_apart + again
    assert "server-1-" in recalled and "server-2-" in recalled and "contradicts" not in recalled


def test_what_the_person_did_not_say_replaces_nothing_of_theirs(claude: Claude) -> None:
    claude.prompt(OLD, [call("remember", title="Upload timeout", content=OLD, type="decision"), "ok"])

    run = claude.prompt(
        "look at the configuration",
        [
            call("recall", query="upload timeout", kind="knowledge"),
            lambda request: call(
                "remember",
                title="Upload timeout",
                content=NEW,
                supersedes=re.search(r"upload-timeout-\w{4}", request.tool_results()[-1])[0],  # type: ignore[index]
            ),
            call("recall", query="upload timeout", kind="knowledge"),
            "both are there",
        ],
    )

    _, stored, recalled = run.tool_results
    assert "stays active: only the person can replace it." in stored
    assert "30 seconds" in recalled and "60 seconds" in recalled
