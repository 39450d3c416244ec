"""What doctor sees of the store's folder, and of its remote."""

import json
from pathlib import Path

import pytest

from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.set_up import add, look_ahead
from mcp_server.actions.status.checks import (
    Check,
    CheckedPart,
    ClaudeSettings,
    LastExchange,
    StoreFolder,
    SwitchedOff,
)
from mcp_server.actions.status.doctor import doctor
from tests.adapters.project.repositories import git
from tests.live import ROOT
from tests.opened import opened_at


def checked(home: Path, folder: Path, part: CheckedPart) -> list[Check]:
    opened = opened_at(home, folder)
    try:
        return [check for check in doctor(opened.store(), plugin=ROOT) if check.part is part]
    finally:
        opened.database.close()


def repository_seen(home: Path, folder: Path) -> Path | None:
    (check,) = checked(home, folder, CheckedPart.STORE)
    assert isinstance(check.seen, StoreFolder)
    return check.seen.repository


def test_a_repository_that_would_take_the_store_in_is_named_until_it_ignores_it(tmp_path: Path) -> None:
    top = tmp_path / "notes"
    top.mkdir()
    git(top, "init", "-q")

    assert repository_seen(top / "memory", tmp_path) == top
    (top / ".gitignore").write_text("memory/\n")
    assert repository_seen(top / "memory", tmp_path) is None


@pytest.mark.parametrize("is_repository", [False, True])
def test_a_store_outside_of_repositories_and_one_that_is_its_own_are_nothing_to_name(
    tmp_path: Path, is_repository: bool
) -> None:
    home = tmp_path / "memory"
    home.mkdir()
    if is_repository:
        git(home, "init", "-q")

    assert repository_seen(home, tmp_path) is None


def test_a_remote_that_could_not_be_reached_fails_with_what_to_do_until_it_is_reached(tmp_path: Path) -> None:
    home, remote = tmp_path / "memory", tmp_path / "remote.git"
    opened = opened_at(home, tmp_path)
    store = opened.store()
    assert not checked(home, tmp_path, CheckedPart.REMOTE)
    add(store, look_ahead(store, str(remote)))
    remote.rename(tmp_path / "away")
    assert exchange(store).trouble

    (failed,) = checked(home, tmp_path, CheckedPart.REMOTE)
    (tmp_path / "away").rename(remote)
    assert not exchange(store).trouble
    (well,) = checked(home, tmp_path, CheckedPart.REMOTE)
    opened.database.close()

    assert isinstance(failed.seen, LastExchange) and isinstance(well.seen, LastExchange)
    assert (failed.well, well.well) == (False, True)
    assert failed.seen.trouble.endswith("Correct the address, or make the repository.")
    assert (well.seen.url, well.seen.trouble) == (str(remote), "")


def test_settings_that_claude_code_cannot_read_are_named_with_the_place_of_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    settings = tmp_path / "settings.json"
    settings.write_text('{\n  "model": "opus"\n  "env": {}\n}\n', encoding="utf-8")

    (failed,) = checked(tmp_path / "memory", tmp_path, CheckedPart.HOOKS)
    settings.write_text("{}\n", encoding="utf-8")
    (well,) = checked(tmp_path / "memory", tmp_path, CheckedPart.HOOKS)

    assert isinstance(failed.seen, ClaudeSettings)
    assert (failed.seen.path, failed.seen.line, failed.seen.column) == (settings, 3, 3)
    assert (failed.well, well.well) == (False, True)


@pytest.mark.parametrize(
    "settings",
    [
        {"permissions": []},
        {"enabledPlugins": ["daybook@daybook"]},
        {"enabledPlugins": {"lint@shop": "yes"}},
        {"model": None},
        {"disableAllHooks": 1},
        {"env": None},
        [],
    ],
    ids=str,
)
def test_settings_of_the_wrong_shape_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: object
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    (failed,) = checked(tmp_path / "memory", tmp_path, CheckedPart.HOOKS)

    assert isinstance(failed.seen, ClaudeSettings)
    assert failed.seen.path == tmp_path / "settings.json"


ON, OFF = {"enabledPlugins": {"daybook@daybook": True}}, {"enabledPlugins": {"daybook@daybook": False}}
HOOKS, NO_HOOKS = {"disableAllHooks": False}, {"disableAllHooks": True}


@pytest.mark.parametrize(
    ("own", "shared", "local", "place"),
    [
        (OFF, {}, {}, "own"),
        (ON, OFF, {}, "shared"),
        (ON, {}, OFF, "local"),
        (ON, OFF, ON, ""),
        ({"enabledPlugins": {"daybook@old": False, "daybook@daybook": True}}, {}, {}, ""),
        ({"enabledPlugins": {"other@daybook": False}}, {}, {}, ""),
        (NO_HOOKS, {}, {}, "own"),
        (ON, NO_HOOKS, {}, "shared"),
        (ON, {}, NO_HOOKS, "local"),
        (NO_HOOKS, {}, HOOKS, ""),
        (ON, {**NO_HOOKS, "permissions": []}, {}, ""),
        ({}, {}, {}, ""),
    ],
)
def test_the_settings_that_switch_daybook_off_are_named_and_the_last_file_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: object, shared: object, local: object, place: str
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    project = tmp_path / "shop"
    paths = {
        "own": tmp_path / "claude/settings.json",
        "shared": project / ".claude/settings.json",
        "local": project / ".claude/settings.local.json",
    }
    for path, settings in zip(paths.values(), (own, shared, local), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")
    git(project, "init", "-q")

    (check,) = checked(tmp_path / "memory", project, CheckedPart.HOOKS)

    assert check.well is not bool(place)
    assert not place or (isinstance(check.seen, SwitchedOff) and check.seen.path == paths[place])
