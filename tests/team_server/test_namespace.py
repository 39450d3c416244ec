"""A real network between a member and the server that goes down: a namespace of the kernel's."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.team_server.processes import Server, issued

postgres = pytest.importorskip("tests.postgres")

MEMBER = """
import sys
from mcp_server.adapters.team_client import TeamClient
from mcp_server.core.errors import DaybookError
from mcp_server.core.search.query import Query
from tests.team_server.test_roles import memory

client = TeamClient(sys.argv[1], sys.argv[2], rests=(0.0,))
for number, line in enumerate(sys.stdin):
    try:
        if line.strip() == "save":
            print("saved", client.save(memory(f"memory-{number}")).memory.id, flush=True)
        else:
            found = client.search(Query("body parsing"), patience=5.0).results
            print("found", len(found), flush=True)
    except DaybookError as error:
        print(type(error).__name__, error, flush=True)
"""


@contextmanager
def namespace() -> Iterator[str]:
    """Give a network namespace with nothing but loopback; skip where none can be made."""
    if sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("a network namespace needs Linux, root and the program ip")
    name = f"daybook-{os.getpid()}"
    process = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if process.returncode:
        pytest.skip(f"no network namespace can be made here: {process.stderr.strip()}")
    try:
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name])


def link(name: str, state: str) -> None:
    subprocess.run(["ip", "netns", "exec", name, "ip", "link", "set", "lo", state], check=True)


def test_a_member_is_told_that_the_network_is_down_and_goes_on_when_it_is_up(tmp_path: Path) -> None:
    with namespace() as name, postgres.empty_database() as url:
        link(name, "up")
        token = issued(tmp_path, url, "anna", "writer")
        inside = ("ip", "netns", "exec", name)
        server = Server(tmp_path, url, inside=inside)
        member = subprocess.Popen(
            [*inside, sys.executable, "-c", MEMBER, server.address, token],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

        def ask(verb: str) -> str:
            assert member.stdin
            assert member.stdout
            member.stdin.write(f"{verb}\n")
            member.stdin.flush()
            return member.stdout.readline().strip()

        try:
            assert ask("save") == "saved memory-0"
            assert ask("search") == "found 1"
            link(name, "down")
            for verb in ("search", "save"):
                assert ask(verb).startswith("StorageUnavailable The team's server http://127.0.0.1:")
            link(name, "up")
            assert ask("save") == "saved memory-4"
            assert ask("search") == "found 2"
        finally:
            member.kill()
            member.communicate(timeout=PATIENCE)
            server.end()
