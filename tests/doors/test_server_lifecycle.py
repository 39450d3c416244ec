"""H7: the server ends with the one it serves, whichever way that ends, and leaves nothing behind."""

import contextlib
import fcntl
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.adapters.guarded_replace import TEMPORARY_PREFIX
from mcp_server.bootstrap import Opened
from tests.durability.served import ROOT, Served, environment, eventually
from tests.patience import PATIENCE

CYCLES = 20

# Starts a server that shares our stdin, tells its number, and waits to be killed.
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-m", "mcp_server"], stdin=0, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
child.wait()
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("shop", "temporary"):
        (tmp_path / name).mkdir()
    return tmp_path


def start(place: Path) -> Served:
    return Served(place / "memory", place / "shop", TMPDIR=str(place / "temporary"))


def nothing_is_left(place: Path) -> None:
    """No lock is held, and no folder of ours is among the temporary ones."""
    for name in (".watcher.lock", ".sync.lock", ".index.lock"):
        eventually(lambda lock=place / "memory" / name: is_free(lock), f"{name} is free")
    assert os.listdir(place / "temporary") == []


def is_free(lock: Path) -> bool:
    try:
        with open(lock, "rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except FileNotFoundError:
        pass
    return True


def close_stdin(server: Served) -> None:
    assert server.process.stdin
    server.process.stdin.close()


def by(number: int) -> Callable[[Served], None]:
    return lambda server: server.process.send_signal(number)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(close_stdin, id="end of stdin"),
        pytest.param(by(signal.SIGTERM), id="SIGTERM"),
        pytest.param(by(signal.SIGINT), id="SIGINT"),
        pytest.param(by(signal.SIGHUP), id="SIGHUP"),
    ],
)
def test_the_server_ends_when_it_is_told_to(place: Path, end: Callable[[Served], None]) -> None:
    with start(place) as server:
        answer = server.greet().call("remember", title="A bird", content="It is a heron.")
        assert "remembered" in answer
        end(server)

        server.process.wait(timeout=PATIENCE)

    nothing_is_left(place)
    assert not list(place.rglob(f"{TEMPORARY_PREFIX}*"))


def test_a_server_that_can_have_no_index_answers_from_the_files_and_leaves_nothing(place: Path) -> None:
    (place / "memory" / "memory.db").mkdir(parents=True)  # no index can be made there
    with start(place) as server:
        answer = server.greet().call("remember", title="A bird", content="It is a heron.")
        assert "remembered" in answer
        assert "cannot be opened" in answer
        assert "It is a heron." in server.call("recall", query="heron")
        assert os.listdir(place / "memory" / "memory.db") == []
        close_stdin(server)

        server.process.wait(timeout=PATIENCE)

    nothing_is_left(place)


def test_a_server_that_an_update_outlives_leaves_the_watching_to_the_newer_one_and_answers(
    place: Path,
) -> None:
    watching = place / "memory" / ".watcher.lock"
    with start(place) as server:
        server.greet().call("remember", title="A bird", content="It is a heron.")
        eventually(lambda: not is_free(watching), "the server watches")
        with contextlib.closing(sqlite3.connect(place / "memory" / "memory.db")) as newer:
            newer.execute("PRAGMA user_version = 999")
        (place / "memory" / "knowledge" / "wing.md").write_text("The heron's wing is grey.\n")

        eventually(lambda: is_free(watching), "another server may watch")
        answer = server.call("recall", query="heron")

    assert "It is a heron." in answer
    assert "made by a newer Daybook (schema 999): start this session again" in answer


def test_the_server_ends_while_it_is_at_work(place: Path) -> None:
    """A client that goes in the middle of a request is not waited for."""
    with start(place) as server:
        server.greet()
        for number in range(50):
            request = {"name": "remember", "arguments": {"title": f"t {number}", "content": "word " * 1000}}
            server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": request})
        close_stdin(server)

        server.process.wait(timeout=PATIENCE)

    nothing_is_left(place)


def test_the_server_ends_with_its_parent_although_a_third_process_holds_its_stdin_open(place: Path) -> None:
    reading, writing = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-S", "-c", PARENT],
        stdin=reading,
        stdout=subprocess.PIPE,
        env={**environment(place / "memory", place / "shop"), "PYTHONPATH": python_path()},
        cwd=place / "shop",
    )
    os.close(reading)
    assert parent.stdout
    number = int(parent.stdout.readline())
    eventually((place / "memory" / "memory.db").exists, "the server is at work")

    parent.kill()
    parent.wait()
    parent.stdout.close()

    eventually(lambda: is_gone(number), "the server is gone")
    os.close(writing)
    nothing_is_left(place)


def python_path() -> str:
    """Return where modules are found, for a Python that was started without looking."""
    return os.pathsep.join([str(ROOT), *(path for path in sys.path if "site-packages" in path)])


def is_gone(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def test_twenty_servers_killed_at_any_moment_of_their_start_leave_a_store_that_works(place: Path) -> None:
    rng = random.Random(20)
    for _ in range(CYCLES // 4):
        servers = [start(place) for _ in range(4)]
        ends = sorted(time.monotonic() + rng.uniform(0.05, 2.5) for _ in servers)
        for server, end in zip(servers, ends, strict=True):
            server.next_line(end)  # nothing is said: this waits for the moment
            server.process.send_signal(signal.SIGKILL)
        for server in servers:
            server.__exit__()
            assert server.noise == []

    nothing_is_left(place)
    with start(place) as server:
        server.greet().call("remember", title="A bird", content="It is a heron.")
        assert "It is a heron." in server.call("recall", query="bird heron")
    settings = environment(place / "memory", place / "shop")
    opened = Opened(settings, folder=place / "shop")
    assert not opened.database.set_aside_if_damaged()
    opened.database.close()
