"""Fixtures: a store in a scratch folder, a clock that stands still, and what everything ran on."""

import gc
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from mcp_server.adapters.ledger import Ledger
from mcp_server.bootstrap import Opened
from mcp_server.core.memory_parts import Level
from mcp_server.core.settings import TOOLSETS
from mcp_server.store import Store
from tests.memories import stored
from tests.platforms import lacking_on_windows
from tests.recorded import Recorded

if TYPE_CHECKING:
    from tests.machine import Machine

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Thousands of processes are started: without bytecode each compiles all of Daybook, half of its work.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False  # nor does each worker of pytest rewrite the asserts of all tests

# What is acknowledged is on the disk, for which tests would wait half of their time; in memory they need not.
# `on_disk` is for those that ask about a disk.
MEMORY = Path("/dev/shm")
ROOM = 4 << 30  # bytes; a run of all tests leaves less than one
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# What `nohup` starts passes on that this signal is ignored, and servers are ended by it.
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# An example may take as long as it takes: a busy machine must not make a test fail.
settings.register_profile("daybook", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("daybook")


def pytest_report_header() -> str:
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("mcp", "onnxruntime", "sqlite-utils", "watchdog")
    )
    return f"SQLite {sqlite3.sqlite_version}, {packages}"


def pytest_collection_finish() -> None:
    """Let no later collection of garbage look through all tests and modules, which stay to the end."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    if postgres := sys.modules.get("tests.postgres"):
        postgres.stop()


class NotHere(pytest.Module):
    """A file of tests that this system cannot run."""

    why = ""

    def collect(self) -> list[pytest.Item]:
        pytest.skip(f"needs {self.why}", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Skip as a whole, before it is imported, what needs more than Windows has."""
    why = lacking_on_windows(module_path.read_text(encoding="utf-8")) if sys.platform == "win32" else ""
    if not why:
        return None
    module = NotHere.from_parent(parent, path=module_path)
    module.why = why
    return module


# Folders and files that take longest: processes, kills and the real client.
LONG = ("client/", "durability/", "test_attack", "safety/", "doors/", "test_benchmarks", "test_year")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that at the end no core waits for another's last file."""
    items.sort(key=lambda item: _place(item.path.relative_to(ROOT / "tests").as_posix()))


def _place(path: str) -> int:
    return next((place for place, name in enumerate(LONG) if path.startswith(name)), len(LONG))


Open = Callable[..., Opened]
"""Opens the store from a folder, with variables of the environment."""
Run = Callable[..., dict[str, Any]]
"""Runs a program of `durability/programs` to its end, and returns the JSON that it prints."""
Wait = Callable[[Thread, str], None]
"""Returns when a thread is stuck in the function of that name."""


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        self.diary: Ledger | None = None
        self.now = datetime(2026, 11, 20, 9, 12, 3, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += timedelta(days=days)
        self.note_use()

    def note_use(self) -> None:
        """Note in the diary, if there is one, that Daybook was used today and on the two days before."""
        for back in (2, 1, 0) if self.diary else ():
            self.diary.append("session_started", self.now - timedelta(days=back))


@pytest.fixture(autouse=True)
def scratch_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a home of its own, so that nobody's real store is ever touched."""
    homes = tmp_path_factory.getbasetemp() / "homes"
    homes.mkdir(exist_ok=True)
    home = Path(tempfile.mkdtemp(dir=homes))  # `mktemp` would look through all of them each time
    for name in (
        "MEMORY_DIR",
        "EMBEDDING_MODEL",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_PLUGIN_DATA",
        "DAYBOOK_HOOKS",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    return home


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady_use(clock: Clock, memory_dir: Path) -> None:
    """Let Daybook be used whenever days pass, so that upkeep believes the clock."""
    clock.diary = Ledger(memory_dir / "ledger")
    clock.note_use()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder, in no git repository."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A folder that is on a disk, if there is one: /var/tmp outlives a restart."""
    disk = Path("/var/tmp")
    with tempfile.TemporaryDirectory(
        dir=disk if disk.exists() else None, prefix="daybook-test-", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@pytest.fixture
def memory_dir(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def open_here(memory_dir: Path, project: Path, clock: Clock) -> Iterator[Open]:
    """Open the store as a process of its own would, from a folder, with every set of tools."""
    opened: list[Opened] = []
    usual = {"EMBEDDING_MODEL": "none", "DAYBOOK_TOOLSETS": " ".join(TOOLSETS)}

    def open_(folder: Path = project, **environment: str) -> Opened:
        settings = {**os.environ, "MEMORY_DIR": str(memory_dir), **usual, **environment}
        opened.append(Opened(settings, folder=folder, clock=clock))
        return opened[-1]

    yield open_
    for opened_store in opened:
        opened_store.database.close()


@pytest.fixture
def opened(open_here: Open) -> Opened:
    """A store that searches by words only, as it is opened once."""
    return open_here()


@pytest.fixture
def store(opened: Opened) -> Store:
    return opened.store()


@pytest.fixture
def retry_rule(store: Store) -> str:
    """A memory of the person's, by its id."""
    return stored(store, "Retry rule", "Wait thirty seconds.", level=Level.USER)


@pytest.fixture
def recorded(tmp_path: Path, project: Path) -> Recorded:
    """A transcript to fill."""
    return Recorded(tmp_path / "transcripts", cwd=project)


@pytest.fixture
def elsewhere(open_here: Open, tmp_path: Path) -> Store:
    """The store as another project sees it."""
    (tmp_path / "office").mkdir()
    return open_here(tmp_path / "office").store()


@pytest.fixture
def meaning_store(open_here: Open) -> Store:
    """A store with the shipped embedding model."""
    return open_here(EMBEDDING_MODEL="minilm-l6").store()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own of 8 MB, where one may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "daybook-test", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not allowed here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator["Machine"]:
    """A machine of its own with Python, on which bin/daybook runs."""
    from tests.machine import Machine  # needs more than Windows has

    machine = Machine(tmp_path)
    yield machine
    machine.stop()


@pytest.fixture
def bare(tmp_path: Path) -> "Machine":
    """A machine without Python and uv."""
    from tests.machine import Machine

    return Machine(tmp_path, python=False)
