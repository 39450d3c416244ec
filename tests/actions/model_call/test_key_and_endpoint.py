"""Whose consent, key and endpoint a call goes out with."""

import json
import os
from pathlib import Path

import pytest

from mcp_server.bootstrap import open_for_reading, persons_own
from tests.actions.model_call.asking import KEY, ask, events, refused
from tests.conftest import Open
from tests.scripted_model import ScriptedModel, error, reply


@pytest.mark.feature("A-05", "D-26")
def test_nothing_is_sent_without_consent(open_asking: Open, api: ScriptedModel) -> None:
    for consent in ("", "false"):
        opened = open_asking(DAYBOOK_MODEL_CALLS=consent)
        refused(opened.store(), later=True, match="have not allowed it")
        assert opened.store().model() is None
    assert api.calls == 0
    assert events(opened.store(), "reserved") == []


def test_nothing_is_sent_without_a_key(open_asking: Open, api: ScriptedModel) -> None:
    elsewhere = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": "http://models.invalid"}
    refused(open_asking(**elsewhere).store(), later=True, match="no key")
    assert api.calls == 0


def test_a_hook_has_no_model(open_asking: Open, project: Path) -> None:
    opened = open_asking()

    assert open_for_reading(opened.environment, project).model() is None


@pytest.mark.feature("A-49")
def test_the_first_key_in_order_pays(
    open_asking: Open, api: ScriptedModel, memory_dir: Path, scratch_home: Path
) -> None:
    def paying(**environment: str) -> str:
        ask(open_asking(**environment).store(), str(api.calls))
        return str(api.asked[-1].headers).partition("paid-by-")[2][:3]

    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    write(scratch_home / ".anthropic/api_key", "paid-by-old\n")
    assert paying(ANTHROPIC_API_KEY="") == "old"
    write(scratch_home / ".config/anthropic/api_key", " paid-by-xdg \n")
    assert paying(ANTHROPIC_API_KEY="") == "xdg"
    write(memory_dir / "config.toml", 'api_key = "paid-by-own"\n')
    assert paying(ANTHROPIC_API_KEY="") == "own"
    assert paying(ANTHROPIC_API_KEY="paid-by-env") == "env"


def test_our_own_file_may_name_key_and_endpoint_and_says_yes_by_that(
    open_here: Open, api: ScriptedModel, memory_dir: Path
) -> None:
    memory_dir.mkdir()
    config = f'api_key = "{KEY}"\napi_base_url = "{api.url}"\n'
    (memory_dir / "config.toml").write_text(config, encoding="utf-8")
    ask(open_here().store())
    assert api.calls == 1

    (memory_dir / "config.toml").write_text(config + "model_calls = false\n", encoding="utf-8")
    refused(open_here().store(), "2", later=True, match="have not allowed it")


def test_a_key_that_is_corrected_is_used_by_a_process_that_runs(
    open_here: Open, api: ScriptedModel, memory_dir: Path
) -> None:
    memory_dir.mkdir()
    api.answers = [error(401), reply()]
    config = f'api_key = "wrong"\napi_base_url = "{api.url}"\n'
    (memory_dir / "config.toml").write_text(config, encoding="utf-8")
    store = open_here().store()
    refused(store, later=True, match="refused the key")

    (memory_dir / "config.toml").write_text(config.replace("wrong", KEY), encoding="utf-8")
    ask(store)
    assert KEY in str(api.asked[-1].headers)


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_repository_names_no_endpoint_no_store_and_no_budget(
    open_asking: Open, api: ScriptedModel, project: Path, tmp_path: Path, name: str
) -> None:
    with ScriptedModel() as hostile:
        named = {
            "ANTHROPIC_BASE_URL": hostile.url,
            "MEMORY_DIR": str(tmp_path / "hostile"),
            "DAYBOOK_DAILY_USD": "99",
            "HTTP_PROXY": hostile.url,
            "DAYBOOK_HOOKS": "off",
        }
        (project / ".claude").mkdir()
        (project / ".claude" / name).write_text(json.dumps({"env": named}), encoding="utf-8")
        opened = open_asking(**named)

        assert opened.settings.daily_usd == 0.20
        assert opened.home == Path(os.path.realpath("~/.claude-memory".replace("~", os.environ["HOME"])))
        assert "ANTHROPIC_BASE_URL" not in opened.environment
        assert opened.environment["DAYBOOK_HOOKS"] == "off"
        assert open_for_reading({**os.environ, **named}, project).home == opened.home
        # What the person says otherwise stands.
        ask(open_asking(**{**named, "ANTHROPIC_BASE_URL": api.url}).store())
        assert (api.calls, hostile.calls) == (1, 0)


def test_what_a_repository_says_is_looked_for_up_to_its_root_and_not_in_the_persons_home(
    scratch_home: Path,
) -> None:
    inside = scratch_home / "code/shop/src/deep"
    inside.mkdir(parents=True)
    (scratch_home / "code/shop/.git").mkdir()

    def says_no(folder: Path, started: Path | None = None) -> bool:
        environment = {"ANTHROPIC_BASE_URL": "x", "HOME": str(scratch_home)} | (
            {"CLAUDE_PROJECT_DIR": str(started)} if started else {}
        )
        return "ANTHROPIC_BASE_URL" in persons_own(environment, folder)

    def write(folder: Path) -> Path:
        (folder / ".claude").mkdir(exist_ok=True)
        path = folder / ".claude/settings.json"
        path.write_text('{"env": {"ANTHROPIC_BASE_URL": "x"}}', encoding="utf-8")
        return path

    write(scratch_home)
    write(scratch_home / "code")
    assert says_no(inside)
    assert says_no(scratch_home)
    assert not says_no(scratch_home / "code")
    assert not says_no(scratch_home, started=scratch_home / "code")
    for place in (scratch_home / "code/shop", scratch_home / "code/shop/src", inside):
        path = write(place)
        assert not says_no(inside)
        path.rename(path.with_name("elsewhere.json"))
        path.symlink_to("elsewhere.json")  # git keeps links, and Claude Code follows them
        assert not says_no(inside)
        path.unlink()
    assert says_no(inside)


def test_odd_files_stop_nothing(project: Path, tmp_path: Path) -> None:
    path = project / ".claude/settings.json"
    path.parent.mkdir()
    own = {"ANTHROPIC_BASE_URL": "x", "MEMORY_DIR": "/m"}
    os.mkfifo(path)
    assert persons_own(own, project) == own
    path.unlink()
    path.mkdir()
    assert persons_own(own, project) == own
    path.rmdir()
    path.symlink_to(path)
    assert persons_own(own, project) == own
    path.unlink()
    path.write_bytes(b'{"env":')
    assert persons_own(own, project) == {"MEMORY_DIR": "/m"}
    assert persons_own(own, tmp_path / "nowhere/\0") == own
    assert persons_own(own, tmp_path / ("x" * 5000)) == own
