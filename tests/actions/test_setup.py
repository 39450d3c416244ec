"""What the person allows, in config.toml."""

import tomllib
from pathlib import Path

import pytest

from mcp_server.actions.model.setup import Choices, setup, with_values
from mcp_server.adapters import files
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


def test_what_other_processes_lock_and_write_in_the_store_stays(store: Store) -> None:
    setup(store, Choices(daily_calls=5))
    lock, unfinished = (store.home / name for name in (files.LOCK_NAME, ".daybook-0123456789abcdef"))
    lock.touch()
    held = lock.stat().st_ino
    unfinished.write_bytes(b"half")

    setup(store, Choices(daily_calls=7))

    assert (lock.stat().st_ino, unfinished.read_bytes()) == (held, b"half")


def test_a_config_that_is_a_link_or_begins_with_a_mark_is_changed_where_it_lies(
    store: Store, open_here: Open, tmp_path: Path
) -> None:
    kept = tmp_path / "dotfiles" / "config.toml"
    kept.parent.mkdir()
    kept.write_text("\ufeffmodel_calls = true\n# mine\n", encoding="utf-8")
    store.home.mkdir(parents=True, exist_ok=True)
    (store.home / "config.toml").symlink_to(kept)

    setup(store, Choices(model_calls=False, daily_calls=7))

    assert (store.home / "config.toml").is_symlink()
    assert kept.read_text(encoding="utf-8") == "model_calls = false\n# mine\ndaily_calls = 7\n"
    assert open_here().settings.daily_calls == 7
    assert [path.name for path in kept.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(
    "text",
    [
        '"model_calls" = true\n',
        'model_calls = """\nold\n"""\n',
        'note = """\nmodel_calls = true\n"""\n',
        "list = [\n[1],\n]\n",
    ],
)
def test_what_would_say_something_else_in_that_file_is_refused(store: Store, text: str) -> None:
    store.home.mkdir(parents=True, exist_ok=True)
    path = store.home / "config.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(Rejected, match=r"^model_calls cannot be set: config\.toml has a line"):
        setup(store, Choices(model_calls=False))

    assert path.read_text(encoding="utf-8") == text


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
