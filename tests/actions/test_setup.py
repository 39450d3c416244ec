"""What the person allows, in config.toml."""

import tomllib

import pytest

from mcp_server.actions.model.setup import Choices, setup, with_values
from mcp_server.core.errors import Rejected
from mcp_server.store import Store
from tests.conftest import Open


def test_a_choice_holds_from_the_next_process_on(store: Store, open_here: Open) -> None:
    assert store.settings.model_calls is False

    setup(store, Choices(model_calls=True, daily_usd=0.5, daily_calls=7, capture="suggest"))

    settings = open_here().settings
    assert (settings.model_calls, settings.daily_usd, settings.daily_calls) == (True, 0.5, 7)
    assert settings.capture == "suggest"
    assert (store.home / "config.toml").stat().st_mode & 0o777 == 0o600


def test_other_lines_and_comments_stay(store: Store) -> None:
    store.home.mkdir(parents=True, exist_ok=True)
    path = store.home / "config.toml"
    path.write_text('# mine\nembedding_model = "none" # words only\n[other]\nmodel_calls = "kept"', "utf-8")

    setup(store, Choices(model_calls=True, api_key='odd"key\\'))

    text = path.read_text(encoding="utf-8")
    assert text.startswith('# mine\nembedding_model = "none" # words only\n')
    parsed = tomllib.loads(text)
    assert (parsed["model_calls"], parsed["api_key"]) == (True, 'odd"key\\')
    assert parsed["other"] == {"model_calls": "kept"}


def test_choosing_again_replaces_the_line(store: Store) -> None:
    for value in (True, False, True):
        setup(store, Choices(model_calls=value))

    assert (store.home / "config.toml").read_text(encoding="utf-8") == "model_calls = true\n"


@pytest.mark.parametrize(
    "choices", [Choices(daily_usd=101.0), Choices(capture="always"), Choices(daily_calls=-1)]
)
def test_what_cannot_be_used_is_refused_and_nothing_is_written(store: Store, choices: Choices) -> None:
    with pytest.raises(Rejected):
        setup(store, choices)

    assert not (store.home / "config.toml").exists()


def test_a_key_with_a_line_end_is_refused() -> None:
    with pytest.raises(Rejected):
        with_values("", {"api_key": "two\nlines"})


def test_what_is_switched_off_is_off_at_once_in_what_runs_already(
    open_here: Open,
) -> None:
    opened = open_here(ANTHROPIC_API_KEY="sk-test")
    setup(opened.store(), Choices(model_calls=True))
    assert opened.store().settings.model_calls
    assert opened.store().model()

    setup(opened.store(), Choices(model_calls=False))

    assert not opened.store().settings.model_calls
    assert opened.store().model() is None
