"""What of a text tells where it comes from."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.telling_words import Text, telling_words
from tests.growth import grows_evenly


def words(text: str, *, named: bool) -> set[str]:
    return {telling.word for telling in telling_words(text) if telling.named is named and not telling.run}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("See https://x.example/a?b=1.", "https://x.example/a?b=1"),
        ("Write to ops@x.example today", "ops@x.example"),
        ("It lies in src/billing/ledger.py.", "src/billing/ledger.py"),
        ("It lies in ~/work", "~/work"),
        ("Run `make billing-check` first", "make billing-check"),
        ("Set LOG_LEVEL to debug", "log_level"),
        ("Set retries=5 there", "retries=5"),
        ("Use --no-verify there", "--no-verify"),
        ("Call getUserById there", "getuserbyid"),
        ("We run npm install left-pad", "npm install left-pad"),
        ("The host is deploy.gate.example:8443 now", "deploy.gate.example:8443"),
    ],
)
def test_commands_urls_paths_and_settings_are_named(text: str, word: str) -> None:
    assert word in words(text, named=True)


@pytest.mark.parametrize(
    "text", ["We go on with that and make sure it works.", "Read and/or write it, e.g. now."]
)
def test_plain_prose_names_nothing(text: str) -> None:
    assert not words(text, named=True)


def test_names_numbers_and_rare_words_tell_something_and_common_ones_do_not() -> None:
    telling = words("The quagga runs on port 8443 and the server is restarted often.", named=False)

    assert telling == {"quagga", "8443"}


@pytest.mark.parametrize(
    ("text", "other_text", "expected"),
    [
        ("The webhooks are retried", "one webhook, retried", True),
        ("It is called heron", "the herons fly", True),
        ("It is called heron", "heronsgate", False),
        ("See src/app.py", "in `src/app.py`:", True),
        ("See src/app.py", "in src/app.pyc", False),
        ("部署服务器是", "我们的部署服务器是heron", True),
        ("Die Prüfung heißt Kranich", "KRANICH ist der Name", True),
    ],
)
def test_a_word_is_found_whatever_its_form(text: str, other_text: str, expected: bool) -> None:
    assert any(word.stands_in(Text(other_text)) for word in telling_words(text) if not word.run) is expected


def test_a_text_that_was_copied_is_known_by_its_runs_of_words() -> None:
    runs = [word for word in telling_words("Reviews are optional for small fixes since spring.") if word.run]
    copied = Text("As we said: reviews are **optional** for small fixes, since spring!")

    assert runs and all(run.stands_in(copied) for run in runs)
    assert not any(run.stands_in(Text("Small fixes need a review.")) for run in runs)


@given(st.text(), st.text())
def test_any_text_can_be_looked_up(text: str, other_text: str) -> None:
    for word in telling_words(text):
        word.stands_in(Text(other_text))


@pytest.mark.parametrize("function", [telling_words, reads_like_instruction])
@pytest.mark.parametrize("atom", ["a", "A", "`", "\n", "# ", "> ", "a-", "a1", "--x", "./"])
def test_a_hostile_text_takes_no_longer_than_its_length(function: Callable[[str], object], atom: str) -> None:
    assert grows_evenly(lambda times: atom * times, function)
