"""
The clients of MCP beside Claude Code: where each keeps its servers, and how one stands there.

Places and keys are those that the clients' own documents name, for a person's settings in all projects.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

NAME = "daybook"  # of our server, in every client
WINDOWS, MAC, LINUX = "win32", "darwin", "linux"


@dataclass(frozen=True, slots=True)
class Client:
    """
    One client: how it is named, which file it reads, and what our server is called in there.

    `places` is platform → files, where `{home}`, `{config}` and `{appdata}` are folders; of several the first
    that is there counts, else the last. `under` is the key of the servers, and `shape` how each is written:
    `plain` has a command and its arguments, `typed` says beside them that it talks by stdio, `list` has both
    in one list.
    """

    name: str
    title: str
    form: Literal["json", "toml"]
    under: str
    shape: Literal["plain", "typed", "list"]
    places: Mapping[str, tuple[str, ...]]
    moved_by: tuple[str, str] = ("", "")
    """The variable that names another folder, and the one it stands for."""


def _everywhere(*files: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys((LINUX, MAC, WINDOWS), files)


CLIENTS = {
    client.name: client
    for client in (
        # The quick start of the protocol's own documents; they name no place on Linux.
        Client(
            "claude-desktop",
            "Claude Desktop",
            "json",
            "mcpServers",
            "plain",
            {
                MAC: ("{home}/Library/Application Support/Claude/claude_desktop_config.json",),
                WINDOWS: ("{appdata}/Claude/claude_desktop_config.json",),
            },
        ),
        # Cursor's documents on MCP, "global configuration".
        Client("cursor", "Cursor", "json", "mcpServers", "typed", _everywhere("{home}/.cursor/mcp.json")),
        # VS Code's "MCP configuration reference"; the folders of a user's profile are in "User and workspace
        # settings".
        Client(
            "vscode",
            "VS Code",
            "json",
            "servers",
            "typed",
            {
                LINUX: ("{config}/Code/User/mcp.json",),
                MAC: ("{home}/Library/Application Support/Code/User/mcp.json",),
                WINDOWS: ("{appdata}/Code/User/mcp.json",),
            },
        ),
        # Codex's documents on MCP and on its configuration.
        Client(
            "codex",
            "Codex",
            "toml",
            "mcp_servers",
            "plain",
            _everywhere("{home}/.codex/config.toml"),
            ("CODEX_HOME", "{home}/.codex"),
        ),
        # Gemini CLI's documents, "MCP servers with Gemini CLI" and "Configuration".
        Client(
            "gemini",
            "Gemini CLI",
            "json",
            "mcpServers",
            "plain",
            _everywhere("{home}/.gemini/settings.json"),
            ("GEMINI_CLI_HOME", "{home}"),
        ),
        # OpenCode's documents, "Config" and "MCP servers", of its version 1; where both files are, it writes
        # into the first.
        Client(
            "opencode",
            "OpenCode",
            "json",
            "mcp",
            "list",
            _everywhere("{config}/opencode/opencode.jsonc", "{config}/opencode/opencode.json"),
        ),
    )
}


def files_of(client: Client, platform: str, environment: Mapping[str, str], home: str) -> list[str]:
    """Return the files that *client* may read on *platform*; none where its documents name none."""
    config = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    folders = {
        "home": home,
        "config": config,
        "appdata": environment.get("APPDATA") or f"{home}/AppData/Roaming",
    }
    variable, stands_for = client.moved_by
    moved = environment.get(variable, "") if variable else ""
    found = []
    for place in client.places.get(platform, ()):
        if moved:
            found.append(place.replace(stands_for, moved, 1))
        else:
            found.append(place.format(**folders))
    return found


def entry(client: Client, command: str) -> dict[str, object]:
    """Return how our server, which *command* starts, stands in the file of *client*."""
    if client.shape == "list":
        return {"type": "local", "command": [command, "serve"], "enabled": True}
    started: dict[str, object] = {"command": command, "args": ["serve"]}
    return {"type": "stdio", **started} if client.shape == "typed" else started
