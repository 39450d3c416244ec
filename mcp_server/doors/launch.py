"""
The launcher on Windows: finds or makes Daybook's Python environment, then starts the requested program.

`bin/daybook`, a shell script, does the same on Linux and macOS and gives the reason for each step. This one
is started by `bin/daybook.py` with any Python from 3.11 on, needs only the standard library, and runs on
every system, so that it can be tested on each.
"""

import contextlib
import importlib
import json
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from mcp_server.adapters import files
from mcp_server.adapters.detached import outliving, windowless
from mcp_server.environment import person_home, persons_own

ROOT = Path(__file__).resolve().parents[2]
STARTER = ROOT / "bin" / "daybook.py"
SETTING_UP = "daybook: setting up its Python environment (once, about a minute) ..."
# No module in the current folder or the person's own packages can replace ours.
_OURS = ("-P", "-s", "-m")
_NOT_PASSED_ON = frozenset(
    {"PYTHONHOME", "PYTHONPATH", "DAYBOOK_SETUP", "DAYBOOK_SETUP_FAILED"}  # only we set the last two
)
UPDATED = "it was updated while this session ran. Type /reload-plugins, or start a new session."
_THE_MODULES = ("UserPromptSubmit", "Stop")
_NOT_WAITED_FOR = ("Stop", "SessionEnd")  # Claude Code kills them a second after a session's end
_EXE = """# -*- coding: utf-8 -*-
import runpy, sys
sys.argv[0] = {starter!r}
runpy.run_path({starter!r}, run_name="__main__")
"""


class Environment:
    """The folder with Daybook's Python, which may not exist yet, and the variables for its programs."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.folder = environment_folder(environ)
        scripts = sysconfig.get_path("scripts", "venv", vars={"base": str(self.folder)})
        self.python = Path(scripts, "python.exe" if sys.platform == "win32" else "python")
        self.mark = self.folder / ".daybook-ready"  # the requirements it was made from, written last
        self.root = self.folder / ".daybook-root"  # the copy of Daybook that made it

    def is_ready(self) -> bool:
        """Tell whether it exists, is complete, and was made from the present requirements."""
        with contextlib.suppress(OSError):
            return self.python.exists() and self.mark.read_bytes() == _requirements().read_bytes()
        return False

    def maker(self) -> Path | None:
        """Return the other copy of Daybook that made it and is still there, None when there is none."""
        with contextlib.suppress(OSError, ValueError):
            maker = Path(self.root.read_text(encoding="utf-8").strip())
            if (maker / "bin" / STARTER.name).is_file() and not maker.samefile(ROOT):
                return maker
        return None

    def is_replaced(self) -> bool:
        """Tell whether this is the copy from before an update, in a session that goes on: see `set_up.sh`."""
        if ROOT.parts[-5:-3] != ("plugins", "cache") or not (maker := self.maker()):
            return False
        with contextlib.suppress(OSError, ValueError):
            installed = (ROOT.parents[3] / "installed_plugins.json").read_text(encoding="utf-8")
            return json.dumps(str(ROOT)) not in installed and json.dumps(str(maker)) in installed
        return False

    def variables(self, **more: str) -> dict[str, str]:
        """Return the environment variables for a program of ours."""
        inherited = {name: value for name, value in self.environ.items() if name not in _NOT_PASSED_ON}
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # more make short searches slower
        if self.folder != ROOT / ".venv":
            more["PYTHONPYCACHEPREFIX"] = str(self.folder / "pycache")
        return {**threads, **inherited, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **more}

    def make(self, *besides: str) -> None:
        """
        Make it unless it is ready, one process at a time; *besides* are further arguments for the installer.

        Raises OSError, subprocess.CalledProcessError; the installer's output is in `setup.log`.
        """
        if self.is_replaced():
            raise OSError(UPDATED)
        ours = self.folder / ".daybook-lock"
        if self.folder.is_dir() and any(self.folder.iterdir()) and not ours.exists():
            raise OSError(f"{self.folder} was not made by Daybook. Remove it, or let DAYBOOK_VENV differ.")
        files.make_folder(self.folder)
        with files.lock(ours, patience=math.inf):
            if not self.is_ready():
                self._clear()
                venv.create(self.folder, with_pip=True)
            elif not besides:
                return  # another process made it while we waited
            requirements = _requirements().read_bytes()
            self.root.write_text(f"{ROOT}\n", encoding="utf-8")
            install = [str(self.python), "-m", "pip", "install", "-q", "--no-user"]
            with open(self.folder / "setup.log", "wb") as log:
                subprocess.run(
                    [*install, "-r", str(_requirements()), *besides],
                    check=True,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    env=self.variables(),
                    **windowless(),
                )
            self.mark.write_bytes(requirements)

    def _clear(self) -> None:
        """Delete an unfinished or outdated environment; our own files stay, one of them is the lock."""
        self.mark.unlink(missing_ok=True)
        for place in self.folder.iterdir():
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            elif not place.name.startswith(".daybook-"):
                place.unlink()


def main() -> NoReturn:
    """Do what the command line asks; the exit code is that of the program that was started."""
    verb, arguments = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    environment = Environment(persons_own(os.environ, Path.cwd()))
    if verb == "hook":
        _hook(environment, arguments)
        sys.exit(0)  # whatever happens, a hook exits with success
    if verb == "serve":
        make_executable(environment.environ)
        if not environment.is_ready():
            variables = environment.variables(DAYBOOK_VENV=str(environment.folder))
            room = [sys.executable, "-B", *_OURS, "mcp_server.doors.waiting_room", *_starter()]
            sys.exit(subprocess.call(room, env=variables))
    elif verb == "setup-environment" or not environment.is_ready():
        if verb != "setup-environment" and (maker := environment.maker()):
            sys.exit(
                f"daybook: the environment in {environment.folder} is that of {maker}: use its"
                f" {Path('bin', 'daybook')}, or run '{ROOT / 'bin' / 'daybook'} setup-environment' to make it"
                " anew for this copy."
            )
        _set_up(environment, *(arguments if verb == "setup-environment" else ()))
    if verb != "setup-environment":
        module = ["mcp_server"] if verb == "serve" else ["mcp_server.doors.cli", *sys.argv[1:]]
        sys.exit(subprocess.call([environment.python, *_OURS, *module], env=environment.variables()))
    sys.exit(0)


def environment_folder(environ: Mapping[str, str]) -> Path:
    """
    Return the folder of the environment: never in the folder of an installed plugin, which updates replace.

    Claude Code gives hooks and servers the plugin's data folder; elsewhere the same folder is derived from
    the place of the installed copy.
    """
    named, data = environ.get("DAYBOOK_VENV"), environ.get("CLAUDE_PLUGIN_DATA")
    if named and (Path(named).is_absolute() or Path.cwd() == ROOT):
        return ROOT / named
    plugin = environ.get("CLAUDE_PLUGIN_ROOT")  # another plugin may have left both variables
    if data and plugin and Path(plugin).resolve() == ROOT:
        return Path(data, "venv")
    if ROOT.parts[-5:-3] == ("plugins", "cache"):  # …/plugins/cache/MARKET/PLUGIN/VERSION
        return ROOT.parents[3] / "data" / f"{ROOT.parts[-2]}-{ROOT.parts[-3]}" / "venv"
    if (ROOT / ".git").exists() and os.access(ROOT, os.W_OK):
        return ROOT / ".venv"
    share = environ.get("LOCALAPPDATA") if sys.platform == "win32" else environ.get("XDG_DATA_HOME")
    return Path(share or Path(person_home(environ), ".local", "share"), "daybook", "venv")


def make_executable(environ: Mapping[str, str]) -> None:
    """
    Make `bin/daybook.exe` where it is missing: hooks name `bin/daybook`, and start only an .exe.

    Hooks are started without a shell on every system, because a repository may name the shell's program in
    CLAUDE_CODE_SHELL_PREFIX.
    It is the small program that pip makes for each command of a package. It asks `py.exe` for a Python where
    there is one, which still works when today's Python is removed.
    """
    launchers = [Path(environ.get("SYSTEMROOT", ""), "py.exe")]
    launchers.append(Path(environ.get("LOCALAPPDATA", ""), "Programs", "Python", "Launcher", "py.exe"))
    if sys.platform == "win32" and not STARTER.with_suffix(".exe").exists():
        with contextlib.suppress(Exception):  # without pip, or in a read-only folder, there are no hooks
            scripts: Any = importlib.import_module("pip._vendor.distlib.scripts")  # what pip uses
            maker = scripts.ScriptMaker(None, str(STARTER.parent))
            maker.variants = {""}
            maker.executable = str(next(filter(Path.is_file, launchers), sys.executable))
            maker.script_template = _EXE.format(starter=str(STARTER)).replace("%", "%%")
            maker.make("daybook = daybook:main", {"interpreter_args": ["-I"]})


def _hook(environment: Environment, arguments: list[str]) -> None:
    """Run a hook with our Python or, while there is none, with the Python of this process."""
    event = arguments[0] if arguments else ""
    module = environment.environ.get("DAYBOOK_MODULE")  # Daybook's, in the client: it does what these two do
    if module and module == environment.environ.get("CLAUDE_CODE_SESSION_ID") and event in _THE_MODULES:
        return
    ready = environment.is_ready()
    if ready and module == "away" and event in _THE_MODULES:
        return
    variables = {} if ready else {"DAYBOOK_SETUP": "missing", "PYTHONDONTWRITEBYTECODE": "1"}
    if not ready and event == "SessionStart" and environment.is_replaced():
        variables["DAYBOOK_SETUP_FAILED"] = UPDATED
    elif not ready and event == "SessionStart":
        _start(environment, [sys.executable, "-I", *_starter()[1:], "setup-environment"], b"")
    elif not ready and event == "Stop":
        return  # this hook writes, which needs our environment
    python = environment.python if ready else sys.executable
    command = [str(python), "-S", *_OURS, "mcp_server.doors.hooks", *arguments]
    if event in _NOT_WAITED_FOR:
        _start(environment, command, sys.stdin.buffer.read(), **variables)
    else:
        subprocess.call(command, env=environment.variables(**variables))


def _start(environment: Environment, command: list[str], input_bytes: bytes, **variables: str) -> None:
    """Start a program that outlives us, and give it its input and variables."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment.variables(DAYBOOK_VENV=str(environment.folder), **variables),
        **outliving(),
    )
    assert process.stdin
    process.stdin.write(input_bytes)
    process.stdin.close()


def _set_up(environment: Environment, *besides: str) -> None:
    if environment.is_ready() and not besides:
        return
    print(SETTING_UP, file=sys.stderr)
    try:
        environment.make(*besides)
    except subprocess.CalledProcessError:
        log = environment.folder / "setup.log"
        sys.exit(f"daybook: its Python environment could not be made; the whole log is {log}")
    except OSError as error:
        sys.exit(f"daybook: {error}")


def _starter() -> list[str]:
    return [sys.executable, str(STARTER)]


def _requirements() -> Path:
    return ROOT / "requirements.txt"
