"""
The environment as the person made it: without the variables that a repository's settings added.

Claude Code exports the `env` of a repository's `.claude/settings.json` to our processes.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from mcp_server.adapters import account
from mcp_server.adapters.git import DEFAULT_PATH, Git
from mcp_server.adapters.project import worktree_around
from mcp_server.core.settings import ESCAPE, HOOKS, environment_told, is_told, may_name

SETTINGS_FILES = ("settings.json", "settings.local.json")
REACHING = (
    "SSH_AUTH_SOCK", "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "http_proxy",
    "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
    "SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "TEMP", account.HOME,
)  # fmt: skip
"""Variables of the person's by which git reaches their remote; Windows needs some for any program."""
MOST_SETTINGS = 4 * 1024 * 1024  # bytes


def persons_own(environment: Mapping[str, str], folder: Path) -> Mapping[str, str]:
    """
    Return *environment* without the variables that the repository around *folder* added.

    They could name an endpoint, store, budget or programs of the repository's author. A settings file that
    does not parse removes every variable that says where something is sent or what it may cost, and those
    whose names are in the file. So anyone can silence Daybook.
    """
    own = dict(environment)
    for place in _session_folders(environment, folder):
        for name in SETTINGS_FILES:
            data = _settings_file(place / ".claude" / name)
            if not data:
                continue
            variables = _named_variables(data)
            for variable, value in list(own.items()):
                if variable != HOOKS and _is_named(data, variables, variable, value):
                    del own[variable]
    return own


def is_own_network(variables: Mapping[str, str], own: Mapping[str, str]) -> bool:
    """Tell whether proxies and certificates among *variables* are all in the person's *own*."""
    return not any(name in variables and name not in own for name in _NETWORK)


_NETWORK = {  # variables that the library reads by itself
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
}


def _is_named(data: bytes, variables: dict[str, object] | None, name: str, value: str) -> bool:
    return is_told(variables, name, value) or (variables is None and may_name(data, name))


def _named_variables(data: bytes) -> dict[str, object] | None:
    variables = environment_told(data)
    return None if variables is None else account.by_their_names(variables)


def _session_folders(environment: Mapping[str, str], folder: Path) -> set[Path]:
    """
    Return *folder*, the folder where the session was started, and those above both in the same repository.

    Files in the home folder are the person's, unless they are the ones that name it as the home.
    """
    home = os.path.realpath(person_home(environment))
    starts = [str(folder), environment.get("CLAUDE_PROJECT_DIR") or str(folder)]
    with contextlib.suppress(OSError, ValueError):
        worktree = worktree_around(folder)
        if worktree and worktree.common.name == ".git":  # the main worktree may have settings for all
            starts.append(str(worktree.common.parent))
    folders = set()
    for start in starts:
        with contextlib.suppress(OSError, ValueError):
            real = Path(os.path.realpath(start))
            for place in (real, *real.parents):
                if str(place) == home and not _poses_as_home(place, environment):
                    break
                folders.add(place)
                if os.path.lexists(place / ".git"):
                    break
    return folders


def _poses_as_home(place: Path, environment: Mapping[str, str]) -> bool:
    if str(place) == os.path.realpath(person_home({})):
        return False
    files = [_settings_file(place / ".claude" / name) for name in SETTINGS_FILES]
    return any(
        _is_named(data, _named_variables(data), account.HOME, environment.get(account.HOME, ""))
        for data in files
    )


def _settings_file(path: Path) -> bytes:
    """Return the bytes of a file of Claude Code's settings, b"" when it cannot be read."""
    try:
        if not path.is_file():  # also skips what would block, like a pipe
            return b""
        with open(path, "rb") as handle:
            data = handle.read(MOST_SETTINGS + 1)
    except (OSError, ValueError):
        return b""
    return data if len(data) <= MOST_SETTINGS else ESCAPE


def person_home(environment: Mapping[str, str]) -> str:
    """Return the person's home folder: from its variable, else from the operating system."""
    home = environment.get(account.HOME, "")
    return home if os.path.isabs(home) else account.home_folder()


def persons_git(environment: Mapping[str, str]) -> Git:
    """Return where the person's git is; *environment* is the result of `persons_own`."""
    return Git(
        path=environment.get("PATH") or DEFAULT_PATH,
        home=person_home(environment),
        config_home=environment.get("XDG_CONFIG_HOME", ""),
        reaching=tuple((name, environment[name]) for name in REACHING if environment.get(name)),
    )
