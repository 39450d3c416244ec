"""When a turn of the person's bears out what Claude does to their words."""

import pytest

from mcp_server.core.judge.whose_word import asks_to_forget, asks_to_let_fade, asks_to_move, says

OLD = "The upload timeout is 30 seconds."


@pytest.mark.parametrize(
    ("turn", "new", "before"),
    [
        ("set the upload timeout to 60 seconds please", "The upload timeout is 60 seconds.", OLD),
        ("no, 60", "The upload timeout is 60 seconds.", OLD),
        ("use pnpm instead of npm from now on", "Packages come by pnpm.", "Packages come by npm."),
        ("do not squash merges any more", "Do not squash merges.", "Squash merges."),
        ("drop that the proxy is slow", "The port is 80.", "The port is 80. The proxy is slow."),
        ("ab jetzt liegt sie unter /srv/daten", "Die Datei liegt unter /srv/daten.", "Die Datei liegt da."),
    ],
)
def test_a_turn_that_says_it_bears_it_out(turn: str, new: str, before: str) -> None:
    assert says(turn, new, before)


@pytest.mark.parametrize(
    ("turn", "new", "before"),
    [
        ("look at the upload timeout", "The upload timeout is 60 seconds.", OLD),
        ("the upload timeout is 30 seconds, isn't it?", "The upload timeout is 60 seconds.", OLD),
        ("make it 60", "The upload timeout is 60 seconds, set by GATEWAY_TIMEOUT.", OLD),
        ("use 5 workers", "There are 7 workers.", "There are 3 workers."),
        ("squash merges are fine", "Do not squash merges.", "Squash merges."),
        ("the port is 80", "The port is 80.", "The port is 80. The proxy is slow."),
        ("go on", "The port is 80.", "The port is 80"),
        ("", "The upload timeout is 60 seconds.", OLD),
    ],
)
def test_a_turn_about_something_else_does_not(turn: str, new: str, before: str) -> None:
    assert not says(turn, new, before)


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("forget the upload timeout", True),
        ("please delete upload-timeout-k3f9", True),
        ("vergiss upload timeout", True),
        ("the upload timeout is wrong", False),
        ("forget the proxy", False),
        ("forget the timeout", False),
    ],
)
def test_forgetting_is_asked_for_by_id_or_by_the_words_of_the_title(turn: str, expected: bool) -> None:
    assert asks_to_forget(turn, "upload-timeout-k3f9", "Upload timeout") is expected


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("move the upload timeout to the user level", True),
        ("upload-timeout-k3f9 holds everywhere", True),
        ("the upload timeout is the same in all my projects", True),
        ("the upload timeout is for this project only", True),
        ("upload timeout gilt überall", True),
        ("the upload timeout is too short", False),
        ("move the proxy to the user level", False),
    ],
)
def test_another_level_is_asked_for_by_id_or_by_the_words_of_the_title(turn: str, expected: bool) -> None:
    assert asks_to_move(turn, "upload-timeout-k3f9", "Upload timeout") is expected


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("unpin the upload timeout", True),
        ("upload-timeout-k3f9 need not be pinned any more", True),
        ("the upload timeout is only progress", True),
        ("upload timeout gilt vorläufig", True),
        ("unpin the proxy", False),
        ("the upload timeout is too short", False),
    ],
)
def test_fading_is_asked_for_by_id_or_by_the_words_of_the_title(turn: str, expected: bool) -> None:
    assert asks_to_let_fade(turn, "upload-timeout-k3f9", "Upload timeout") is expected
