"""
`daybook` in forks of this warmed process, so that its start does not hide when it is killed.

The forks run the product's own command line, and take a person to have typed it: a terminal for each would
hide when it is killed. This process holds no index open and has no thread.
"""

import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import mcp_server
from mcp_server.doors import cli, hooks
from mcp_server.doors.cli import person

SLOW = ("onnx_embedder", "claude_model", "doors.server", "waiting_room", "__main__", "model_hub")
TRACEBACK = 70  # exit code of a fork whose command raised what nobody caught
LIMIT = 20.0  # seconds after which a command hangs
LOOK = 0.002  # seconds between two looks whether a fork has ended


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code, None when it was killed or hung, what it printed, its seconds."""

    code: int | None
    out: str
    error: str
    seconds: float


@dataclass(slots=True)
class Started:
    """A command that runs; `out` and `error` are the files that it prints to."""

    pid: int
    out: Path
    error: Path
    began: float

    def end(self, *, within: float = LIMIT) -> Ended:
        """Wait for its end, and kill it when that does not come in time."""
        until = self.began + within
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return self._ended(status)
            time.sleep(LOOK)  # `waitpid` has no time limit of its own
        return self.kill()

    def kill_after(self, seconds: float) -> Ended:
        """Kill it *seconds* after its start, wherever it is then."""
        time.sleep(max(0.0, self.began + seconds - time.monotonic()))  # the instant is what is drawn
        return self.kill()

    def kill(self) -> Ended:
        os.kill(self.pid, signal.SIGKILL)
        return self._ended(os.waitpid(self.pid, 0)[1])

    def _ended(self, status: int) -> Ended:
        seconds = time.monotonic() - self.began
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        outputs = [path.read_text(encoding="utf-8", errors="replace") for path in (self.out, self.error)]
        self.out.unlink()
        self.error.unlink()
        return Ended(code, *outputs, seconds)


def warm_up() -> None:
    """Load what the commands load, so that their forks need not; let the forks be asked by a person."""
    for module in pkgutil.walk_packages(mcp_server.__path__, "mcp_server."):
        if not any(name in module.name for name in SLOW):
            importlib.import_module(module.name)
    for module_name in ("frontmatter", "sqlite_utils", "tabulate", "uuid", "concurrent.futures.thread"):
        importlib.import_module(module_name)
    person.require = _is_asked
    gc.freeze()


def _is_asked(_: str) -> None:
    """Let everything be done, as in a person's own terminal."""


def start(
    words: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    stdin: bytes = b"",
    before: Callable[[], None] | None = None,
    main: Callable[[], None] = cli.main,
) -> Started:
    """Start `daybook` with *words* in *folder*; *before* is called in the fork first."""
    scratch = Path(os.environ["TMPDIR"])
    began, name = time.monotonic(), os.urandom(8).hex()
    out, error = scratch / f"{name}.out", scratch / f"{name}.err"
    out.touch()
    error.touch()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _become(words, folder, environment, stdin, before, main, out, error)
    return Started(pid, out, error, began)


def run(
    words: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    stdin: bytes = b"",
    within: float = LIMIT,
    before: Callable[[], None] | None = None,
) -> Ended:
    """Run `daybook` with *words* to its end."""
    started = start(words, folder=folder, environment=environment, stdin=stdin, before=before)
    return started.end(within=within)


def program(
    main: Callable[[], None],
    *words: str,
    folder: Path,
    within: float,
    before: Callable[[], None] | None = None,
) -> Any:
    """
    Run a program of the tests in a fork, with *words* as its arguments, and return the JSON that it prints.

    Raises RuntimeError when it ends otherwise than with 0, or not *within* so many seconds.
    """
    started = start(words, folder=folder, environment=os.environ, main=main, before=before)
    ended = started.end(within=within)
    if ended.code != 0:
        raise RuntimeError(f"{main.__module__} ended with {ended.code}: {ended.error.strip()[-400:]}")
    return json.loads(ended.out)


def hook(event: str, event_json: bytes, *, folder: Path, environment: Mapping[str, str]) -> Ended:
    """Run the hook *event* in a fork, with *said* on its standard input."""
    return start([event], folder=folder, environment=environment, stdin=event_json, main=hooks.main).end()


def _become(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    stdin: bytes,
    before: Callable[[], None] | None,
    main: Callable[[], None],
    out: Path,
    error: Path,
) -> NoReturn:
    code = TRACEBACK
    try:
        stdin_path = out.with_suffix(".in")
        stdin_path.write_bytes(stdin)
        os.dup2(os.open(stdin_path, os.O_RDONLY), 0)
        stdin_path.unlink()
        os.dup2(os.open(out, os.O_WRONLY | os.O_APPEND), 1)
        os.dup2(os.open(error, os.O_WRONLY | os.O_APPEND), 2)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
        given_environment = dict(environment)  # it may be os.environ itself
        os.environ.clear()
        os.environ.update(given_environment)
        os.chdir(folder)
        sys.argv = ["daybook", *words]
        if before:
            before()
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
