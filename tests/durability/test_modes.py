"""Nobody but their owner reads the files, whichever door makes them and whatever the umask is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.actions.upkeep import work
from tests.durability.served import Served, environment, eventually
from tests.patience import PATIENCE

EVERY_VERB = Path(__file__).parent / "programs" / "every_verb.py"
PYTHON = (sys.executable, "-P", "-s")
CLI = (*PYTHON, "-m", "mcp_server.doors.cli")
UMASKS = (0o000, 0o022, 0o077, 0o777)


class Doors:
    """Every way into a store, each started with the same umask."""

    def __init__(self, memory_dir: Path, project: Path, umask: int) -> None:
        self.memory_dir, self.project, self.umask = memory_dir, project, umask
        self.settings = environment(memory_dir, project)

    def run(self, *command: object, stdin: str = "", fails: bool = False) -> None:
        process = subprocess.run(
            list(map(str, command)),
            input=stdin.encode(),
            env=self.settings,
            cwd=self.project,
            umask=self.umask,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert fails or process.returncode == 0, process.stderr

    def hook(self, event: str) -> None:
        event_json = json.dumps({"session_id": "s1", "source": "startup", "cwd": str(self.project)})
        self.run(*PYTHON, "-m", "mcp_server.doors.hooks", event, stdin=event_json)

    def log_of(self, name: str) -> Path:
        return self.memory_dir / "logs" / name


@pytest.fixture(params=UMASKS, ids=oct)
def doors(request: pytest.FixtureRequest, memory_dir: Path, project: Path) -> Doors:
    return Doors(memory_dir, project, request.param)


def open_to_others(folder: Path) -> dict[str, str]:
    """Return what is not as it should be below *folder*: path → mode."""
    mode_of = {True: 0o700, False: 0o600}
    return {
        str(path.relative_to(folder)): oct(path.stat().st_mode & 0o777)
        for path in (folder, *folder.rglob("*"))
        if path.stat().st_mode & 0o777 != mode_of[path.is_dir()]
    }


def test_a_hook_that_fails_first_of_all_makes_a_store_for_its_owner_alone(doors: Doors) -> None:
    doors.hook("NoSuchEvent")

    assert doors.log_of("hooks.log").read_text(encoding="utf-8").count("\n") == 1
    assert open_to_others(doors.memory_dir) == {}


def test_a_log_that_an_earlier_version_left_open_is_closed(memory_dir: Path, project: Path) -> None:
    doors = Doors(memory_dir, project, 0o022)
    doors.hook("NoSuchEvent")
    doors.log_of("hooks.log").chmod(0o644)

    doors.hook("NoSuchEvent")

    assert open_to_others(memory_dir) == {}


@pytest.mark.feature("D-27")
def test_no_door_leaves_anything_that_others_can_read(doors: Doors) -> None:
    if doors.umask != 0o777:  # this program is no door, so nothing corrects its umask
        doors.run(sys.executable, EVERY_VERB, doors.memory_dir, doors.project)
    doors.hook("SessionStart")
    doors.hook("NoSuchEvent")
    doors.run(*CLI, "setup", "--capture", "manual")
    doors.run(*CLI, "remember", "Of the terminal | is here")
    doors.run(*CLI, "maintain", "rebuild")
    _stand_in_the_way(doors)
    doors.run(*PYTHON, "-m", "mcp_server.doors.worker")
    old = os.umask(doors.umask)
    try:
        with Served(doors.memory_dir, doors.project) as server:
            server.greet().call("save_session", title="Work", context="is half done")
            eventually(doors.log_of("server.log").exists, "the server writes its log")
    finally:
        os.umask(old)

    assert {path.name for path in doors.log_of("").iterdir()} >= {"hooks.log", "server.log", "worker.log"}
    assert {"memory.db", "config.toml", "ledger"} <= {path.name for path in doors.memory_dir.iterdir()}
    assert open_to_others(doors.memory_dir) == {}


def _stand_in_the_way(doors: Doors) -> None:
    """Give the worker and the server something to complain of: folders where they keep their locks."""
    for name in (work.LOCK, ".watcher.lock"):
        (doors.memory_dir / name).unlink(missing_ok=True)
        (doors.memory_dir / name).mkdir(mode=0o700)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_drawing_that_the_person_asks_for_has_the_mode_of_their_umask(
    memory_dir: Path, project: Path, umask: int
) -> None:
    Doors(memory_dir, project, umask).run(*CLI, "graph", "--mermaid", project / "graph.mmd")

    assert (project / "graph.mmd").stat().st_mode & 0o777 == 0o666 & ~umask
    assert open_to_others(memory_dir) == {}
