"""What is deleted for good leaves no byte in our repository, nor in the remote when it is rewritten."""

import os
import socket
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.rewrite import rewrite_history
from mcp_server.adapters.remote.repository import STALE
from mcp_server.core.errors import RemoteUnavailable
from tests.actions.remote.conftest import Machines
from tests.memories import stored

WORD = "zanzibar"


def holds(repository: Path, word: str) -> bool:
    """Tell whether any object of a repository holds *word*."""
    objects = subprocess.run(
        ["git", f"--git-dir={repository}", "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    ).stdout
    loose = [path.read_bytes() for path in repository.glob("objects/??/*")]
    return word.encode() in objects or any(word.encode() in zlib.decompress(data) for data in loose)


def test_the_local_history_loses_it_and_the_remote_when_it_is_rewritten(machines: Machines) -> None:
    desk = machines.joined("desk")
    gone, kept_id = (
        stored(desk, "The vault", f"It is in {WORD}."),
        stored(desk, "Deploys start from release."),
    )
    exchange(desk)
    laptop = machines.joined("laptop")
    own = desk.home / "remote" / "store.git"
    assert holds(own, WORD) and holds(machines.remote, WORD)

    forgotten = forget(desk, gone, forever=True)
    exchange(desk)

    assert forgotten.remote == str(machines.remote)
    assert not holds(own, WORD)
    assert holds(machines.remote, WORD)  # as the answer says

    rewrite_history(desk, timeout=60, patience=1)
    revise(laptop, kept_id, Revision(text="Deploys start from main."))
    machines.meet(laptop, desk)

    for repository in (own, machines.remote, laptop.home / "remote" / "store.git"):
        assert not holds(repository, WORD), repository
    assert read(desk, kept_id).memory.text == "Deploys start from main."
    assert list((laptop.home / "trash").rglob(f"{gone}.md"))
    assert not (laptop.home / "knowledge" / f"{gone}.md").exists()


def test_the_exchange_goes_on_after_the_history_was_cut(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    forget(desk, stored(desk, "The vault", f"It is in {WORD}."), forever=True)
    exchange(desk)
    memory_id = stored(laptop, "The host is alpha.\n\nThe port is 80.")
    machines.meet(laptop, desk)
    revise(desk, memory_id, Revision(text="The host is beta.\n\nThe port is 80."))
    revise(laptop, memory_id, Revision(text="The host is alpha.\n\nThe port is 90."))

    machines.meet(desk, laptop)

    assert read(desk, memory_id).memory.text == "The host is beta.\n\nThe port is 90."
    assert read(laptop, memory_id).memory.text == "The host is beta.\n\nThe port is 90."


PACKING = ("packed-refs.new", "objects/info/commit-graph.lock")


def as_killed_while_packing(repository: Path, half: str) -> Path:
    """
    Leave in *repository* what a git leaves that is killed there, whose number another process has now.

    Return the file *half*, which keeps the next one from packing.
    """
    (repository / "gc.pid").write_text(f"{os.getpid()} {socket.gethostname()}", encoding="ascii")
    (repository / half).parent.mkdir(exist_ok=True)
    (repository / half).touch()
    return repository / half


@pytest.mark.parametrize("half", PACKING)
def test_a_git_that_was_killed_while_packing_stops_neither(machines: Machines, half: str) -> None:
    desk = machines.joined("desk")
    own = desk.home / "remote" / "store.git"
    gone = stored(desk, "The vault", f"It is in {WORD}.")
    exchange(desk)
    forget(desk, gone, forever=True)
    as_killed_while_packing(own, half)

    assert not exchange(desk).trouble
    assert not holds(own, WORD)

    left = as_killed_while_packing(machines.remote, half)
    with pytest.raises(RemoteUnavailable, match="its bytes are still there"):
        rewrite_history(desk, timeout=60, patience=1)
    long_ago = time.time() - 2 * STALE
    os.utime(left, (long_ago, long_ago))
    rewrite_history(desk, timeout=60, patience=1)
    assert not holds(machines.remote, WORD)
