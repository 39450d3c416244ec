"""
A terminal of a person's: a command runs in a pseudo-terminal whose processes nothing above has marked.

Whoever runs the tests may be started by Claude Code. So the command gets a session of its own, whose parent
is gone before it begins, as that of a terminal on a desktop is.
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE = 240.0  # seconds, as in tests/patience.py, which this file cannot import where it is a program

Answers = Sequence[tuple[str, str | Callable[[], str]]]


def type_in_terminal(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    answers: Answers = (),
) -> subprocess.CompletedProcess[str]:
    """
    Run *command* as a person would; return its end, with all that stood on the screen as `stdout`.

    *answers*: (a pattern to wait for on the screen, what is typed then or what returns it), in this order.
    """
    clean = {name: value for name, value in env.items() if not name.startswith("CLAUDE")}
    with tempfile.TemporaryDirectory() as folder:
        ended = Path(folder, "ended")
        master, slave = pty.openpty()
        try:
            name = os.ttyname(slave)
            subprocess.run(
                [sys.executable, __file__, name, ended, *command],
                cwd=cwd,
                env=clean,
                check=True,
                timeout=PATIENCE,
            )
            screen = _watched(master, slave, ended, list(answers))
        finally:
            os.close(master)
            os.close(slave)
        code = int(ended.read_text(encoding="utf-8"))
    return subprocess.CompletedProcess(list(command), code, screen.replace("\r\n", "\n"), "")


def _watched(master: int, slave: int, ended: Path, answers: list[tuple[str, str | Callable[[], str]]]) -> str:
    """Return what stood on the screen, and type *answers* meanwhile."""
    screen, searched_to = b"", 0
    end = time.monotonic() + PATIENCE
    while True:
        over = ended.exists()  # before the last look at the screen
        if select.select([master], [], [], 0 if over else 0.05)[0]:
            screen += os.read(master, 65536)
        elif over:
            return screen.decode()
        screen_text = screen.decode(errors="replace")
        if answers and (question := re.compile(answers[0][0]).search(screen_text, searched_to)):
            searched_to = question.end()
            answer = answers.pop(0)[1]
            os.write(master, f"{answer() if callable(answer) else answer}\n".encode())
        assert time.monotonic() < end, screen_text


def _run_alone(terminal: str, ended: Path, command: Sequence[str]) -> None:
    """Run *command* in *terminal*, with no parent, and write how it ended into the file *ended*."""
    parent = os.getpid()
    if os.fork():
        os._exit(0)
    os.setsid()
    while os.getppid() == parent:
        os.sched_yield()
    own = os.open(terminal, os.O_RDWR)  # the first that a session opens becomes its terminal
    for stream in (0, 1, 2):
        os.dup2(own, stream)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for the command
    code = subprocess.run(command, check=False).returncode
    partial = ended.with_suffix(".part")
    partial.write_text(str(code), encoding="utf-8")
    partial.rename(ended)


if __name__ == "__main__":
    _run_alone(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
