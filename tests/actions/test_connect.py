"""Other clients of MCP: what is put into their settings, and taken out of them."""

import json
import os
import signal
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcp_server.actions.exchange import connect as connecting
from mcp_server.adapters.json_file import read_object
from mcp_server.core.errors import Conflict, Rejected, Unreadable
from mcp_server.core.exchange.clients import CLIENTS, entry, files_of
from mcp_server.core.exchange.settings_text import read
from mcp_server.store import Store
from tests.live import ROOT

HOME = "/home/ada"
PLACES = {
    ("claude-desktop", "darwin"): f"{HOME}/Library/Application Support/Claude/claude_desktop_config.json",
    ("claude-desktop", "win32"): "C:/Users/ada/AppData/Roaming/Claude/claude_desktop_config.json",
    ("cursor", "linux"): f"{HOME}/.cursor/mcp.json",
    ("vscode", "linux"): f"{HOME}/.config/Code/User/mcp.json",
    ("vscode", "darwin"): f"{HOME}/Library/Application Support/Code/User/mcp.json",
    ("vscode", "win32"): "C:/Users/ada/AppData/Roaming/Code/User/mcp.json",
    ("codex", "linux"): f"{HOME}/.codex/config.toml",
    ("gemini", "win32"): f"{HOME}/.gemini/settings.json",
    ("opencode", "darwin"): f"{HOME}/.config/opencode/opencode.json",
}


@pytest.mark.parametrize(("where", "expected"), PLACES.items())
def test_every_client_is_looked_for_where_its_documents_say(where: tuple[str, str], expected: str) -> None:
    environment = {"APPDATA": "C:/Users/ada/AppData/Roaming"}
    assert files_of(CLIENTS[where[0]], where[1], environment, HOME)[-1] == expected


def test_variables_of_the_clients_move_their_files() -> None:
    environment = {"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "GEMINI_CLI_HOME": "/g"}
    places = {name: files_of(client, "linux", environment, HOME) for name, client in CLIENTS.items()}

    assert places == {
        "claude-desktop": [],
        "cursor": [f"{HOME}/.cursor/mcp.json"],
        "vscode": ["/x/Code/User/mcp.json"],
        "codex": ["/c/config.toml"],
        "gemini": ["/g/.gemini/settings.json"],
        "opencode": ["/x/opencode/opencode.jsonc", "/x/opencode/opencode.json"],
    }


def test_our_server_stands_in_each_as_its_documents_show() -> None:
    stands = {name: entry(client, "/m/bin/daybook") for name, client in CLIENTS.items()}
    plain = {"command": "/m/bin/daybook", "args": ["serve"]}

    assert stands["claude-desktop"] == stands["codex"] == stands["gemini"] == plain
    assert stands["cursor"] == stands["vscode"] == {"type": "stdio", **plain}
    assert stands["opencode"] == {"type": "local", "command": ["/m/bin/daybook", "serve"], "enabled": True}


class Machine:
    """The settings of the clients of one person, and what is done with them."""

    def __init__(self, store: Store, home: Path) -> None:
        self.store, self.home, self.environment = store, home, {"MEMORY_DIR": str(store.home)}

    def write(self, name: str, data: bytes | None) -> Path:
        """Let the client *name* be there, with *data* as its settings."""
        (place,) = files_of(CLIENTS[name], "linux", {}, str(self.home))[-1:]
        path = Path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        if data is not None:
            path.write_bytes(data)
        return path

    def connect(self, name: str) -> connecting.SettingsEdit:
        planned = connecting.plan(self.store, CLIENTS[name], self.environment, str(self.home))
        connecting.connect(self.store, planned, self.environment, root=ROOT)
        return planned

    def disconnect(self, name: str) -> None:
        planned = connecting.plan_back(self.store, CLIENTS[name], self.environment, str(self.home))
        connecting.disconnect(self.store, CLIENTS[name], planned)

    def states(self) -> dict[str, tuple[bool, bool, str]]:
        listed = connecting.list_clients(self.store, self.environment, str(self.home))
        return {client.name: (client.present, client.connected, client.trouble) for client in listed}


@pytest.fixture
def machine(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr("sys.platform", "linux")
    home = tmp_path / "ada"
    home.mkdir()
    return Machine(store, home)


BEFORE = {
    "cursor": b'{\n  "mcpServers": {\n    "x": {}\n  }\n}',
    "vscode": b'{\r\n\t// mine\r\n\t"servers": {},\r\n\t"inputs": [],\r\n}\r\n',
    "codex": b'model = "o3" # mine\n\n[mcp_servers.x]\ncommand = "x"\n',
    "gemini": b"\xef\xbb\xbf{}",
    "opencode": b" \n",
}


@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("there", [True, False])
def test_what_was_there_before_is_there_afterwards_to_the_byte(
    machine: Machine, name: str, there: bool
) -> None:
    path = machine.write(name, BEFORE[name] if there else None)
    if there:
        path.chmod(0o640)
    client = CLIENTS[name]
    machine.connect(name)

    text = path.read_text("utf-8")
    settings = read(text, client.form)
    assert settings[client.under]["daybook"] == entry(client, str(machine.store.home / "bin/daybook"))
    assert machine.states()[name] == (True, True, "")
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name]
    assert not machine.connect(name).changes  # a second time is nothing new
    if there:
        assert path.stat().st_mode & 0o777 == 0o640

    machine.disconnect(name)
    assert (path.read_bytes() if path.exists() else None) == (BEFORE[name] if there else None)
    assert sorted(file.name for file in path.parent.iterdir()) == ([path.name] if there else [])
    assert not (machine.store.home / "bin").exists()
    assert not (machine.store.home / "connected.json").exists()


def test_what_others_write_meanwhile_stays(machine: Machine) -> None:
    path = machine.write("gemini", None)
    machine.connect("gemini")
    settings = json.loads(path.read_bytes())
    settings["mcpServers"]["github"] = {"command": "gh"}
    path.write_text(json.dumps(settings), encoding="utf-8")  # as a client does that writes all of it anew

    machine.disconnect("gemini")
    assert json.loads(path.read_bytes()) == {"mcpServers": {"github": {"command": "gh"}}}


def test_an_entry_that_somebody_changed_or_wrote_is_left_alone(machine: Machine) -> None:
    path = machine.write("cursor", b'{"mcpServers": {"daybook": {"command": "mine"}}}')
    with pytest.raises(Rejected, match="already has another entry 'daybook'") as caught:
        machine.connect("cursor")
    assert "connect cursor --print" in str(caught.value.hint)
    with pytest.raises(Rejected, match="is not the one that Daybook wrote"):
        machine.disconnect("cursor")
    assert path.read_bytes() == b'{"mcpServers": {"daybook": {"command": "mine"}}}'
    assert not (machine.store.home / "bin").exists()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"mcpServers": ', "It is not valid JSON"),
        (b"\xff\xfe{}", "is not UTF-8 text"),
        (b'{"mcpServers": [1]}', "cannot hold another entry"),
    ],
)
def test_settings_that_are_broken_get_a_sentence_and_are_left_alone(
    machine: Machine, data: bytes, sentence: str
) -> None:
    path = machine.write("cursor", data)
    with pytest.raises(Rejected, match=sentence):
        machine.connect("cursor")
    assert path.read_bytes() == data
    machine.states()


def test_a_file_of_settings_that_is_a_link_stays_one(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "mcp.json"
    real.write_text("{}\n", encoding="utf-8")
    machine.write("cursor", None).symlink_to(real)
    machine.connect("cursor")

    assert (machine.home / ".cursor/mcp.json").is_symlink()
    assert "daybook" in real.read_text("utf-8")
    machine.disconnect("cursor")
    assert real.read_text("utf-8") == "{}\n"


def test_a_file_that_changes_while_the_person_thinks_is_not_written_over(machine: Machine) -> None:
    path = machine.write("cursor", b"{}")
    planned = connecting.plan(machine.store, CLIENTS["cursor"], machine.environment, str(machine.home))
    path.write_bytes(b'{"mcpServers": {"new": {}}}')

    with pytest.raises(Conflict):
        connecting.connect(machine.store, planned, machine.environment, root=ROOT)
    assert path.read_bytes() == b'{"mcpServers": {"new": {}}}'


def test_a_pipe_in_the_place_of_settings_holds_nobody_up(machine: Machine) -> None:
    os.mkfifo(machine.write("cursor", None))
    with pytest.raises(Unreadable, match="not a regular file"):
        machine.connect("cursor")
    assert machine.states()["cursor"][2] != ""


def test_a_client_that_is_not_there_is_not_connected(machine: Machine) -> None:
    with pytest.raises(Rejected, match="Cursor is not on this machine"):
        machine.connect("cursor")
    with pytest.raises(Rejected, match="names no settings file for this system"):
        machine.connect("claude-desktop")
    assert set(machine.states().values()) == {(False, False, "")}


def test_the_launcher_stays_until_the_last_client_is_disconnected(machine: Machine) -> None:
    for name in ("cursor", "codex"):
        machine.write(name, None)
        machine.connect(name)
    launcher = machine.store.home / "bin/daybook"
    assert launcher.stat().st_mode & 0o777 == 0o700
    machine.disconnect("cursor")
    assert launcher.exists()
    machine.disconnect("codex")
    assert not launcher.exists()


def test_clients_that_are_connected_at_the_same_moment_are_all_noted(machine: Machine) -> None:
    files = {name: machine.write(name, None) for name in BEFORE}
    with ThreadPoolExecutor(len(files)) as pool:
        assert all(planned.changes for planned in pool.map(machine.connect, files))
        noted = read_object(machine.store.home / connecting.CONNECTED)
        assert noted.keys() == files.keys()

        list(pool.map(machine.disconnect, files))

    assert not any(path.exists() for path in files.values())
    assert not (machine.store.home / "bin").exists()


def test_a_launcher_that_a_kill_left_without_its_mode_can_be_started_after_the_next_try(
    machine: Machine,
) -> None:
    machine.write("cursor", None)
    child = os.fork()
    if child == 0:
        Path.chmod = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
        machine.connect("cursor")
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    launcher = machine.store.home / "bin/daybook"
    assert launcher.exists() and not os.access(launcher, os.X_OK)

    machine.connect("cursor")

    assert os.access(launcher, os.X_OK)


def installed(root: Path, says: str) -> None:
    (root / "bin").mkdir(parents=True)
    (root / "bin/daybook").write_text(f'#!/bin/sh\necho "{says} $* in $MEMORY_DIR"\n', encoding="utf-8")
    (root / "bin/daybook").chmod(0o755)


def run(launcher: Path, text: str) -> subprocess.CompletedProcess[str]:
    launcher.write_text(text, encoding="utf-8")
    return subprocess.run(["sh", launcher, "serve"], capture_output=True, text=True)


def test_the_launcher_becomes_the_version_of_the_plugin_that_was_installed_last(tmp_path: Path) -> None:
    versions = tmp_path / "it's $HOME `x`" / "plugins/cache/market/daybook"
    installed(versions / "0.9.0", "old")
    text = connecting.launcher(versions / "0.9.0", {"MEMORY_DIR": "/a b'c"})
    assert run(tmp_path / "l", text).stdout == "old serve in /a b'c\n"

    before = (versions / "0.9.0/bin/daybook").stat().st_ctime_ns
    number = 0
    while True:  # a clock of a file system may be coarse
        number += 1
        installed(versions / f"0.10.{number}", f"new{number}")
        if (versions / f"0.10.{number}/bin/daybook").stat().st_ctime_ns > before:
            break
    os.utime(versions / f"0.10.{number}/bin/daybook", (0, 0))  # archives keep the dates of files
    assert run(tmp_path / "l", text).stdout == f"new{number} serve in /a b'c\n"


def test_the_launcher_says_when_daybook_is_gone(tmp_path: Path) -> None:
    for root in (tmp_path / "checkout", tmp_path / "plugins/cache/market/daybook/1.0"):
        gone = run(tmp_path / "l", connecting.launcher(root, {}))
        assert (gone.returncode, gone.stdout) == (1, "")
        assert "run 'daybook connect' where it is now" in gone.stderr


def test_what_is_printed_for_a_hand_is_a_whole_file(store: Store) -> None:
    for client in CLIENTS.values():
        text = connecting.by_hand(store, client)
        settings = tomllib.loads(text) if client.form == "toml" else json.loads(text)
        assert settings == {client.under: {"daybook": entry(client, str(store.home / "bin/daybook"))}}
