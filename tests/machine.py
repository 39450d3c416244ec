"""
A person's machine to run bin/daybook on: a scratch HOME, a PATH that holds only what a test puts on it.

What runs is a copy of the launcher beside a tiny `mcp_server`, whose modules print how they were started. A
stand-in for uv makes bare environments at once; it writes down each start and can be held at a gate.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE

PROJECT = Path(__file__).resolve().parents[1]
PYTHON = os.path.realpath(sys.executable)
LOOK = 0.1  # seconds between two looks at something that can only be looked at
TOOLS = ["cat", "cp", "ls", "mkdir", "mv", "readlink", "rm", "sleep", "tail"]

PROBE = """
import json, os, sys
print(json.dumps({"module": __spec__.name, "args": sys.argv[1:], "prefix": sys.prefix, "pid": os.getpid(),
                  "site": "site" in sys.modules, "env": dict(os.environ)}))
"""

UV = """#!/bin/sh
echo "$1" >>"$HOME/uv.calls"
[ "$1" = venv ] || exit 0
if [ -e "$HOME/gate" ]; then
    echo half >"$5/half-made"
    [ ! -e "$HOME/orphan" ] || kill -9 $PPID
    echo arrived >"$HOME/arrivals"
    read -r _ <"$HOME/gate"
fi
exec "$4" -m venv --without-pip "$5"
"""

# Answers whatever it is asked as a Python of that version does: the same code runs, with the version changed.
POSES = """#!/bin/sh
while [ $# -gt 0 ] && [ "$1" != -c ]; do shift; done
exec "{python}" -E -S -c 'import sys
sys.version_info, sys.version = {version}, "{text} (main, Jan 1 2024)"
exec(sys.argv[1])' "$2"
"""


def as_nobody_special() -> None:
    """Let modes of files count for root too, in the process that is about to be started."""
    if sys.platform == "linux" and os.geteuid() == 0:
        for capability in (1, 2):  # to write, and to read and search, whatever the mode: capabilities(7)
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP of prctl(2)


class Machine:
    """A person's machine: HOME, PATH (with Python and uv or neither) and one copy of Daybook (`root`)."""

    def __init__(self, folder: Path, root: Path | None = None, python: bool = True) -> None:
        self.home = folder / "home"
        self.path = folder / "path"
        self.root = root or folder / "daybook"
        self.started: list[subprocess.Popen[str]] = []
        self.home.mkdir(parents=True)
        self.path.mkdir()
        for tool in TOOLS:
            self.put(tool, Path(str(shutil.which(tool))))
        if python:
            self.put("python3", Path(PYTHON))
            self.put("uv", UV)
        (self.root / "bin").mkdir(parents=True)
        (self.root / "mcp_server" / "doors").mkdir(parents=True)
        for module in ("__init__", "doors/__init__"):
            (self.root / "mcp_server" / f"{module}.py").touch()
        for module in ("__main__", "doors/cli", "doors/hooks", "doors/waiting_room"):
            (self.root / "mcp_server" / f"{module}.py").write_text(PROBE, encoding="utf-8")
        for name in ("bin/daybook", "bin/set_up.sh", "mcp_server/doors/set_up_problem.py"):
            shutil.copy(PROJECT / name, self.root / name)
        self.requirements = self.root / "requirements.txt"
        self.requirements.touch()
        self.venv = self.home / ".local" / "share" / "daybook" / "venv"

    def put(self, name: str, source: Path | str) -> Path:
        """Puts a program on PATH: a link to `what`, or a script when it is text."""
        program = self.path / name
        if isinstance(source, Path):
            program.symlink_to(source)
        else:
            program.write_text(source, encoding="utf-8")
            program.chmod(0o755)
        return program

    def start(
        self,
        *args: str,
        launcher: Path | None = None,
        cwd: Path | None = None,
        stdin: int = subprocess.DEVNULL,
        **env: str,
    ) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [launcher or self.root / "bin" / "daybook", *args],
            env={"HOME": str(self.home), "PATH": str(self.path), **env},
            cwd=cwd or self.home,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def stop(self) -> None:
        """Ends all that still runs, so that a failing test leaves nobody behind."""
        for process in self.started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        if (self.home / "gate").exists():
            self.open_gate(os.O_RDWR)

    def run(
        self, *args: str, launcher: Path | None = None, cwd: Path | None = None, **env: str
    ) -> tuple[int, str, str]:
        return finish(self.start(*args, launcher=launcher, cwd=cwd, **env))

    def probe(
        self, *args: str, launcher: Path | None = None, cwd: Path | None = None, **env: str
    ) -> dict[str, Any]:
        """Runs it and returns what our stand-in module printed."""
        code, out, err = self.run(*args, launcher=launcher, cwd=cwd, **env)
        assert code == 0, err
        answer: dict[str, Any] = json.loads(out)
        return answer

    def installs(self) -> int:
        """How many environments the stand-in for uv was asked to make."""
        calls = self.home / "uv.calls"
        return calls.read_text(encoding="utf-8").split().count("venv") if calls.exists() else 0

    def close_gate(self) -> None:
        os.mkfifo(self.home / "gate")
        os.mkfifo(self.home / "arrivals")

    def wait_for_arrival(self) -> None:
        assert (self.home / "arrivals").read_text(encoding="utf-8") == "arrived\n"

    def somebody_arrives(self, seconds: float) -> bool:
        arrivals = os.open(self.home / "arrivals", os.O_RDONLY | os.O_NONBLOCK)
        try:
            return bool(select.select([arrivals], [], [], seconds)[0] and os.read(arrivals, 1))
        finally:
            os.close(arrivals)

    def open_gate(self, mode: int = os.O_WRONLY) -> None:
        """Lets the one who is held there go on, and every later one pass."""
        gate = os.open(self.home / "gate", mode)  # write-only waits for a reader
        (self.home / "gate").unlink()
        os.write(gate, b"go\n")
        os.close(gate)


def finish(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def told_at_start(machine: Machine, **env: str) -> str:
    """Return why a session that starts says that there is no environment, '' for nothing."""
    code, out, err = machine.run("hook", "SessionStart", **env)
    assert (code, err) == (0, "")
    answer = json.loads(out)
    return str(
        answer["systemMessage"] if "systemMessage" in answer else answer["env"]["DAYBOOK_SETUP_FAILED"]
    )


def told_with_prompt(machine: Machine) -> str:
    answer = machine.probe("hook", "UserPromptSubmit")
    return str(answer["env"]["DAYBOOK_SETUP_FAILED"])


def wait_until(happened: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(LOOK)


def start_until_ready(machine: Machine, **env: str) -> None:
    """Start a session whose set-up succeeds, and wait for its end."""
    machine.run("hook", "SessionStart", **env)
    wait_until((machine.venv / ".daybook-ready").exists)
    assert machine.probe("hook", "UserPromptSubmit")["env"].get("DAYBOOK_SETUP") is None
    assert not (machine.venv / ".daybook-failed").exists()


def wheel(folder: Path, *, size: int = 0) -> Path:
    """Make a wheel of the package `thing` with *size* bytes of data, and return the folder it lies in."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / "thing-1.0-py3-none-any.whl", "w") as packed:
        packed.writestr("thing/__init__.py", "")
        packed.writestr("thing/data", os.urandom(size))
        packed.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        packed.writestr(
            "thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        packed.writestr("thing-1.0.dist-info/RECORD", "")
    return folder


def own_index(folder: Path) -> dict[str, str]:
    """Return the settings by which pip takes packages from *folder* alone."""
    return {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}


def half_made(venv: Path) -> list[str]:
    """Return what a set-up that failed left in *venv*, beside its log and what is Daybook's own."""
    return [path.name for path in venv.iterdir() if path.name[0] != "." and path.name != "setup.log"]
