"""Which project a folder belongs to: one answer, for reading and for writing alike."""

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from mcp_server.adapters.open_files import open_file
from mcp_server.adapters.vault import is_utf8
from mcp_server.core.digests import text_digest
from mcp_server.core.memory_parts import slug

MAX_GIT_FILE = 64 * 1024  # bytes read of a file of git's; clone writes the remotes at the top of the config
CASELESS_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org"})  # Acme/Shop is acme/shop there
HOST_ALIASES = {  # other names of the same hosts: the web one, and SSH through the HTTPS port
    "www.github.com": "github.com",
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}

# Compiled when first needed: a hook in a folder without a remote needs none.
_URL = r"(?i:(?:[a-z0-9-]+::)?(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>.*))"
_SCP = r"(?P<authority>(?:[^@/:\[]*@)?(?:\[[^/\]]+\]|[^@/:\[\]]{2,})):(?!:)(?P<path>.*)"
_HOST = r"(?P<host>\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::[0-9]*)?"
_SECTION = r'\[(?P<name>[\w.-]+)(?:\s+"(?P<part>(?:[^"\\]|\\.)*)")?\s*\](?P<rest>.*)'
_OF_OTHERS = r"^[^\S\n]*\[\s*(?:remote|include)"
_SETTING = r"(?P<key>[A-Za-z][\w-]*)\s*=\s*(?P<value>.*)"
_VALUE = r'(?P<quoted>"(?:[^"\\]|\\.)*"?)|(?P<plain>[^"#;\\]+|\\.)|[#;].*'
_ESCAPE, _ESCAPED = r"\\(.)", r"\1"


class Project(NamedTuple):
    """
    A code base: `key` names its folder under `projects/`, `reason` says how it was recognised.

    `former` is the key that it had until it got a remote, '' when it has none.
    """

    key: str
    name: str
    root: Path
    reason: str
    remote: str
    former: str = ""


class Worktree(NamedTuple):
    """A worktree, or a bare repository, and the repository that it belongs to."""

    main: Path  # the main worktree; of a bare repository, itself
    shared: Path  # the folder that all worktrees share: the repository's identity without a remote
    remote: str
    top: Path  # the root of this worktree
    git_folder: Path  # git's folder for it
    common: Path  # git's folder for all of them


def worktree_around(folder: Path) -> Worktree | None:
    """Return the worktree (or the bare repository) around *folder*, None when there is none."""
    return _nearest_worktree(_real_path(folder))


def repository_folders(folder: Path, *, home: Path) -> list[Path]:
    """
    Return the folders that a repository around *folder* may have filled: *folder* and each worktree above.

    A folder that contains *home* is not among them: a home in git still has the person's programs.
    """
    path, own = _real_path(folder), _real_path(home)
    around = [place for place in (path, *path.parents) if os.path.lexists(place / ".git")]
    if worktree := _nearest_worktree(path):
        around += [worktree.top, worktree.main]
    return list(dict.fromkeys(place for place in (path, *around) if not own.is_relative_to(place)))


def resolve_project(folder: Path, *, home: Path) -> Project | None:
    """
    Return the project of *folder*; None when that would be *home* or a folder above it, and where its path is
    not UTF-8: files and index could not name it.

    It is the git repository around the folder, identified by its main worktree's remote, or by the main
    worktree when it has none; without git, the folder itself, whether it exists or not.
    Reads a few small files and starts no process; an unreadable file counts as absent.
    """
    path = _real_path(folder)
    worktree = _nearest_worktree(path)
    root = worktree.main if worktree else path
    if root == root.parent or _real_path(home).is_relative_to(root) or not is_utf8(str(root)):
        return None
    if worktree is None:
        reason = f"the folder {root}, which is in no git repository"
        return Project(_key(root.name, str(path)), root.name, root, reason, "")
    name = root.name.removesuffix(".git")
    by_path = _key(name, str(worktree.shared))
    remote = worktree.remote
    if not remote:
        return Project(by_path, name, root, f"the git repository at {root}", "")
    name = remote.rpartition("/")[2]
    return Project(_key(name, remote), name, root, f"the git remote {remote}", remote, former=by_path)


def _key(name: str, identity: str) -> str:
    return f"{slug(name) or 'project'}-{text_digest(identity, size=4)}"


def name_in(key: str) -> str:
    """Return the name in the key of a project, in small letters and without blanks."""
    return key.rpartition("-")[0] or key


def has_remote(folder: Path) -> bool:
    """
    Tell whether the repository at *folder* has a remote, so that others may have written what is in it.

    True also when its settings cannot be read or include others; False for a folder without git.
    """
    git_folder = _git_folder(folder)
    if git_folder is None:
        return os.path.lexists(folder / ".git")
    common = _head(git_folder / "commondir").strip()
    config = _head((_real_path(git_folder / common) if common else git_folder) / "config")
    return not config or re.search(_OF_OTHERS, config, re.I | re.M) is not None


def leads_out(path: Path, root: Path) -> bool:
    """Tell whether *path*, links resolved, lies outside of the project at *root*, or in its `.git`."""
    real, top = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    return not real.is_relative_to(top) or ".git" in real.relative_to(top).parts


def normalise_remote(url: str) -> str:
    """
    Return `host/path` of a git remote: equal for SSH and HTTPS, without credentials, port and `.git`.

    '' for a place that others do not share (a path, `file://`), and for a URL so odd that a part of a
    credential could be left in it.
    """
    url = url.strip()
    match = re.fullmatch(_URL if "://" in url else _SCP, url)
    if match is None or not url.isprintable() or match.groupdict().get("scheme", "").lower() == "file":
        return ""
    host_match = re.fullmatch(_HOST, match["authority"].rpartition("@")[2])
    if host_match is None or "@" in match["path"]:
        return ""
    host = host_match["host"].lower().rstrip(".")
    host = HOST_ALIASES.get(host, host)
    path = re.split(r"[?#]", match["path"], maxsplit=1)[0]
    path = "/".join(part for part in path.split("/") if part not in ("", ".", ".."))
    path = path.removesuffix(".git").rstrip("/")
    if host in CASELESS_HOSTS:
        path = path.lower().removesuffix(".git")
    return f"{host}/{path}" if host and path else ""


def _real_path(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):  # the current directory was deleted; a null byte in the name
        return Path(os.path.normpath(os.sep + str(path).replace("\0", "")))


def _nearest_worktree(path: Path) -> Worktree | None:
    """
    Return the nearest worktree or bare repository at or above *path*.

    A bare one inside a worktree does not count: anyone can commit one, with settings of their own.
    Git checks out nothing below a folder called `.git`, so nothing in there was committed.
    """
    bare = None
    for place in (path, *path.parents):
        worktree = _worktree_at(place)
        if worktree and (worktree.git_folder != place or ".git" in place.parts):
            return worktree
        bare = bare or worktree
    return bare


def _worktree_at(folder: Path) -> Worktree | None:
    """Return the worktree at *folder*, or the repository whose own files are in it."""
    git_folder = _git_folder(folder)
    if git_folder is None:
        return None
    common = _head(git_folder / "commondir").strip()
    shared = _real_path(git_folder / common) if common else git_folder
    if not _is_git_folder(shared):
        return None
    settings = _settings(_head(shared / "config"))
    in_main_worktree = shared == git_folder != folder
    main = folder if in_main_worktree else _main_worktree(shared, settings.get("core.worktree", ""))
    # Without a remote it keeps the identity that the folder had before 'git init'.
    identity = shared.parent if shared.name == ".git" else shared
    return Worktree(main, identity, _remote(settings), folder, git_folder, shared)


def _git_folder(folder: Path) -> Path | None:
    """Return git's folder for the worktree at *folder*; None when there is none."""
    entry = folder / ".git"
    pointer = _head(entry)
    if pointer.startswith("gitdir:"):
        inside = _real_path(folder / pointer.removeprefix("gitdir:").strip())
    else:
        inside = _real_path(entry) if stat.S_ISDIR(_mode(entry)) else folder
    return inside if _is_git_folder(inside) else None


def _is_git_folder(folder: Path) -> bool:
    """Whether git would take *folder* for a `.git`: it has a HEAD, and objects or a pointer to them."""
    if not os.path.lexists(folder / "HEAD"):
        return False
    return stat.S_ISREG(_mode(folder / "commondir")) or (
        stat.S_ISDIR(_mode(folder / "objects")) and stat.S_ISDIR(_mode(folder / "refs"))
    )


def _main_worktree(shared: Path, configured: str) -> Path:
    """Return the main worktree of the git folder *shared*; *shared* itself when it is bare."""
    if shared.name == ".git":
        return shared.parent
    if configured:  # a submodule
        return _real_path(shared / configured)
    return shared.parent if _git_folder(shared.parent) == shared else shared


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _head(path: Path) -> str:
    """Return the beginning of a regular file, in whole lines; '' when it cannot be read."""
    try:
        handle = open_file(path, os.O_RDONLY)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        data = os.read(handle, MAX_GIT_FILE)
    except OSError:
        return ""
    finally:
        os.close(handle)
    return os.fsdecode(data if len(data) < MAX_GIT_FILE else data.rpartition(b"\n")[0])


def _settings(config: str) -> dict[str, str]:
    """
    Return the first value of each `core` and `remote` setting, as `section.part.key`; reads no includes.

    Other sections are skipped: a config can hold thousands of branches.
    """
    settings: dict[str, str] = {}
    section = ""
    for line in config.removeprefix("\ufeff").replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        setting = line.lstrip()
        if setting.startswith("["):
            is_wanted = setting[:7].lower().startswith(("[core", "[remote"))
            match = re.fullmatch(_SECTION, setting) if is_wanted else None
            section = _section(match) if match else ""
            setting = match["rest"].lstrip() if match else ""
        if section and (match := re.fullmatch(_SETTING, setting)):
            settings.setdefault(f"{section}.{match['key'].lower()}", _value(match["value"]))
    return settings


def _section(match: re.Match[str]) -> str:
    name = match["name"].lower()
    return name if match["part"] is None else f"{name}.{re.sub(_ESCAPE, _ESCAPED, match['part'])}"


def _value(written: str) -> str:
    """Return a config value without its quotes, escapes and comment."""
    value = ""
    for match in re.finditer(_VALUE, written):
        if match["quoted"]:
            value += re.sub(_ESCAPE, _ESCAPED, match["quoted"].strip('"'))
        elif match["plain"]:
            value += re.sub(_ESCAPE, _ESCAPED, match["plain"])
    return value.strip()


def _remote(settings: dict[str, str]) -> str:
    """Return `remote.origin.url`, without origin that of the first remote by name, normalised."""
    if "remote.origin.url" in settings:
        return normalise_remote(settings["remote.origin.url"])
    names = sorted(key for key in settings if key.startswith("remote.") and key.endswith(".url"))
    return next(filter(None, (normalise_remote(settings[name]) for name in names)), "")
