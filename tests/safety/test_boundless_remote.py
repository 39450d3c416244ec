"""A remote that stands for more than a machine can hold, or that sends git on to another address."""

import os
import subprocess
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mcp_server.actions.remote import exchange as exchanging
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.set_up import add, look_ahead
from mcp_server.adapters.remote import repository
from mcp_server.core.errors import RemoteUnavailable
from mcp_server.store import Store
from tests.memories import stored

WHO = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.fixture
def remote(store: Store, tmp_path: Path) -> Path:
    """A bare folder that is the remote of *store*."""
    folder = tmp_path / "memory.git"
    stored(store, "Deploys start from release.")
    assert not add(store, look_ahead(store, str(folder))).trouble
    return folder


def git(remote: Path, *arguments: str, stdin: bytes = b"") -> str:
    command = ["git", f"--git-dir={remote}", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, check=True, env={**os.environ, **WHO})
    return done.stdout.decode().strip()


def push_tree(remote: Path, top: str) -> None:
    commit = git(remote, "commit-tree", "-p", "refs/heads/daybook", "-m", "x", top)
    git(remote, "update-ref", "refs/heads/daybook", commit)


def folder_of(remote: Path, line: str, many: int) -> str:
    """Return a tree in which the same entry stands *many* times under names of its own."""
    return git(remote, "mktree", stdin="".join(f"{line}\t{name:04}.md\n" for name in range(many)).encode())


def push_knowledge(remote: Path, tree: str) -> None:
    push_tree(remote, git(remote, "mktree", stdin=f"040000 tree {tree}\tknowledge\n".encode()))


def test_folders_that_stand_for_millions_of_files_fill_no_memory(
    store: Store, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "MOST_LISTED", 10_000)  # bytes: without any limit this test fails in time
    blob = git(remote, "hash-object", "-w", "--stdin", stdin=b"A kind memory.\n")
    tree = folder_of(remote, f"100644 blob {blob}", 10)
    for _ in range(2):  # a thousand files in four objects
        tree = folder_of(remote, f"040000 tree {tree}", 10)
    push_knowledge(remote, tree)

    done = exchange(store)

    assert (done.added, "more files than a memory can have" in done.trouble) == ((), True)


def test_a_file_that_stands_for_a_full_disk_is_not_taken(
    store: Store, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanging, "MOST_TOGETHER", 20_000)  # bytes
    blob = git(remote, "hash-object", "-w", "--stdin", stdin=b"w" * 1000)
    push_knowledge(remote, folder_of(remote, f"100644 blob {blob}", 21))

    done = exchange(store)

    assert (done.added, "is the most that is taken in" in done.trouble) == ((), True)


class _SendsOn(BaseHTTPRequestHandler):
    """Answers everything with another address, and counts what is asked there."""

    asked: list[str]
    elsewhere = ""

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(HTTPStatus.FOUND)
        self.send_header("Location", f"{self.elsewhere}{self.path}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def sends_on() -> Iterator[tuple[str, list[str]]]:
    """An address that redirects to another host, and what was asked of that host."""
    elsewhere: list[str] = []
    there = ThreadingHTTPServer(("127.0.0.1", 0), type("There", (_SendsOn,), {"asked": elsewhere}))
    address = f"http://localhost:{there.server_address[1]}"
    here_class = type("Here", (_SendsOn,), {"asked": [], "elsewhere": address})
    here = ThreadingHTTPServer(("127.0.0.1", 0), here_class)
    for server in (here, there):
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"http://127.0.0.1:{here.server_address[1]}/memory.git", elsewhere
    for server in (here, there):
        server.shutdown()
        server.server_close()


def test_a_redirection_of_a_remote_is_not_followed(store: Store, sends_on: tuple[str, list[str]]) -> None:
    url, elsewhere = sends_on
    stored(store, "Deploys start from release.")

    with pytest.raises(RemoteUnavailable, match="redirects to another address, which Daybook does not"):
        look_ahead(store, url)

    assert elsewhere == []
