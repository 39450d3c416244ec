"""How long processes kept the processor, from /proc: one of them, or a PostgreSQL server with all its own."""

import os
from pathlib import Path

import psycopg

_TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds


def of_process(pid: int) -> float:
    """Return how many seconds of the processor the process *pid* has had, those of its ended children not."""
    _, user, system, *_ = _fields(pid)
    return (user + system) * _TICK


class PostgresTime:
    """The processor time of the PostgreSQL server, on this machine, that has the database at *url*."""

    def __init__(self, url: str) -> None:
        with psycopg.connect(url) as db:
            (backend,) = db.execute("SELECT pg_backend_pid()").fetchall()[0]
            self._server = _fields(backend)[0]

    def seconds(self) -> float:
        """Return how many seconds it has had by now, all its processes together, ended ones too."""
        _, user, system, of_ended = _fields(self._server)
        running = (
            Path(f"/proc/{self._server}/task/{self._server}/children").read_text(encoding="ascii").split()
        )
        return (user + system + of_ended) * _TICK + sum(map(_of_child, running))


def _of_child(pid: str) -> float:
    try:
        return of_process(int(pid))
    except FileNotFoundError:  # ended since: its time comes with that of the ended ones
        return 0.0


def _fields(pid: int) -> tuple[int, int, int, int]:
    """Return a process's parent, and its ticks as a program, in the system, and of children that ended."""
    # What stands before ")" is the program's name, which may have blanks in it.
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[1]), int(fields[11]), int(fields[12]), int(fields[13]) + int(fields[14])
