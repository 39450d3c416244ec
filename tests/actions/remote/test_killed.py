"""A machine that is killed while it exchanges loses nothing that was acknowledged, and goes on."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.rewrite import rewrite_history
from mcp_server.actions.remote.set_up import add, look_ahead, state_of
from mcp_server.adapters.remote import notes
from mcp_server.adapters.remote.repository import DISK, HEAD, STALE
from mcp_server.core.errors import Held, RemoteUnavailable
from mcp_server.core.search.query import Query
from tests.actions.remote.conftest import Machines
from tests.actions.remote.histories import says
from tests.memories import stored
from tests.opened import opened_at
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
KILLS = 12
MANY = 700  # memories: several batches


def machine(home: Path, *start: int) -> subprocess.Popen[str]:
    """Start the machine with the store *home*."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.actions.remote.killed", str(home), *map(str, start)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def killed_after(home: Path, start: int, lines: int, share: float) -> list[str]:
    """Let a machine run, kill it some time after its line *lines*; return the ids that were acknowledged."""
    process = machine(home, start)
    assert process.stdout
    lines_read = [process.stdout.readline().strip() for _ in range(lines)]
    # How far an exchange comes is told by what it has written: wait until some of that is there.
    until = sum(1 for _ in (home / "remote").rglob("*")) + int(share * 12)
    while process.poll() is None and sum(1 for _ in (home / "remote").rglob("*")) < until:
        pass
    os.killpg(process.pid, signal.SIGKILL)
    lines_read += [line.strip() for line in process.stdout.read().splitlines() if line.strip()]
    process.wait()
    process.stdout.close()
    return lines_read


def test_nothing_that_was_acknowledged_is_lost(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    chance = random.Random(7)
    acknowledged: set[str] = set()
    for number in range(KILLS):
        home = (desk, laptop)[number % 2].home
        acknowledged.update(killed_after(home, number * 1000, 1 + number % 2, chance.random()))

    reports = [*machines.meet(desk, laptop), exchange(desk)]

    assert not any(report.trouble or report.left for report in reports)
    assert says(desk) == says(laptop)
    assert {Path(path).stem for path in says(desk)} == acknowledged
    assert len(acknowledged) >= KILLS


def killed_at(home: Path, number: int) -> int:
    """Let a machine take, kill it when *number* memories are there; return how many there are then."""
    process = machine(home)
    assert process.stdout
    while process.poll() is None and arrived(home) < number:
        pass
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return arrived(home)


def arrived(home: Path) -> int:
    """Return how many memories a machine has; one that has no name yet does not count."""
    return sum(name.endswith(".md") for name in os.listdir(home / "knowledge"))


def test_of_many_that_come_at_once_a_kill_loses_none_and_the_next_exchange_takes_the_others(
    machines: Machines,
) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    own = stored(laptop, "The laptop knows this.")
    other = stored(desk, "The desk knows this.")
    for number in range(MANY):
        head = f"id: fact-{number}\ntitle: Fact {number}"
        path = desk.home / "knowledge" / f"fact-{number}.md"
        path.write_text(f"---\n{head}\n---\nFact {number} holds.\n", encoding="utf-8")
    exchange(desk)
    chance = random.Random(7)

    counts = [killed_at(laptop.home, chance.randint(1, MANY)) for _ in range(4)]

    assert any(1 < number <= MANY for number in counts), counts  # between the first one and the last
    report = exchange(laptop)
    assert not report.trouble and not report.left
    exchange(desk)
    assert says(desk) == says(laptop)
    facts = {f"fact-{number}" for number in range(MANY)}
    assert {Path(path).stem for path in says(desk)} == {own, other, *facts}
    assert read(laptop, f"fact-{MANY - 1}").memory.text == f"Fact {MANY - 1} holds."
    sync(laptop)
    assert recall(laptop, Query(f"fact {MANY - 1}", limit=1)).hits


HALF_MADE = """#!/bin/sh
# As git leaves a repository that it was killed in while it made it.
case "$*" in *--git-dir={repository}*" init "*)
    mkdir -p {repository}/refs/heads
    echo "ref: refs/heads/daybook" > {repository}/HEAD
    : > {repository}/config.lock
    kill -9 $PPID
    exit 1
esac
exec {git} "$@"
"""

UNWRITTEN = """#!/bin/sh
# A git that writes everything but one ref, as one that is killed before it comes to that.
case "$*" in *store.git*fast-import*) : > {lock} ;; esac
exec {git} "$@"
"""


def path_with_git(folder: Path, script: str, **more: Path) -> str:
    """Return a PATH whose git is *script*, which may run the real one."""
    program = folder / "bin" / "git"
    program.parent.mkdir()
    program.write_text(script.format(git=shutil.which("git"), **more), encoding="utf-8")
    program.chmod(0o755)
    return f"{program.parent}:{os.environ['PATH']}"


def add_in_child(home: Path, remote: Path, **more: str) -> bool:
    """Add the *remote* to the store in *home* in a process of its own; tell whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            store = opened_at(home, **more).store()
            add(store, look_ahead(store, str(remote)))
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("half_made", ["memory.git", "desk/remote/store.git"])
def test_a_repository_that_was_half_made_is_completed(
    machines: Machines, tmp_path: Path, half_made: str
) -> None:
    desk = machines.open("desk")
    known = stored(desk, "The desk knows this.")
    path = path_with_git(tmp_path, HALF_MADE, repository=tmp_path / half_made)
    assert add_in_child(desk.home, machines.remote, PATH=path)
    assert (tmp_path / half_made / "config.lock").exists()

    if state_of(desk.home):
        report = exchange(desk)
    else:
        report = add(desk, look_ahead(desk, str(machines.remote)))

    assert not report.trouble
    laptop = machines.joined("laptop")
    assert {Path(path).stem for path in says(laptop)} == {known}


def test_a_lock_that_a_killed_git_left_in_the_remote_is_taken_away(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    known = stored(desk, "The desk knows this.")
    lock = machines.remote / "HEAD.lock"
    lock.touch()

    assert "was killed while it did" in exchange(desk).trouble
    assert lock.exists()  # it may be that of a git that runs
    with pytest.raises(RemoteUnavailable, match="was killed while it did"):
        rewrite_history(desk, timeout=60, patience=0)
    long_ago = time.time() - 2 * STALE
    os.utime(lock, (long_ago, long_ago))

    assert not exchange(desk).trouble
    assert exchange(laptop).added == (known,)
    lock.touch()
    os.utime(lock, (long_ago, long_ago))
    assert not rewrite_history(desk, timeout=60, patience=0).trouble


def test_where_the_history_was_cut_is_never_half_written(machines: Machines) -> None:
    desk = machines.joined("desk")
    cuts, kept = desk.home / "remote" / "store.git" / "shallow", desk.home / "kept"
    for number in range(2):
        forget(desk, stored(desk, f"The desk knows fact {number}."), forever=True)
        stored(desk, f"The desk also knows fact {number}.")
        exchange(desk)
        if not number:
            os.link(cuts, kept)
            before = kept.read_text(encoding="ascii")

    assert kept.read_text(encoding="ascii") == before != cuts.read_text(encoding="ascii")


@pytest.mark.parametrize("ref", [HEAD, DISK])
def test_what_was_committed_to_one_of_two_refs_is_not_taken_back(
    machines: Machines, tmp_path: Path, ref: str
) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    revised = stored(desk, "The port is 80.")
    machines.meet(desk, laptop)
    new = stored(desk, "The desk learned this afterwards.")
    revise(desk, revised, Revision(text="The port is 9090."))
    lock = desk.home / "remote" / "store.git" / f"{ref}.lock"
    path = path_with_git(tmp_path, UNWRITTEN, lock=lock)
    with pytest.raises(RemoteUnavailable, match="fast-import failed"):
        exchange(desk._replace(git=desk.git._replace(path=path)))

    machines.meet(desk, laptop)

    assert says(desk) == says(laptop)
    assert read(laptop, revised).memory.text == read(desk, revised).memory.text == "The port is 9090."
    assert read(laptop, new)


def test_a_git_that_outlives_its_exchange_keeps_the_next_one_from_the_repository(machines: Machines) -> None:
    desk = machines.joined("desk")
    known = stored(desk, "The desk knows this.")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE)
        remote = notes.remote_of(desk.home)
        assert remote
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/memory.git"
        notes.note_remote(desk.home, replace(remote, url=url))
        process = machine(desk.home)
        connection, _ = silent.accept()  # git asks the host, which does not answer
        with connection:
            process.kill()
            process.communicate()
            notes.note_remote(desk.home, remote)

            with pytest.raises(Held, match="which has ended" if sys.platform == "linux" else None):
                exchange(desk)
    report = exchange(desk, patience=PATIENCE)

    assert not report.trouble
    assert {Path(path).stem for path in says(machines.joined("laptop"))} == {known}
