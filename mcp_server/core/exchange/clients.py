"""
The MCP clients other than Claude Code: where each lists its servers, and in which form.

Places and keys come from the clients' own documents, for a person's settings in all projects.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

NAME = "daybook"  # of Daybook's server, in every client
WINDOWS, MAC, LINUX = "win32", "darwin", "linux"


@dataclass(frozen=True, slots=True)
class Client:
    """
    One client: its name, the file that it reads, and the form of a server's entry in that file.

    `places` is platform → files, where `{home}`, `{config}` and `{appdata}` are folders; of several files the
    first that exists counts, else the last. `under` is the key of the servers, and `shape` the form of each:
    `plain` has a command and its arguments, `typed` says also that it uses stdio, `list` has command and
    arguments in one list.
    """

    name: str
    title: str
    form: Literal["json", "toml"]
    under: str
    shape: Literal["plain", "typed", "list"]
    places: Mapping[str, tuple[str, ...]]
    moved_by: tuple[str, str] = ("", "")
    """The variable that names another folder, and the folder that this replaces."""


def _everywhere(*files: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys((LINUX, MAC, WINDOWS), files)


CLIENTS = {
    client.name: client
    for client in (
        # The quick start in the documents of MCP itself; they name no place on Linux.
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
    paths = []
    for place in client.places.get(platform, ()):
        if moved:
            paths.append(place.replace(stands_for, moved, 1))
        else:
            paths.append(place.format(**folders))
    return paths


def entry(client: Client, command: str) -> dict[str, object]:
    """Return the entry for Daybook's server, started by *command*, in the file of *client*."""
    if client.shape == "list":
        return {"type": "local", "command": [command, "serve"], "enabled": True}
    started: dict[str, object] = {"command": command, "args": ["serve"]}
    return {"type": "stdio", **started} if client.shape == "typed" else started
