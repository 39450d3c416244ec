"""
The real Claude Code client with this plugin installed, offline: what the tests in this folder share.

What is installed is a clean export of the tree, so a file that git would leave behind is missing here too.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from harness.drive_claude import WAITS, Claude  # noqa: E402
from harness.python_environment import make_environment  # noqa: E402

CLIENTS = ".client/node_modules/@anthropic-ai/claude-code-*/claude"  # made by `make client`
TRAP = '#!/bin/sh\necho "$0 $*" >>"$CLAUDE_STARTS"\n'


@pytest.fixture(scope="session")
def binary() -> Path:
    """The client's program."""
    named = os.environ.get("DAYBOOK_CLIENT")
    for path in [Path(named)] if named else sorted(ROOT.glob(CLIENTS)):
        if os.access(path, os.X_OK):
            return path.resolve()
    pytest.skip("the real Claude Code client is not here: `make client` fetches it (needs Node.js)")


@pytest.fixture(scope="session")
def plugin(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin's folder, which is its marketplace too; made only when there is a client (*binary*)."""
    export = tmp_path_factory.mktemp("plugin") / "daybook"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if os.path.lexists(ROOT / name):  # git still lists what was just deleted
            (export / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, export / name, follow_symlinks=False)
    return export


@pytest.fixture(scope="session")
def environment(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python environment that needs no setting up, with its bytecode made, as a real set-up leaves it."""
    folder = make_environment(tmp_path_factory.mktemp("environment") / "venv", plugin)
    env = {**os.environ, "DAYBOOK_VENV": str(folder), "MEMORY_DIR": str(folder.parent / "store")}
    for command in (["recall", "anything"], ["serve"]):
        subprocess.run(
            [plugin / "bin" / "daybook", *command],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    return folder


@pytest.fixture(scope="module")
def home(binary: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A HOME in which the plugin was installed from its local marketplace."""
    folder = tmp_path_factory.mktemp("home")
    Claude(binary, home=folder, project=folder, env={}).install(plugin)
    return folder


@pytest.fixture(scope="module")
def home_without_module(binary: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same where the client loads no module of the plugin, as an older one does."""

    def change(copy: Path) -> None:
        path = copy / "hooks" / "hooks.json"
        hooks = json.loads(path.read_text(encoding="utf-8"))
        del hooks["modules"]
        path.write_text(json.dumps(hooks), encoding="utf-8")

    folder = tmp_path_factory.mktemp("hooks-alone")
    claude = Claude(binary, home=folder, project=folder, env={})
    claude.install_changed(plugin, folder, change)
    return claude.home


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The MEMORY_DIR of one test; nothing is there yet."""
    return tmp_path / "store"


@pytest.fixture
def claude_starts(tmp_path: Path) -> Iterator[Path]:
    """The list of all starts of `claude` by its name, of which our code must do none."""
    starts = tmp_path / "claude-starts"
    yield starts
    assert not starts.exists(), starts.read_text(encoding="utf-8")


@pytest.fixture
def claude(
    binary: Path, home: Path, environment: Path, store: Path, claude_starts: Path, tmp_path: Path
) -> Claude:
    """Claude Code in a new project, with a new store; the first `claude` on its PATH is a trap."""
    trap = tmp_path / "trap" / "claude"
    trap.parent.mkdir()
    trap.write_text(TRAP, encoding="utf-8")
    trap.chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    # For a quarter of an hour the client does not try a server again that failed to start, in another test.
    (home / ".claude" / "mcp-needs-auth-cache.json").unlink(missing_ok=True)
    env = {
        "PATH": f"{trap.parent}:{os.environ['PATH']}",
        "CLAUDE_STARTS": str(claude_starts),
        "DAYBOOK_VENV": str(environment),
        "MEMORY_DIR": str(store),
        **WAITS,  # on a busy machine `claude -p` has asked and ended before a server it does not wait for
    }
    return Claude(binary, home=home, project=project, env=env)
