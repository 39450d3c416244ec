"""`daybook`, by the `main` that a process of its own runs or typed in a terminal, and what it printed."""

import gc
import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from mcp_server.doors.cli import main, person
from tests.live import ROOT

Run = Callable[..., subprocess.CompletedProcess[str]]
Answers = Sequence[tuple[str, str | Callable[[], str]]]


def output_of(process: subprocess.CompletedProcess[str]) -> str:
    assert process.returncode == 0, process.stderr
    return process.stdout


def daybook(
    memory_dir: Path,
    *words: str,
    folder: Path = Path("/"),
    typed: bool = False,
    stdin: str = "",
    answers: Answers = (),
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """
    Run `daybook` with *words* in *folder* on the store in *memory_dir*, which searches by words only.

    With *typed* a person types it in a terminal, and *answers* when asked; all on the screen is its `stdout`.
    Otherwise it runs in this process: one for each of hundreds of commands would cost minutes.
    """
    settings = {"MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", **environment}
    if not typed:
        return _run_here(words, folder, settings, stdin)
    from tests.terminal import type_in_terminal  # needs more than Windows has

    command = [sys.executable, "-P", "-m", "mcp_server.doors.cli", *words]
    return type_in_terminal(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT), **settings}, answers=answers
    )


def _run_here(
    words: tuple[str, ...], folder: Path, environment: Mapping[str, str], stdin: str
) -> subprocess.CompletedProcess[str]:
    stdin_file, *printed = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", newline="") for _ in range(3)
    )
    stdin_file.write(stdin)
    stdin_file.seek(0)
    umask, litter = os.umask(0o077), gc.get_threshold()
    os.umask(umask)
    code: str | int | None = 0
    with pytest.MonkeyPatch.context() as process:
        process.chdir(folder)
        for name, value in environment.items():
            process.setenv(name, value)
        process.setattr(sys, "argv", ["daybook", *words])
        for name, stream in zip(("stdin", "stdout", "stderr"), (stdin_file, *printed), strict=True):
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
