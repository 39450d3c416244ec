"""A team's server as its own process, and the other commands of its administrator."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.patience import PATIENCE

COMMAND = (sys.executable, "-W", "ignore", "-m", "mcp_server.doors.cli", "team")


def environment(home: Path, url: str, **more: str) -> dict[str, str]:
    """Return the environment of an administrator whose Daybook searches by words only, unless *more* says."""
    return {
        **os.environ,
        "HOME": str(home),
        "MEMORY_DIR": str(home / "memory"),
        "EMBEDDING_MODEL": "none",
        "DAYBOOK_TEAM_DATABASE": url,
        **more,
    }


def team(home: Path, url: str, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run `daybook team` with *words* to its end, with *more* in its environment."""
    env = environment(home, url, **more)
    return subprocess.run([*COMMAND, *words], env=env, capture_output=True, text=True, timeout=PATIENCE)


def issued(home: Path, url: str, name: str, role: str) -> str:
    """Return a new token."""
    return team(home, url, "token", "issue", name, "--role", role).stdout.strip()


class Server:
    """
    A running server: its address, and its process, which the command *inside* may start, with *more* in its
    environment.
    """

    def __init__(self, home: Path, url: str, *words: str, inside: tuple[str, ...] = (), **more: str) -> None:
        self.process = subprocess.Popen(
            [*inside, *COMMAND, "serve", "--port", "0", "--each-minute", "1000000", *words],
            env=environment(home, url, **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout
        self.said = ""
        match = None
        for line in self.process.stdout:  # the address comes last
            self.said += line
            if match := re.search(r"http://\S+", line):
                break
        assert match, self.said
        self.address = match[0]

    def end(self) -> str:
        """Kill it where it runs still, and return what it printed."""
        self.process.kill()
        return self.process.communicate()[0]


@contextmanager
def serving(home: Path, url: str, *words: str, **more: str) -> Iterator[Server]:
    """Give a server of the team in the database at *url*."""
    server = Server(home, url, *words, **more)
    try:
        yield server
    finally:
        server.end()
