"""`daybook setup` where memories are not in English, as a process of its own, with a hub on the loopback."""

import sys
from pathlib import Path

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from tests.doors.test_model_commands import run, status, surroundings
from tests.model_hub import hub
from tests.terminal import type_in_terminal


def set_up(home: Path, *, yes: bool, **environment: str) -> str:
    """Run `daybook setup` as a person who wants no calls of a model; return what stood on the screen."""
    process = type_in_terminal(
        [sys.executable, "-m", "mcp_server.doors.cli", "setup"],
        env={**surroundings(), "MEMORY_DIR": str(home), **environment},
        cwd=home.parent,
        answers=[("read your sessions", "n"), ("Download and use it", "y" if yes else "n")],
    )
    assert process.returncode == 0, process.stdout
    return process.stdout


@pytest.fixture
def german(opened: Opened) -> Path:
    """A store with two memories in German and one in English."""
    for text in ("Das Zebra ist gestreift.", "Die Zahlung wird nicht wiederholt.", "Deploys are manual."):
        remember(opened.store(), Draft(text, text, level=Level.USER))
    return opened.home


def test_setup_offers_the_model_of_many_languages_and_fetches_it_on_a_yes(german: Path, tiny: Path) -> None:
    with hub("multilingual", tiny) as (address, requests):
        declined = set_up(german, yes=False, HF_ENDPOINT=address)
        before = [*requests]
        with_model = set_up(german, yes=True, HF_ENDPOINT=address)
        again = set_up(german, yes=True, HF_ENDPOINT=address)

    assert before == []
    for output in (declined, with_model):
        assert "Most of your memories are not in English" in output
        assert "220 MB" in output
        assert "was not measured" in output
    assert "multilingual answers" in with_model
    assert "not in English" not in again
    model_status = status(german)
    assert (model_status["chosen"], model_status["embedded"]) == ("multilingual", model_status["passages"])


def test_setup_offers_no_other_model_where_none_is_wanted(german: Path) -> None:
    run(german, "model", "use", "none")

    assert "not in English" not in set_up(german, yes=True)


def test_setup_in_english_offers_no_other_model(opened: Opened) -> None:
    remember(opened.store(), Draft("Quagga", "The quagga is extinct.", level=Level.USER))

    assert "not in English" not in set_up(opened.home, yes=True)
