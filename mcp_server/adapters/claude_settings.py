"""Claude Code's settings files: whether it can read them, and whether they let this plugin run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcp_server.adapters.json_file import problem_of, read_linked_object

MAX_SETTINGS = 4 * 1024 * 1024  # bytes of a settings file
PLUGINS, NO_HOOKS = "enabledPlugins", "disableAllHooks"
_SHAPES: Mapping[type, tuple[str, Sequence[str]]] = {
    dict: ("an object", (PLUGINS, "env", "permissions", "statusLine")),
    bool: ("true or false", (NO_HOOKS, "alwaysThinkingEnabled", "autoMemoryEnabled")),
    str: ("a text", ("apiKeyHelper", "language", "model", "outputStyle")),
}
"""What values have to be: with another, null too, client 2.1.332 passes over the whole file."""


def files_of(claude: Path, folders: Sequence[Path]) -> list[Path]:
    """Return the person's settings file in *claude* and those in *folders*; a later one has the last word."""
    names = ("settings.json", "settings.local.json")
    return [claude / names[0], *(folder / ".claude" / name for folder in folders for name in names)]


def problem(path: Path) -> tuple[int, int, str] | None:
    """Return line, column and reason for which Claude Code passes over the file *path*, as `problem_of`."""
    if not_json := problem_of(path, MAX_SETTINGS):
        return not_json
    wrong = _wrong_shape(read_linked_object(path, MAX_SETTINGS))
    return (0, 0, wrong) if wrong else None


def switching_off(paths: Sequence[Path], plugin: str) -> tuple[Path, str] | None:
    """Return the file of *paths*, and the setting in it, that switches *plugin* or all hooks off, if any."""
    hooks: tuple[Path, bool] | None = None
    plugins: dict[str, tuple[Path, bool]] = {}
    for path in paths:
        settings = read_linked_object(path, MAX_SETTINGS)
        if _wrong_shape(settings):
            continue
        if NO_HOOKS in settings:
            hooks = path, settings[NO_HOOKS]
        for name, enabled in settings.get(PLUGINS, {}).items():
            if name.startswith(f"{plugin}@"):
                plugins[name] = path, bool(enabled)
    if plugins and not any(enabled for _, enabled in plugins.values()):
        return next((path, f"'{PLUGINS}' has '{name}': false") for name, (path, _) in plugins.items())
    return (hooks[0], f"'{NO_HOOKS}' is true") if hooks and hooks[1] else None


def _wrong_shape(settings: Mapping[str, Any]) -> str:
    """Return which value of *settings* is not what it has to be, '' for none."""
    for shape, (what, names) in _SHAPES.items():
        for name in names:
            if not isinstance(settings.get(name, shape()), shape):
                return f"'{name}' is not {what}"
    plugins = settings.get(PLUGINS, {}).items()
    wrong = (name for name, enabled in plugins if not isinstance(enabled, bool | list))
    return next((f"'{name}' in '{PLUGINS}' is not true or false" for name in wrong), "")
