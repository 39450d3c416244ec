"""
bin/daybook, really run: a scratch HOME, a PATH that holds only what a test puts on it, nothing downloaded.

What runs is a copy of the launcher beside a tiny `mcp_server`, whose modules print how they were started. A
stand-in for uv makes bare environments at once; it writes down each start and can be held at a gate.
"""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[1]
PYTHON = os.path.realpath(sys.executable)
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


class Machine:
    """A person's machine: HOME, PATH and one copy of Daybook (`root`)."""

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.home = folder / "home"
        self.path = folder / "path"
        self.root = root or folder / "daybook"
        self.started: list[subprocess.Popen[str]] = []
        self.home.mkdir(parents=True)
        self.path.mkdir()
        for tool in TOOLS:
            self.put(tool, Path(str(shutil.which(tool))))
        doors = self.root / "mcp_server" / "doors"
        doors.mkdir(parents=True)
        for module in ("__main__", "doors/cli", "doors/hooks"):
            (self.root / "mcp_server" / f"{module}.py").write_text(PROBE, encoding="utf-8")
        (self.root / "bin").mkdir()
        shutil.copy(PROJECT / "bin" / "daybook", self.root / "bin")
        self.requirements = self.root / "requirements.txt"
        self.requirements.touch()
        self.venv = self.home / ".local" / "share" / "daybook" / "venv"

    def put(self, name: str, what: Path | str) -> Path:
        """Puts a program on PATH: a link to `what`, or a script when it is text."""
        program = self.path / name
        if isinstance(what, Path):
            program.symlink_to(what)
        else:
            program.write_text(what, encoding="utf-8")
            program.chmod(0o755)
        return program

    def start(self, *args: str, launcher: Path | None = None, **env: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [launcher or self.root / "bin" / "daybook", *args],
            env={"HOME": str(self.home), "PATH": str(self.path), **env},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
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

    def run(self, *args: str, launcher: Path | None = None, **env: str) -> tuple[int, str, str]:
        return finish(self.start(*args, launcher=launcher, **env))

    def probe(self, *args: str, launcher: Path | None = None, **env: str) -> dict[str, Any]:
        """Runs it and returns what our stand-in module printed."""
        code, out, err = self.run(*args, launcher=launcher, **env)
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
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Machine]:
    """A machine without Python."""
    machine = Machine(tmp_path)
    yield machine
    machine.stop()


@pytest.fixture
def machine(bare: Machine) -> Machine:
    """A machine with Python and the stand-in for uv."""
    bare.put("python3", Path(PYTHON))
    bare.put("uv", UV)
    return bare


SETTING_UP = "daybook: setting up its Python environment (once, about a minute) ...\n"


def test_without_python_it_says_so_in_one_line(bare: Machine) -> None:
    line = "daybook: Python 3.11 or newer is needed; found nothing. Install it, then run this again.\n"
    assert bare.run("recall", "anything") == (1, "", line)
    assert bare.run("serve") == (1, "", line)


def test_a_python_that_is_too_old_is_named(bare: Machine) -> None:
    bare.put("python3", "#!/bin/sh\necho 3.9.18\n")
    assert "needed; found python3, which is 3.9.18. Install" in bare.run("where")[2]


def test_a_name_that_stands_for_no_python_is_passed_over(machine: Machine) -> None:
    machine.put("python3.14", "#!/bin/sh\necho 'python3.14: command not found' >&2\nexit 127\n")
    assert machine.probe("where")["args"] == ["where"]


def test_the_first_run_sets_up_and_later_ones_start_at_once(machine: Machine) -> None:
    code, out, err = machine.run("recall", "two words", "--json")
    assert (code, err) == (0, SETTING_UP)
    answer = json.loads(out)
    assert (answer["module"], answer["args"]) == ("mcp_server.doors.cli", ["recall", "two words", "--json"])
    assert answer["prefix"] == str(machine.venv)
    assert machine.run("where")[2] == ""
    assert machine.installs() == 1


@pytest.mark.parametrize("uv", ["missing", "failing"])
def test_python_makes_the_environment_itself_when_uv_does_not(bare: Machine, uv: str) -> None:
    bare.put("python3", Path(PYTHON))
    if uv == "failing":
        bare.put("uv", "#!/bin/sh\nexit 2\n")
    assert bare.probe("where")["prefix"] == str(bare.venv)
    assert (bare.venv / "bin" / "pip").exists()


def test_a_python_that_cannot_make_environments_says_which_package_to_install(bare: Machine) -> None:
    answers = 'case "$*" in *ensurepip*) exit 1 ;; *realpath*) echo "$0" ;; *)'
    bare.put("python3", f'#!/bin/sh\n{answers} exec "{PYTHON}" "$@" ;; esac\n')
    code, out, err = bare.run("where")
    assert (code, out) == (1, "")
    assert "python3-venv" in err


def test_an_install_that_fails_shows_why_and_where_the_log_is(bare: Machine) -> None:
    bare.put("python3", Path(PYTHON))
    bare.requirements.write_text("nowhere @ file:///nowhere/nowhere-1.0.tar.gz\n", encoding="utf-8")
    for verb in ("where", "serve"):
        code, out, err = bare.run(verb)
        assert (code, out) == (1, "")
        assert "No such file or directory" in err
        assert err.endswith(f"the whole log is {bare.venv}/setup.log\n")


@pytest.mark.parametrize("name", ["with spaces and 'quotes\" $HOME", "Übung-日記"])
def test_it_works_in_a_folder_of_any_name_and_through_links(tmp_path: Path, name: str) -> None:
    machine = Machine(tmp_path / name)
    machine.put("python3", Path(PYTHON))
    machine.put("uv", UV)
    relative = machine.home / "relative"
    relative.symlink_to("../daybook/bin/daybook")
    link = machine.put("daybook", relative)
    answer = machine.probe("where", launcher=link)
    assert answer["prefix"] == str(machine.venv)
    assert answer["env"]["PYTHONPATH"] == str(machine.root)


def test_neither_the_working_folder_nor_the_persons_settings_choose_the_code(machine: Machine) -> None:
    other = machine.home / "mcp_server" / "doors"
    other.mkdir(parents=True)
    (other / "cli.py").write_text("print('not ours')", encoding="utf-8")
    wrong = {"PYTHONPATH": str(machine.home), "PYTHONHOME": "/nowhere"}
    assert machine.probe("where", **wrong)["module"] == "mcp_server.doors.cli"


def test_changed_requirements_make_the_environment_anew(machine: Machine) -> None:
    machine.run("where")
    (machine.venv / "lib" / "left-over").touch()
    machine.requirements.write_text("# another\n", encoding="utf-8")
    assert machine.run("where")[2] == SETTING_UP
    assert machine.installs() == 2
    assert not (machine.venv / "lib" / "left-over").exists()


def test_an_environment_whose_python_is_gone_is_made_anew(machine: Machine) -> None:
    machine.run("where")
    (machine.venv / "bin" / "python").unlink()
    (machine.venv / "bin" / "python").symlink_to("/nowhere/python3")
    assert machine.probe("where")["prefix"] == str(machine.venv)


def test_two_at_once_make_one_environment(machine: Machine) -> None:
    machine.close_gate()
    first, second = machine.start("where"), machine.start("where")
    machine.wait_for_arrival()
    assert first.stderr and second.stderr
    assert first.stderr.readline() == second.stderr.readline() == SETTING_UP
    assert not machine.somebody_arrives(seconds=0.5)
    machine.open_gate()
    assert [finish(first)[0], finish(second)[0]] == [0, 0]
    assert machine.installs() == 1


def test_a_set_up_killed_half_way_leaves_nothing_in_the_way(machine: Machine) -> None:
    machine.close_gate()
    killed = machine.start("where")
    machine.wait_for_arrival()
    os.killpg(killed.pid, signal.SIGKILL)
    finish(killed)
    assert (machine.venv / "half-made").exists()
    (machine.home / "gate").unlink()
    assert machine.probe("where")["prefix"] == str(machine.venv)
    assert not (machine.venv / "half-made").exists()


def test_an_installer_that_outlives_the_killed_set_up_is_waited_for(machine: Machine) -> None:
    machine.close_gate()
    (machine.home / "orphan").touch()
    killed = machine.start("where")
    machine.wait_for_arrival()
    assert finish(killed)[0] == 1
    after = machine.start("where")
    assert after.stderr and after.stderr.readline() == SETTING_UP
    assert not machine.somebody_arrives(seconds=0.5)
    machine.open_gate()
    assert finish(after)[0] == 0
    assert machine.installs() == 2


def test_a_folder_that_is_not_ours_is_left_alone(machine: Machine) -> None:
    theirs = machine.home / "thesis"
    theirs.mkdir()
    (theirs / "chapter-1").touch()
    code, _, err = machine.run("where", DAYBOOK_VENV=str(theirs))
    assert (code, [path.name for path in theirs.iterdir()]) == (1, ["chapter-1"])
    assert err.startswith(f"daybook: {theirs} was not made by Daybook.")


def test_a_checkout_keeps_its_environment_in_itself(machine: Machine) -> None:
    (machine.root / ".git").mkdir()
    assert machine.probe("where")["prefix"] == str(machine.root / ".venv")


def test_an_installed_plugin_finds_one_environment_however_it_is_called(tmp_path: Path) -> None:
    plugins = tmp_path / "home" / ".claude" / "plugins"
    machine = Machine(tmp_path, root=plugins / "cache" / "the-market" / "daybook" / "0.1.0")
    machine.put("python3", Path(PYTHON))
    machine.put("uv", UV)
    (machine.root / ".git").mkdir()  # an installed copy may carry its history; still nothing is put into it
    data = plugins / "data" / "daybook-the-market"
    by_claude = machine.probe("serve", CLAUDE_PLUGIN_ROOT=str(machine.root), CLAUDE_PLUGIN_DATA=str(data))
    assert by_claude["prefix"] == str(data / "venv")
    assert machine.probe("where")["prefix"] == str(data / "venv")
    other = {"CLAUDE_PLUGIN_ROOT": str(machine.home), "CLAUDE_PLUGIN_DATA": str(machine.home / "other")}
    assert machine.probe("where", **other)["prefix"] == str(data / "venv")
    assert machine.installs() == 1
    assert not list(machine.root.rglob("__pycache__"))


def test_serve_becomes_the_server_when_the_set_up_is_quick(machine: Machine) -> None:
    code, out, err = machine.run("serve")
    assert (code, err) == (0, "")
    assert json.loads(out)["module"] == "mcp_server.__main__"


def test_serve_is_replaced_by_the_server(machine: Machine) -> None:
    machine.run("setup-environment")
    process = machine.start("serve")
    assert json.loads(finish(process)[1])["pid"] == process.pid


def test_serve_gives_up_on_a_slow_set_up_which_goes_on_without_it(machine: Machine) -> None:
    (machine.path / "sleep").unlink()
    machine.put("sleep", "#!/bin/sh\n")  # its seconds pass at once
    machine.close_gate()
    line = "daybook: still setting up; memory is there from the next session on (or /mcp → reconnect).\n"
    process = machine.start("serve")
    machine.wait_for_arrival()
    assert finish(process) == (1, "", line)
    machine.open_gate()
    assert machine.run("setup-environment")[0] == 0  # waits for it
    assert machine.installs() == 1
    assert machine.run("serve")[0] == 0


def test_a_hook_without_any_python_is_silent_and_succeeds(bare: Machine) -> None:
    assert bare.run("hook", "session-start") == (0, "", "")
    assert list(bare.home.iterdir()) == []


def test_a_hook_runs_before_the_environment_is_there_and_starts_its_making(machine: Machine) -> None:
    assert machine.probe("hook", "session-end")["env"]["DAYBOOK_SETUP"] == "missing"
    assert list(machine.home.iterdir()) == []
    machine.close_gate()
    answer = machine.probe("hook", "session-start")  # returns though the set-up stands at the gate
    assert (answer["module"], answer["args"]) == ("mcp_server.doors.hooks", ["session-start"])
    machine.wait_for_arrival()
    machine.open_gate()
    machine.run("setup-environment")
    assert machine.installs() == 1
    answer = machine.probe("hook", "session-start")
    assert "DAYBOOK_SETUP" not in answer["env"]
    assert not answer["site"]


@pytest.mark.parametrize(
    "how", ["raise SystemExit(2)", "this is no Python", "import os; os.kill(os.getpid(), 9)"]
)
def test_a_hook_succeeds_whatever_becomes_of_python(machine: Machine, how: str) -> None:
    machine.run("setup-environment")
    (machine.root / "mcp_server" / "doors" / "hooks.py").write_text(how, encoding="utf-8")
    assert machine.run("hook", "session-start")[:2] == (0, "")


def test_a_hook_succeeds_without_home(machine: Machine) -> None:
    assert machine.run("hook", "session-end", HOME="")[0] == 0


def pins(name: str) -> dict[str, str]:
    """Package → version of a requirements file; every line must be an exact pin."""
    lines = (PROJECT / name).read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line and not line.startswith(("#", "-r "))]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line) for line in found)
    return dict(line.split("==") for line in found)


def test_every_dependency_is_pinned_within_its_range() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime, dev = pins("requirements.txt"), pins("requirements-dev.txt")
    for wanted in map(Requirement, project["project"]["dependencies"]):
        assert runtime[wanted.name] in wanted.specifier
    for wanted in map(Requirement, project["dependency-groups"]["dev"]):
        assert dev[wanted.name] in wanted.specifier
    assert not runtime.keys() & dev.keys()


def test_the_manifest_says_the_same_everywhere() -> None:
    from mcp_server import __version__

    manifest = (PROJECT / ".claude-plugin" / "plugin.json").read_bytes()
    assert (PROJECT / "plugin.json").read_bytes() == manifest
    assert json.loads(manifest)["version"] == __version__
