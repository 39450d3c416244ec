"""
How soon `claude "question"` reaches the model: `python benchmarks/client_start.py [RUNS] [--busy N]`.

The real client, in a terminal of its own, over a store of 1,000 made-up memories; the model is a script on
loopback. Starts with and without the plugin take turns, each is a session of its own. `--busy N` lets so many
processes compute beside it. Told are the milliseconds until the question arrives, and how often the screen
says that a hook failed or took too long. `make client` fetches the client.
"""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "client"))
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the environment that it makes has bytecode

import click
from harness.drive_claude import KEY, Claude
from harness.mock_anthropic import MockAPI
from harness.python_environment import make_environment

from benchmarks import synthetic
from benchmarks.synthetic_store import give_vectors, make_index, open_empty, write_files

ROOT = Path(__file__).resolve().parent.parent
MEMORIES = 1_000
PATIENCE = 60.0  # seconds after which a question that did not arrive is a failure
CLIENTS = ".client/node_modules/@anthropic-ai/claude-code-*/claude"
TROUBLE = re.compile(r"hook (?:error|failed|timed out)|timed out|not connected", re.IGNORECASE)
ANSWER = "Noted-and-done."
BUSY = "while True: sum(range(10_000))"


@click.command()
@click.argument("runs", type=click.IntRange(1), default=20)
@click.option("--busy", type=click.IntRange(0), default=0, help="Processes that keep the processors busy.")
def main(runs: int, busy: int) -> None:
    binary = next(iter(sorted(ROOT.glob(CLIENTS))), None)
    if binary is None:
        raise click.ClickException("The client is not here: `make client` fetches it.")
    with tempfile.TemporaryDirectory(prefix="daybook-client-") as place:
        folder = Path(place)
        with_plugin, questions = prepared(binary, folder, runs)
        without = Claude(binary, home=folder / "bare", project=with_plugin.project, env={})
        waited: dict[bool, list[float]] = {True: [], False: []}
        troubles = []
        with keeping_busy(busy):
            for question in questions:
                for plugin, claude in ((True, with_plugin), (False, without)):
                    seconds, screen = asked(claude, question)
                    waited[plugin].append(seconds * 1000)
                    troubles += TROUBLE.findall(screen) if plugin else []
    for plugin, name in ((True, "with Daybook"), (False, "without")):
        values = sorted(waited[plugin])
        print(f"{name}: median {median(values):.0f} ms, most {values[-1]:.0f} ms")
    later = [one - other for one, other in zip(waited[True], waited[False], strict=True)]
    print(
        f"later with Daybook: median {median(later):.0f} ms; {runs} starts, {busy} busy processes beside them"
    )
    print(f"troubles on the screen: {len(troubles)} {sorted(set(troubles)) or ''}")


def prepared(binary: Path, folder: Path, runs: int) -> tuple[Claude, list[str]]:
    """Return the client with the plugin installed and a store of its own, and questions for it."""
    plugin = folder / "plugin"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, plugin / name, follow_symlinks=False)
    environment = make_environment(folder / "venv", plugin)
    opened = open_empty(folder)
    questions = synthetic.questions(write_files(opened, MEMORIES), runs)
    make_index(opened)
    give_vectors(opened)  # or every server embeds them beside what is measured
    env = {"DAYBOOK_VENV": str(environment), "MEMORY_DIR": str(opened.home)}
    claude = Claude(binary, home=folder / "home", project=opened.folder, env=env)
    for home in (claude.home, folder / "bare"):
        home.mkdir()
    for command in (["marketplace", "add", str(plugin)], ["install", "daybook@daybook"]):
        done = claude.cli("plugin", *command)
        if done.code:
            raise click.ClickException(done.stdout + done.stderr)
    for home in (claude.home, folder / "bare"):
        answer_first_questions(home, opened.folder)
    asked(claude, "warm up")  # bytecode, and what the client makes at its first start
    return claude, questions


def answer_first_questions(home: Path, project: Path) -> None:
    """Answer what a first interactive start asks: theme, API key, trust in the folder."""
    path = home / ".claude.json"
    said = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    said |= {"hasCompletedOnboarding": True, "theme": "dark"}
    said["customApiKeyResponses"] = {"approved": [KEY[-20:]], "rejected": []}
    said.setdefault("projects", {})[str(project)] = {
        "hasTrustDialogAccepted": True,
        "hasCompletedProjectOnboarding": True,
    }
    path.write_text(json.dumps(said), encoding="utf-8")


def asked(claude: Claude, question: str) -> tuple[float, str]:
    """Start `claude QUESTION`; return the seconds until the model was asked, and what the screen was sent."""
    shown, answered = list[bytes](), threading.Event()
    with MockAPI([ANSWER]) as api:
        environment = {**claude.environment(api.url), "NO_COLOR": "1"}
        began = time.monotonic()
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(claude.project)
            os.execve(claude.binary, [str(claude.binary), question], environment)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 180, 0, 0))
        reader = threading.Thread(target=read_all, args=(terminal, shown, answered), daemon=True)
        reader.start()
        arrived = api.wait_for_main(1, PATIENCE)
        waited = time.monotonic() - began
        answered.wait(PATIENCE if arrived else 0)  # then what stands above the answer is on the screen
        os.kill(pid, signal.SIGHUP)
        os.waitpid(pid, 0)
        reader.join(5)
        os.close(terminal)
    screen = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b" ", b"".join(shown)).decode("utf-8", "replace")
    if not arrived:
        raise click.ClickException(f"The question did not reach the model:\n{screen[-2000:]}")
    return waited, screen


def read_all(terminal: int, shown: list[bytes], answered: threading.Event) -> None:
    """Read what a program writes to *terminal* until it ends; note when the answer is among it."""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            return
        if not data:
            return
        shown.append(data)
        if ANSWER.encode() in b"".join(shown[-9:]):
            answered.set()


@contextmanager
def keeping_busy(number: int) -> Iterator[None]:
    """Let *number* processes compute while the block runs."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
