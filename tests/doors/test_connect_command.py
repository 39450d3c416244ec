"""daybook connect and disconnect, as a person types them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live import ROOT
from tests.terminal import type_in_terminal

COMMAND = [sys.executable, "-m", "mcp_server.doors.cli"]
YES, NO = [(r"\[Y/n\]", "y")], [(r"\[Y/n\]", "n")]


@pytest.fixture
def env(memory_dir: Path, scratch_home: Path) -> dict[str, str]:
    (scratch_home / ".gemini").mkdir()
    own = {"MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT)}
    moved = ("XDG_CONFIG_HOME", "CODEX_HOME", "GEMINI_CLI_HOME")
    return {name: value for name, value in {**os.environ, **own}.items() if name not in moved}


def typed(env: dict[str, str], project: Path, *words: str, answers: list[tuple[str, str]]) -> str:
    process = type_in_terminal([*COMMAND, *words], cwd=project, env=env, answers=answers)
    assert process.returncode == 0, process.stdout
    return process.stdout


def ran(env: dict[str, str], project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], env=env, cwd=project, capture_output=True, text=True)


def test_a_person_sees_the_change_is_asked_and_takes_it_back(
    env: dict[str, str], project: Path, scratch_home: Path, memory_dir: Path
) -> None:
    settings = scratch_home / ".gemini/settings.json"
    settings.write_text('{\n  "theme": "dark"\n}\n', encoding="utf-8")

    output_of_no = typed(env, project, "connect", "gemini", answers=NO)
    assert str(settings) in output_of_no
    assert '+  "mcpServers": {' in output_of_no
    assert "Nothing was written." in output_of_no
    assert settings.read_text("utf-8") == '{\n  "theme": "dark"\n}\n'

    output_of_yes = typed(env, project, "connect", "gemini", answers=YES)
    assert "Gemini CLI uses this memory from its next start on." in output_of_yes
    launcher = str(memory_dir / "bin/daybook")
    servers = json.loads(settings.read_text("utf-8"))["mcpServers"]
    assert servers == {"daybook": {"command": launcher, "args": ["serve"]}}
    version = subprocess.run([launcher, "--version"], env=env, capture_output=True, text=True)
    assert version.stdout.startswith("daybook, version"), version.stderr
    listed = json.loads(ran(env, project, "connect", "--json").stdout)
    assert [client["name"] for client in listed if client["connected"]] == ["gemini"]
    assert "is connected" in ran(env, project, "connect", "gemini").stdout

    output_of_no = typed(env, project, "disconnect", "gemini", answers=YES)
    assert '-  "mcpServers": {' in output_of_no
    assert settings.read_text("utf-8") == '{\n  "theme": "dark"\n}\n'
    assert not Path(launcher).exists()


def test_nobody_but_the_person_writes_into_the_settings_of_another_program(
    env: dict[str, str], project: Path, scratch_home: Path
) -> None:
    process = ran(env, project, "connect", "gemini")
    assert process.returncode == 12
    assert "needs the person's consent" in process.stderr
    assert '"mcpServers"' in process.stdout
    assert list((scratch_home / ".gemini").iterdir()) == []


def test_what_to_put_in_by_hand_is_printed_for_any_client(env: dict[str, str], project: Path) -> None:
    printed = ran(env, project, "connect", "vscode", "--print").stdout
    assert json.loads(printed)["servers"]["daybook"]["type"] == "stdio"
    assert ran(env, project, "connect", "codex", "--print").stdout.startswith("[mcp_servers.daybook]\n")


def test_a_client_that_nobody_knows_or_has_gets_a_sentence(env: dict[str, str], project: Path) -> None:
    unknown = ran(env, project, "connect", "vs-code")
    assert unknown.returncode == 4
    assert "Daybook knows no client 'vs-code'." in unknown.stderr
    assert "Did you mean vscode?" in unknown.stderr
    assert "Start it once, then try again." in ran(env, project, "connect", "codex").stderr
    assert "not connected." in ran(env, project, "disconnect", "codex").stdout
    listed = ran(env, project, "connect").stdout
    assert "not on this machine" in listed
    assert str(project) not in listed
