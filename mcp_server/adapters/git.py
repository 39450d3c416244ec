"""
What git knows about a folder: branch, commit, and what changed since a commit.

A repository's settings and attributes can name programs for git to run, so we run git as little as possible.
Branch and commit are read from git's own files. Everything else compares commits and trees, never the work
tree, with commands that ignore the person's display settings, and with flags and an environment under which
git runs and fetches nothing. A git too old for these flags is asked only for its version.
"""

import functools
import os
import re
from pathlib import Path
from typing import NamedTuple

from mcp_server.adapters import files
from mcp_server.adapters.detached import windowless
from mcp_server.adapters.project import Worktree, repository_folders, worktree_around
from mcp_server.core.errors import Unreadable

TIMEOUT = 5.0  # seconds; on a slow disk the answers that come later are left out
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/opt/local/bin:/run/current-system/sw/bin"
FIRST_WITH = (2, 45)  # git 2.45 brought GIT_NO_LAZY_FETCH; safe.bareRepository came with 2.38
BROUGHT_TO = {(2, 39): 4, (2, 40): 2, (2, 41): 1, (2, 42): 2, (2, 43): 4, (2, 44): 1}
MAX_PACKED_REFS = 16 * 1024 * 1024  # bytes
MAX_REF = 4096  # bytes
MOST_COMMITS = 10  # that are listed of those since a session was saved

_COMMIT = r"[0-9a-f]{40}|[0-9a-f]{64}"
_VERSION = r"git version (?P<numbers>[0-9]+(?:\.[0-9]+)*)"
_FLAGS = (
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    *("-c", "safe.bareRepository=explicit"),  # a bare repository inside a clone is set up by its author
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false"),
    *("-c", "protocol.allow=never"),
    *("-c", "core.quotePath=false"),
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # names no protocol; a repository's settings could allow others
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}


class Git(NamedTuple):
    """
    Where to look for the person's git, and whose settings it reads.

    path: folders as in PATH, except those in a repository. home, config_home: HOME and, when
    not '', XDG_CONFIG_HOME: the person says there whose repositories are safe. reaching: the
    person's variables by which a remote is reached.
    """

    path: str = DEFAULT_PATH
    home: str = ""
    config_home: str = ""
    reaching: tuple[tuple[str, str], ...] = ()

    @property
    def network(self) -> dict[str, str]:
        """The variables by which a remote is reached: proxies, certificates, the agent with the keys."""
        return dict(self.reaching)


class GitTrouble(NamedTuple):
    """Why git may not be run: no *program* ('') outside the repository, or its *version* is not safe."""

    program: str = ""
    version: tuple[int, ...] = ()  # () when it cannot be read


class GitState(NamedTuple):
    """The position of a repository; '' for a branch means a detached head."""

    branch: str
    head: str


def git_state(folder: Path) -> GitState | None:
    """Return the state of the repository around *folder*, None without repository or commit; runs no git."""
    worktree = worktree_around(folder)
    if worktree is None:
        return None
    ref, commit = "", _text(worktree.git_folder / "HEAD")
    if commit.startswith("ref:"):
        ref = commit.removeprefix("ref:").strip()
        commit = _commit_of(worktree, ref)
    if not re.fullmatch(_COMMIT, commit):
        return None
    return GitState(branch=ref.removeprefix("refs/heads/"), head=commit)


def trouble(git: Git, folder: Path) -> GitTrouble | None:
    """Return why we may not run git in *folder*; None when we may."""
    program = program_of(git, folder)
    if not program:
        return GitTrouble()
    version = _version(git, program, _changed_at(program))
    return None if _is_safe(version) else GitTrouble(str(program), version)


def commits_since(git: Git, folder: Path, then: str, now: str) -> list[str]:
    """Return the newest commits of *now* that *then* lacks, one line each; none when git cannot say."""
    options = ("--no-commit-header", "--format=%h %s", "--encoding=UTF-8", f"--max-count={MOST_COMMITS}")
    lines = _ask(git, folder, "rev-list", *options, f"{then}..{now}", "--").split("\n")
    return list(filter(None, lines))


def files_changed(git: Git, folder: Path, then: str, now: str) -> list[str]:
    """Return the paths that differ between two commits, from the top of the worktree."""
    options = ("-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv")
    answer = _ask(git, folder, "diff-tree", *options, then, now, "--")
    return [name for name in answer.split("\0") if name]


def ignores(git: Git, folder: Path, name: str) -> bool | None:
    """Tell whether git would ignore the file *name* of *folder*; None when we may not run git."""
    if trouble(git, folder):
        return None
    return bool(_ask(git, folder, "check-ignore", "--no-index", "--", str(folder / name)))


def tracked(git: Git, folder: Path) -> frozenset[str]:
    """Return the paths that git tracks in the worktree at *folder*; none when we may not run git."""
    return frozenset(filter(None, _ask(git, folder, "ls-files", "-z").split("\0")))


def _text(path: Path, limit: int = MAX_REF) -> str:
    """Return what a file of git's says, without the blanks around it, '' when it cannot be read."""
    try:
        return files.read(path, limit).decode("utf-8", "replace").strip()
    except (OSError, Unreadable):
        return ""


def _commit_of(worktree: Worktree, ref: str) -> str:
    """Return the commit that *ref* stands for, '' when git's files do not say."""
    if not ref.startswith("refs/") or ".." in ref.split("/"):
        return ""
    if commit := _text(worktree.git_folder / ref) or _text(worktree.common / ref):
        return commit
    packed = _text(worktree.common / "packed-refs", MAX_PACKED_REFS)
    return next((line.partition(" ")[0] for line in packed.split("\n") if line.endswith(f" {ref}")), "")


def _ask(git: Git, folder: Path, *arguments: str) -> str:
    """Return git's answer about the worktree around *folder*; '' when we may not run it, or it fails."""
    worktree = worktree_around(folder)
    if worktree is None or trouble(git, folder):
        return ""
    command = [program_of(git, folder), "-C", str(worktree.top), *_FLAGS, *arguments]
    return _run(command, environment_of(git, folder)).strip("\n")


def _run(command: list[str], environment: dict[str, str]) -> str:
    """Return what *command* prints, '' when it fails or takes too long."""
    import subprocess  # slow to load, and a hook that does not run git needs none of it

    try:
        result = subprocess.run(
            command,
            cwd=os.sep,
            env=environment,
            stdin=subprocess.DEVNULL,  # our own stdin carries Claude Code's messages to the server
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
            **windowless(),
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.decode("utf-8", "replace") if result.returncode == 0 else ""


def environment_of(git: Git, folder: Path | None) -> dict[str, str]:
    """Return the whole environment for git: nothing of our own, least of all GIT_* variables."""
    own = {"PATH": os.pathsep.join(_own_folders(git, folder)), "HOME": git.home}
    return {**_ENVIRONMENT, **own, **({"XDG_CONFIG_HOME": git.config_home} if git.config_home else {})}


def program_of(git: Git, folder: Path) -> str:
    """Return the path of the person's git, '' when none is outside of the repository around *folder*."""
    programs = (os.path.join(place, "git") for place in _own_folders(git, folder))
    return next((path for path in programs if os.path.isfile(path) and os.access(path, os.X_OK)), "")


def _own_folders(git: Git, folder: Path | None) -> list[str]:
    """Return the folders of PATH that no repository around *folder* can have filled."""
    theirs = repository_folders(folder, home=Path(git.home or os.sep)) if folder else []
    places = [place for place in git.path.split(os.pathsep) if os.path.isabs(place)]
    identities = set(filter(None, map(_identity, theirs)))
    return [place for place in places if not _lies_in(place, identities)]


def _lies_in(place: str, identities: set[tuple[int, int]]) -> bool:
    real = Path(os.path.realpath(place))
    return any(_identity(above) in identities for above in (real, *real.parents))


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return what identifies *folder* whatever its name: some disks ignore case."""
    try:
        status = os.stat(folder)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _changed_at(program: str) -> int:
    try:
        return os.stat(program).st_mtime_ns
    except OSError:
        return 0


def is_safe_git(git: Git, program: str) -> bool:
    """Tell whether *program* is a git that can be kept from running what a repository says."""
    return _is_safe(_version(git, program, _changed_at(program)))


@functools.lru_cache(maxsize=16)
def _version(git: Git, program: str, mtime_ns: int) -> tuple[int, ...]:
    """Return the version of *program* as of *mtime_ns*, () when it gives none; reads no repository."""
    del mtime_ns
    match = re.match(_VERSION, _run([program, "--version"], environment_of(git, None)))
    return tuple(map(int, match["numbers"].split("."))) if match else ()


def _is_safe(version: tuple[int, ...]) -> bool:
    """Whether that git knows safe.bareRepository and GIT_NO_LAZY_FETCH, by its release notes."""
    if version[:2] >= FIRST_WITH:
        return True
    first = BROUGHT_TO.get(version[:2])  # type: ignore[arg-type]
    return first is not None and version[2:3] >= (first,)
