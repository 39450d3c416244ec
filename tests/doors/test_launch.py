"""The launcher of Windows (`bin/daybook.py`), run for real on whatever system this is, without a network."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.doors import launch
from tests.live import ROOT

CLIENT = {"name": "a test", "version": "1"}


@pytest.fixture
def person(tmp_path: Path) -> dict[str, str]:
    """The environment of a person whose Python environment is to be in `venv`, where nothing is yet."""
    inherited = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
    folders = {"HOME": tmp_path, "USERPROFILE": tmp_path, "MEMORY_DIR": tmp_path / "memory"}
    named = {name: str(folder) for name, folder in folders.items()}
    return {**inherited, **named, "DAYBOOK_VENV": str(tmp_path / "venv"), "EMBEDDING_MODEL": "none"}


def run(person: dict[str, str], *args: str, stdin: str = "", root: Path = ROOT) -> tuple[int, str, str]:
    """Return the exit code of the copy in *root*, what it printed and what it complained of."""
    process = subprocess.run(
        [sys.executable, "-I", str(root / "bin" / "daybook.py"), *args],
        env=person,
        input=stdin,
        cwd=person["HOME"],
        capture_output=True,
        encoding="utf-8",
        timeout=250,
    )
    return process.returncode, process.stdout, process.stderr


@pytest.fixture
def ready(person: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The same person with the environment that these tests run in."""
    venv = tmp_path / "venv"
    venv.mkdir()
    python = launch.Environment(person).python
    python.parent.mkdir()
    for place in Path(sys.prefix).iterdir():
        if not (venv / place.name).exists() and not place.name.startswith("."):
            (venv / place.name).symlink_to(place)
    for program in Path(sys.executable).parent.glob("python*"):
        (python.parent / program.name).symlink_to(os.path.realpath(program))
    (venv / ".daybook-ready").write_bytes((ROOT / "requirements.txt").read_bytes())
    return person


def test_a_command_runs_in_the_environment_that_is_there(ready: dict[str, str]) -> None:
    code, out, err = run(ready, "remember", "A bird | It is a heron.", "--json")

    assert (code, err) == (0, "")
    assert json.loads(out)["id"].startswith("a-bird")
    assert run(ready, "no-such-command")[0] == 2


def test_serve_becomes_the_server(ready: dict[str, str]) -> None:
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
    code, out, _ = run(ready, "serve", stdin=json.dumps(greeting) + "\n")

    assert code == 0
    assert json.loads(out.splitlines()[0])["result"]["serverInfo"]["name"] == "daybook"


def test_a_hook_answers_and_succeeds_with_an_environment_and_without(ready: dict[str, str]) -> None:
    event_json = json.dumps(
        {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "hello", "cwd": "."}
    )
    without = {**ready, "DAYBOOK_VENV": ready["HOME"] + "/none"}

    for environment in (ready, without):
        assert run(environment, "hook", "UserPromptSubmit", stdin=event_json)[:2] == (0, "")
    assert run(without, "hook", "nonsense", stdin="")[0] == 0
    assert not Path(without["DAYBOOK_VENV"]).exists()


def test_the_module_in_the_client_takes_the_place_of_a_hook(ready: dict[str, str]) -> None:
    with_module = {**ready, "DAYBOOK_MODULE": "s", "CLAUDE_CODE_SESSION_ID": "s"}

    assert run(with_module, "hook", "Stop", stdin="{}") == (0, "", "")
    assert not Path(ready["MEMORY_DIR"]).exists()


def test_an_installer_that_fails_is_told_with_its_log_and_leaves_nothing_that_looks_ready(
    person: dict[str, str],
) -> None:
    offline = {**person, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    code, out, err = run(offline, "setup-environment")

    log = Path(person["DAYBOOK_VENV"], "setup.log")
    assert (code, out) == (1, "")
    sentence = f"daybook: its Python environment could not be made; the whole log is {log}"
    assert err.splitlines() == [launch.SETTING_UP, sentence]
    assert "No matching distribution" in log.read_text(encoding="utf-8")
    assert not Path(person["DAYBOOK_VENV"], ".daybook-ready").exists()
    assert Path(person["DAYBOOK_VENV"], ".daybook-root").read_text(encoding="utf-8") == f"{ROOT}\n"


def test_the_copy_from_before_an_update_does_not_take_the_environment_away(
    person: dict[str, str], tmp_path: Path
) -> None:
    plugins = tmp_path / "plugins"
    old, new = (plugins / "cache" / "market" / "daybook" / version for version in ("1.0", "2.0"))
    for root in (old, new):
        for folder in ("bin", "mcp_server"):
            shutil.copytree(
                ROOT / folder, root / folder, ignore=shutil.ignore_patterns("models", "__pycache__")
            )
        (root / "requirements.txt").write_text(f"# of {root.name}\n", encoding="utf-8")
    made = plugins / "data" / "daybook-market" / "venv" / ".daybook-ready"
    made.parent.mkdir(parents=True)
    made.with_name(".daybook-lock").touch()
    made.with_name(".daybook-root").write_text(f"{new}\n", encoding="utf-8")
    made.write_text("# of 2.0\n", encoding="utf-8")
    of_plugin = {**person, "DAYBOOK_VENV": ""}
    installed = plugins / "installed_plugins.json"

    installed.write_text(json.dumps({"installPath": str(new)}), encoding="utf-8")
    code, _, err = run(of_plugin, "setup-environment", root=old)
    assert (code, launch.UPDATED in err) == (1, True)
    code, out, _ = run(of_plugin, "hook", "SessionStart", stdin='{"session_id": "s"}', root=old)
    assert (code, launch.UPDATED in out) == (0, True)
    code, _, err = run(of_plugin, "where", root=old)
    assert (code, f"is that of {new}" in err) == (1, True)
    assert made.read_text(encoding="utf-8") == "# of 2.0\n"

    installed.write_text(json.dumps({"installPath": str(old)}), encoding="utf-8")
    run(of_plugin, "setup-environment", root=old)  # of the copy that is installed again it is
    assert made.read_text(encoding="utf-8") == "# of 1.0\n"


def test_a_folder_that_is_not_ours_is_left_alone(person: dict[str, str]) -> None:
    theirs = Path(person["DAYBOOK_VENV"], "thesis.txt")
    theirs.parent.mkdir()
    theirs.write_text("years of work", encoding="utf-8")

    code, _, err = run(person, "setup-environment")

    assert code == 1
    assert "was not made by Daybook" in err
    assert list(theirs.parent.iterdir()) == [theirs]


def test_no_environment_is_believed_that_a_repository_names(ready: dict[str, str], tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / ".claude").mkdir(parents=True)
    (repository / ".git").mkdir()
    settings = {"env": {"DAYBOOK_VENV": ready["DAYBOOK_VENV"]}}
    (repository / ".claude" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    program = f"import os, sys; sys.path.insert(0, {str(ROOT)!r}); from pathlib import Path\n" + (
        "from mcp_server.doors import launch; from mcp_server.environment import persons_own\n"
        "print(launch.Environment(persons_own(os.environ, Path.cwd())).folder)"
    )
    elsewhere = [
        subprocess.run(
            [sys.executable, "-I", "-c", program],
            env=ready,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
        ).stdout.strip()
        for folder in (tmp_path, repository)
    ]

    assert elsewhere[0] == ready["DAYBOOK_VENV"]
    assert elsewhere[1] != ready["DAYBOOK_VENV"]
