"""What git says about a folder: branch, commit, and what changed since one."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 5.0  # seconds; a repository on a slow disk is described without what git did not say in time


@dataclass(frozen=True, slots=True)
class GitState:
    """Where a repository stands; '' for a branch means a detached head."""

    branch: str
    head: str


def git_state(folder: Path) -> GitState | None:
    """Return where the repository around *folder* stands; None without git, repository or commit."""
    head = _git(folder, "rev-parse", "--verify", "HEAD")
    if not head:
        return None
    return GitState(branch=_git(folder, "symbolic-ref", "--short", "-q", "HEAD"), head=head)


def commits_since(folder: Path, head: str, most: int = 10) -> list[str]:
    """Return the newest commits after *head*, one line each; none when git does not know *head*."""
    return _git(
        folder, "log", "--oneline", "--no-decorate", f"--max-count={most}", f"{head}..HEAD"
    ).splitlines()


def files_changed_since(folder: Path, head: str) -> list[str]:
    """Return the paths that differ from commit *head*, in the worktree as it is now."""
    return _git(folder, "diff", "--name-only", "--no-ext-diff", "--no-textconv", head).splitlines()


def ignores(folder: Path, name: str) -> bool:
    """Tell whether git would leave the file *name* of *folder* out."""
    return bool(_git(folder, "check-ignore", "--no-index", "--", name))


def _git(folder: Path, *arguments: str) -> str:
    # A repository's own settings must not start programs of its author.
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    command += ["-c", "core.quotePath=false", *arguments]  # names of files as they are
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,  # ours is what Claude Code says to the server
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
