"""`daybook`, run in this process by the `main` that a process of its own runs, and what it printed."""

import gc
import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from mcp_server.doors.cli import main, person

Run = Callable[..., subprocess.CompletedProcess[str]]


def said(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_here(
    words: tuple[str, ...], *, folder: Path, environment: Mapping[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """
    Run `daybook` with *words* in *folder*, with what *environment* adds; its ends are no terminal.

    A process for each of hundreds of commands would cost minutes. What a process adds to `main` is shown by
    the tests of the terminal, of the launcher and of the client.
    """
    given, *printed = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", newline="") for _ in range(3)
    )
    given.write(stdin)
    given.seek(0)
    umask, litter = os.umask(0o077), gc.get_threshold()
    os.umask(umask)
    code: str | int | None = 0
    with pytest.MonkeyPatch.context() as process:
        process.chdir(folder)
        for name, value in environment.items():
            process.setenv(name, value)
        process.setattr(sys, "argv", ["daybook", *words])
        for name, stream in zip(("stdin", "stdout", "stderr"), (given, *printed), strict=True):
            process.setattr(sys, name, stream)
        try:
            main()
        except SystemExit as end:
            code = end.code
        finally:  # what only the end of a process would undo
            os.umask(umask)
            gc.set_threshold(*litter)
            person.who_types.cache_clear()
    assert isinstance(code, int)
    for stream in printed:
        stream.seek(0)
    return subprocess.CompletedProcess(words, code, *(stream.read() for stream in printed))
