"""daybook connect and disconnect, as a person types them."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.doors.shell import Run, output_of

YES, NO = [(r"\[Y/n\]", "y")], [(r"\[Y/n\]", "n")]


@pytest.fixture(autouse=True)
def no_client_but_gemini(scratch_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (scratch_home / ".gemini").mkdir()
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_a_person_sees_the_change_is_asked_and_takes_it_back(
    run: Run, typed: Run, scratch_home: Path, memory_dir: Path
) -> None:
    settings = scratch_home / ".gemini/settings.json"
    settings.write_text('{\n  "theme": "dark"\n}\n', encoding="utf-8")

    output_of_no = output_of(typed("connect", "gemini", answers=NO))
    assert str(settings) in output_of_no
    assert '+  "mcpServers": {' in output_of_no
    assert "Nothing was written." in output_of_no
    assert settings.read_text("utf-8") == '{\n  "theme": "dark"\n}\n'

    output_of_yes = output_of(typed("connect", "gemini", answers=YES))
    assert "Gemini CLI uses this memory from its next start on." in output_of_yes
    launcher = str(memory_dir / "bin/daybook")
    servers = json.loads(settings.read_text("utf-8"))["mcpServers"]
    assert servers == {"daybook": {"command": launcher, "args": ["serve"]}}
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True)
    assert version.stdout.startswith("daybook, version"), version.stderr
    listed = json.loads(run("connect", "--json").stdout)
    assert [client["name"] for client in listed if client["connected"]] == ["gemini"]
    assert "is connected" in run("connect", "gemini").stdout

    output_of_no = output_of(typed("disconnect", "gemini", answers=YES))
    assert '-  "mcpServers": {' in output_of_no
    assert settings.read_text("utf-8") == '{\n  "theme": "dark"\n}\n'
    assert not Path(launcher).exists()


def test_nobody_but_the_person_writes_into_the_settings_of_another_program(
    run: Run, scratch_home: Path
) -> None:
    process = run("connect", "gemini")
    assert process.returncode == 12
    assert "needs the person's consent" in process.stderr
    assert '"mcpServers"' in process.stdout
    assert list((scratch_home / ".gemini").iterdir()) == []


def test_what_to_put_in_by_hand_is_printed_for_any_client(run: Run, project: Path) -> None:
    printed = run("connect", "vscode", "--print").stdout
    assert json.loads(printed)["servers"]["daybook"]["type"] == "stdio"
    assert run("connect", "codex", "--print").stdout.startswith("[mcp_servers.daybook]\n")


def test_a_client_that_nobody_knows_or_has_gets_a_sentence(run: Run, project: Path) -> None:
    unknown = run("connect", "vs-code")
    assert unknown.returncode == 4
    assert "Daybook knows no client 'vs-code'." in unknown.stderr
    assert "Did you mean vscode?" in unknown.stderr
    assert "Start it once, then try again." in run("connect", "codex").stderr
    assert "not connected." in run("disconnect", "codex").stdout
    listed = run("connect").stdout
    assert "not on this machine" in listed
    assert str(project) not in listed
