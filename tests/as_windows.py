"""
A program that makes this Python say that it is on Windows, imports every module of ours, and uses a store.

    python as_windows.py FOLDER

It prints what went wrong, one line each, nothing when all is well. What Windows lacks is taken away, and
`msvcrt` locks by means of this system. That shows that our branches for Windows hang together, and not how
Windows behaves. The libraries of others are imported before, as what they are.
"""

import importlib
import os
import pkgutil
import signal
import sys
import types
from pathlib import Path

LACKING = (
    "O_NOFOLLOW O_NONBLOCK O_DIRECTORY O_CLOEXEC uname getuid geteuid fork forkpty nice pread pwrite fchmod"
    " fchown statvfs setsid killpg mkfifo listxattr getxattr setxattr major minor WNOHANG waitid"
).split()
NO_MODULES = ["fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"]
NO_SIGNALS = ["SIGKILL", "SIGURG", "SIGHUP", "SIGSTOP", "SIGCONT", "SIGUSR1"]


def every_module() -> list[str]:
    import mcp_server

    packages = pkgutil.walk_packages(mcp_server.__path__, "mcp_server.")
    return [package.name for package in packages if not package.name.endswith("__main__")]


def no_such_key(*_: object) -> None:
    raise FileNotFoundError


def pretend() -> None:
    """Take away what Windows lacks, add what it has, and forget all modules of ours."""
    import fcntl

    def locking(handle: int, how: int, count: int) -> None:
        place = os.lseek(handle, 0, os.SEEK_CUR)
        fcntl.lockf(handle, fcntl.LOCK_UN if how == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB, count, place)

    msvcrt = types.ModuleType("msvcrt")
    vars(msvcrt).update(locking=locking, LK_UNLCK=0, LK_NBLCK=2)
    sys.modules["msvcrt"] = msvcrt
    sys.modules["winreg"] = winreg = types.ModuleType("winreg")
    vars(winreg).update(HKEY_CURRENT_USER=0, OpenKey=no_such_key)
    vars(os).update(O_BINARY=0, O_NOINHERIT=0)
    for name in LACKING:
        vars(os).pop(name, None)
    for name in NO_SIGNALS:
        vars(signal).pop(name, None)
    for name in NO_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcp_server"]:
        del sys.modules[name]
    sys.platform = "win32"


def use(folder: Path) -> None:
    """Store, revise, find, move and delete a memory, and let the worker run."""
    from mcp_server.actions.memory.forget import forget
    from mcp_server.actions.memory.remember import remember
    from mcp_server.actions.memory.revise import Revision, revise
    from mcp_server.actions.recall.recall import recall
    from mcp_server.actions.upkeep.work import work
    from mcp_server.bootstrap import Opened
    from mcp_server.core.memory import Draft
    from mcp_server.core.memory_parts import Level
    from mcp_server.core.search.query import Query

    folder.mkdir()
    settings = {
        "MEMORY_DIR": str(folder / "memory"),
        "EMBEDDING_MODEL": "none",
        "HOME": str(folder),
        "USERPROFILE": str(folder),
    }
    opened = Opened(settings, folder=folder)
    store = opened.store()
    memory_id = remember(store, Draft("A bird", "an old heron\r\nin the reeds", level=Level.USER)).memory.id
    revise(store, memory_id, Revision(text="a new heron"))
    (hit,) = recall(store, Query("new heron")).hits
    assert hit.ref.endswith(memory_id), hit
    forget(store, memory_id)
    assert not recall(store, Query("new heron")).hits
    forget(store, remember(store, Draft("A tree", "an elm", level=Level.USER)).memory.id, forever=True)
    for line in b"".join(path.read_bytes() for path in (folder / "memory" / "ledger").iterdir()).splitlines():
        assert line.startswith(b"{") and line.endswith(b"}"), line
    work(lambda place: opened.store(folder=place))


def judge(folder: Path) -> None:
    """Let a repository name a variable in other letters: on Windows that is the same one."""
    from mcp_server.environment import persons_own

    (folder / ".git").mkdir(parents=True)
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.json").write_text('{"env": {"Memory_Dir": "theirs"}}', encoding="utf-8")
    environment = {"MEMORY_DIR": "theirs", "USERPROFILE": str(folder.parent)}
    assert persons_own(environment, folder) == {"USERPROFILE": str(folder.parent)}


if __name__ == "__main__":
    modules = every_module()
    for module in modules:
        importlib.import_module(module)
    use(Path(sys.argv[1], "before"))  # now every library of others is loaded, too
    pretend()
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:
            print(f"{module}: {type(error).__name__}: {error}")
    use(Path(sys.argv[1], "after"))
    judge(Path(sys.argv[1], "repository"))
    sys.stdout.flush()
    os._exit(0)
