"""A newcomer's machine that lacks something: one line says what to do, and the session after that works."""

import os
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.drive_claude import WAITS, Claude
from harness.mock_anthropic import call
from harness.python_environment import SlowSetUp, path_without_python
from harness.terminal import needs_tmux, wait_until

from tests.machine import POSES

pytestmark = [pytest.mark.client, needs_tmux]

TROUBLE = r"hook failed|hook error|hook problem|timed out|not connected|Daybook did not"
REMEMBER = call("remember", title="Port", content="The API listens on port 7443.")


@pytest.fixture
def newcomer(claude: Claude, plugin: Path, tmp_path: Path) -> Claude:
    """A person with a home of their own, all of whose folders have blanks and umlauts in their names."""
    home = tmp_path / "Größe der Welt"
    project = home / "Mein Projekt (neu)"
    project.mkdir(parents=True)
    claude.home, claude.project = home, project
    claude.env |= {
        "MEMORY_DIR": str(home / "Gedächtnis & mehr"),
        "DAYBOOK_VENV": str(home / "Umgebung 1" / "venv"),
    }
    claude.install(plugin)
    return claude


@pytest.fixture(autouse=True)
def patient(claude: Claude) -> None:
    """A client that waits for its server however slow the machine is."""
    claude.env["MCP_TIMEOUT"] = "240000"  # ms


@pytest.fixture
def refused() -> Iterator[str]:
    """An address on loopback that refuses every connection."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def said_on(screen: str, words: str) -> int:
    """Return how often *words* stand on *screen*, wherever its lines end."""
    return re.sub(r"\s+", " ", screen).count(words)


def check_works(claude: Claude, plugin: Path, folder: Path) -> None:
    """A session sets itself up, and the one after it remembers."""
    folder.mkdir()
    with SlowSetUp(claude, plugin, folder) as set_up:
        claude.env["DAYBOOK_PYTHON"] = sys.executable
        started = claude.prompt("hello there", ["hi"])
        set_up.finish()
    works = claude.prompt("hello there", [REMEMBER, "kept"], env=WAITS)

    assert "setting itself up" in "".join(started.hooks_said) or "Each new session tries" in "".join(
        started.hooks_said
    )
    assert ": remembered as note" in works.tool_results[0]


@pytest.mark.parametrize("version", ["", "3.9.18", "3.10.13"])
def test_without_a_python_that_will_do_one_line_says_so_and_with_one_the_next_session_works(
    newcomer: Claude, plugin: Path, tmp_path: Path, version: str
) -> None:
    with_python = newcomer.env["PATH"]
    path = path_without_python(tmp_path / "path")
    if version:
        numbers = tuple(map(int, version.split(".")))
        old = POSES.format(python=os.path.realpath(sys.executable), version=numbers, text=version)
        (path / "python3").write_text(old, encoding="utf-8")
        (path / "python3").chmod(0o755)
    newcomer.env["PATH"] = str(path)

    with newcomer.interactive() as terminal:
        terminal.send("hello there", ["hi you"])
        terminal.send("hello again", ["hi again"])
        screen = terminal.screen()

    python_found = f"python3, which is {version}" if version else "nothing"
    assert (
        said_on(
            screen, f"Daybook needs Python 3.11 or newer and found {python_found}, so nothing is remembered."
        )
        == 1
    )
    assert not re.search(TROUBLE, screen), screen
    newcomer.env["PATH"] = with_python
    check_works(newcomer, plugin, tmp_path / "mended")


def test_without_a_network_the_session_says_so_once_and_with_one_the_next_works(
    newcomer: Claude, plugin: Path, refused: str, tmp_path: Path
) -> None:
    pip = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": f"{refused}/simple", "PIP_RETRIES": "0"}
    newcomer.env |= {**pip, "PIP_NO_INDEX": "", "PIP_FIND_LINKS": "", "DAYBOOK_PYTHON": sys.executable}
    failed = Path(newcomer.env["DAYBOOK_VENV"]) / ".daybook-failed"

    with newcomer.interactive() as terminal:
        terminal.send("hello there", ["hi you"])
        wait_until(lambda: failed.exists() and failed.read_text(encoding="utf-8"), terminal.screen)
        terminal.send("hello again", ["hi again"])
        terminal.send("and once more", ["hi once more"])
        screen = terminal.screen()

    assert said_on(screen, "Daybook could not set itself up: the package index cannot be reached") == 1, (
        screen
    )
    assert not re.search(TROUBLE, screen), screen
    check_works(newcomer, plugin, tmp_path / "mended")
