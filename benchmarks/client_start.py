"""
What Daybook costs in the client: `python benchmarks/client_start.py [ROUNDS] [--busy N] [--prompts N]`.

The real client over a store of 1,000 made-up memories; the model is a script on loopback. Rounds with and
without the plugin take turns, each a session of its own in a terminal of its own. Told are the milliseconds
until a request reaches the model: of `claude "question"` from its start, of the first prompt that is typed
as soon as the box for it is there, of the prompts that follow it at once, while the server loads, and of as
many after the server has loaded everything, from Enter; the tokens of the first request and of the last
that was typed at once; and how often the screen says that a hook failed or took too long. `--busy N` lets so
many processes compute beside it. `make client` fetches the client.
"""

import fcntl
import itertools
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "client"))
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the environment that it makes has bytecode

import click
from harness.drive_claude import KEY, Claude
from harness.mock_anthropic import MockAPI, Request, call
from harness.python_environment import make_environment
from harness.terminal import Terminal

from benchmarks import synthetic
from benchmarks.synthetic_store import give_vectors, make_index, open_empty, write_files

ROOT = Path(__file__).resolve().parent.parent
MEMORIES = 1_000
PATIENCE = 60.0  # seconds after which a question that did not arrive is a failure
KEY_LOST = 2.0  # seconds after which it is looked whether the Enter was lost
COLUMNS = 240  # of the terminal: a prompt stands on one line
LONGEST = 200  # characters of a prompt
CHARACTERS = 4  # of a token
CLIENTS = ".client/node_modules/@anthropic-ai/claude-code-*/claude"
TROUBLE = re.compile(r"hook (?:error|failed|timed out)|timed out|not connected", re.IGNORECASE)
BY_WORDS = "words only"  # of a recall's answer while the model is not loaded
ANSWER = "Noted-and-done."
BUSY = "while True: sum(range(10_000))"


@dataclass(slots=True)
class Seen:
    """What was measured with or without the plugin: milliseconds, and tokens of requests."""

    start: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    at_once: list[float] = field(default_factory=list)
    loaded: list[float] = field(default_factory=list)
    tokens_first: list[float] = field(default_factory=list)
    tokens_last: list[float] = field(default_factory=list)


ROWS = {
    "start": '`claude "question"` reaches the model, ms',
    "first": "the first prompt typed does, ms",
    "at_once": "the prompts typed at once after it do, ms",
    "loaded": "prompts do once the server has loaded everything, ms",
    "tokens_first": "tokens of the first request",
    "tokens_last": "tokens of the last request typed at once",
}


@click.command()
@click.argument("rounds", type=click.IntRange(1), default=20)
@click.option("--busy", type=click.IntRange(0), default=0, help="Processes that keep the processors busy.")
@click.option("--prompts", type=click.IntRange(2), default=6, help="Prompts typed at once in a round.")
def main(rounds: int, busy: int, prompts: int) -> None:
    with tempfile.TemporaryDirectory(prefix="daybook-client-") as place:
        folder = Path(place)
        asked_in_round = 2 * prompts  # one for `claude "question"`, and the first prompt is typed once
        with_plugin, questions = prepared(folder, rounds * asked_in_round)
        without = Claude(with_plugin.binary, home=folder / "bare", project=with_plugin.project, env={})
        seen_by_plugin, troubles = {True: Seen(), False: Seen()}, list[str]()
        with keeping_busy(busy):
            for number in range(rounds):
                questions_now = questions[number * asked_in_round : (number + 1) * asked_in_round]
                # Who comes first changes: what the machine does beside meets both alike.
                for plugin in (True, False) if number % 2 else (False, True):
                    claude = with_plugin if plugin else without
                    seconds, screen = ask_once(claude, questions_now[0])
                    seen_by_plugin[plugin].start.append(seconds * 1000)
                    screen += typed(
                        claude, questions_now[1:], prompts, seen_by_plugin[plugin], has_server=plugin
                    )
                    troubles += TROUBLE.findall(screen) if plugin else []
    print(f"{rounds} rounds of {prompts} prompts, {busy} busy processes beside them; medians (most)\n")
    print("| | without | with Daybook | more |\n|---|---|---|---|")
    for name, title in ROWS.items():
        bare, ours = getattr(seen_by_plugin[False], name), getattr(seen_by_plugin[True], name)
        more = median(with_plugin - without for with_plugin, without in zip(ours, bare, strict=True))
        print(f"| {title} | {shown_median(bare)} | {shown_median(ours)} | {more:,.0f} |")
    print(f"\nTroubles on the screen: {len(troubles)} {sorted(set(troubles)) or ''}")


def shown_median(values: list[float]) -> str:
    return f"{median(values):,.0f} ({max(values):,.0f})"


def typed(claude: Claude, questions: Sequence[str], at_once: int, seen: Seen, *, has_server: bool) -> str:
    """
    Type *questions* into a session, note what was *seen*, and return the last screen.

    So many are typed *at_once*, the others when its server, which it may have, has loaded everything.
    """
    with claude.interactive(columns=COLUMNS) as terminal:
        for number, question in enumerate(questions):
            if number == at_once and has_server:
                wait_until_loaded(terminal, question)
            milliseconds = 1000 * waited(terminal, question, "It is noted.", f"Done {number}.")
            times = seen.first if number == 0 else seen.at_once if number < at_once else seen.loaded
            times.append(milliseconds)
        requests = terminal.api.main()
        seen.tokens_first.append(tokens(requests[0]))
        seen.tokens_last.append(tokens(requests[at_once - 1]))
        return terminal.screen()


def wait_until_loaded(terminal: Terminal, question: str) -> None:
    """Let the model call `recall` until the answer is by meaning: library and model are loaded then."""
    end = time.monotonic() + PATIENCE
    for number in itertools.count():
        requests = terminal.send(f"look {number}", [call("recall", query=question), f"Looked {number}."])
        if BY_WORDS not in requests[-1].tool_results()[-1]:
            return
        if time.monotonic() > end:
            raise click.ClickException("The server did not load its model.")


def tokens(request: Request) -> int:
    """Return how many tokens *request* has, four characters to a token."""
    return len(json.dumps(request.body, ensure_ascii=False)) // CHARACTERS


def waited(terminal: Terminal, prompt: str, reply: str, end: str) -> float:
    """Type *prompt*, press Enter; return the seconds until it reaches the model, once the answer is shown."""
    before = len(terminal.api.main())
    terminal.api.add([f"{reply}\n\n{end}"])
    terminal.type(prompt)
    box = rf"─\n❯\s{re.escape(prompt)}\s*\n─"
    terminal.wait_for(box)
    began = time.monotonic()
    terminal.key("Enter")
    while not terminal.api.wait_for_main(before + 1, KEY_LOST):
        if re.search(box, terminal.screen()):  # an Enter that follows too closely is a part of the text
            began = time.monotonic()
            terminal.key("Enter")
        elif time.monotonic() - began > PATIENCE:
            raise click.ClickException(f"The prompt did not reach the model:\n{terminal.screen()}")
    seconds = time.monotonic() - began
    terminal.wait_for(re.escape(end))
    return seconds


def the_client() -> Path:
    """Return the client's program."""
    binary = next(iter(sorted(ROOT.glob(CLIENTS))), None)
    if binary is None:
        raise click.ClickException("The client is not here: `make client` fetches it.")
    return binary.resolve()


def installed(folder: Path) -> tuple[Path, Path]:
    """Return the plugin's folder, as git has it, and a ready Python environment, both below *folder*."""
    plugin = folder / "plugin"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, plugin / name, follow_symlinks=False)
    environment = make_environment(folder / "venv", plugin)
    env = {**os.environ, "DAYBOOK_VENV": str(environment), "MEMORY_DIR": str(folder / "tried")}
    for command in (["recall", "anything"], ["serve"]):  # makes the bytecode, as a real set-up does
        subprocess.run(
            [plugin / "bin" / "daybook", *command],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    return plugin, environment


def prepared(folder: Path, number: int) -> tuple[Claude, list[str]]:
    """Return the client with the plugin installed and a store of its own, and so many questions for it."""
    plugin, environment = installed(folder)
    opened = open_empty(folder)
    questions = [
        " ".join(question.split())[:LONGEST]
        for question in synthetic.questions(write_files(opened, MEMORIES), number)
    ]
    make_index(opened)
    give_vectors(opened)  # or every server embeds them beside what is measured
    env = {"DAYBOOK_VENV": str(environment), "MEMORY_DIR": str(opened.home)}
    env["DAYBOOK_PLAN_CALLS"] = "false"  # or the person is asked, where the next prompt is typed
    claude = Claude(the_client(), home=folder / "home", project=opened.folder, env=env)
    for home in (claude.home, folder / "bare"):
        home.mkdir()
    claude.install(plugin)
    for home in (claude.home, folder / "bare"):
        answer_first_questions(home, opened.folder)
    ask_once(claude, "warm up")  # bytecode, and what the client makes at its first start
    return claude, questions


def answer_first_questions(home: Path, project: Path) -> None:
    """Answer what a first interactive start asks: theme, API key, trust in the folder."""
    path = home / ".claude.json"
    settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    settings |= {"hasCompletedOnboarding": True, "theme": "dark"}
    settings["customApiKeyResponses"] = {"approved": [KEY[-20:]], "rejected": []}
    settings.setdefault("projects", {})[str(project)] = {
        "hasTrustDialogAccepted": True,
        "hasCompletedProjectOnboarding": True,
    }
    path.write_text(json.dumps(settings), encoding="utf-8")


def ask_once(claude: Claude, question: str) -> tuple[float, str]:
    """Start `claude QUESTION`; return the seconds until the model was asked, and what the screen was sent."""
    parts, has_answered = list[bytes](), threading.Event()
    with MockAPI([ANSWER]) as api:
        environment = {**claude.environment(api.url), "NO_COLOR": "1"}
        began = time.monotonic()
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(claude.project)
            os.execve(claude.binary, [str(claude.binary), question], environment)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 180, 0, 0))
        reader = threading.Thread(target=read_all, args=(terminal, parts, has_answered), daemon=True)
        reader.start()
        arrived = api.wait_for_main(1, PATIENCE)
        waited = time.monotonic() - began
        has_answered.wait(PATIENCE if arrived else 0)  # then what stands above the answer is on the screen
        os.kill(pid, signal.SIGHUP)
        os.waitpid(pid, 0)
        reader.join(5)
        os.close(terminal)
    screen = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b" ", b"".join(parts)).decode("utf-8", "replace")
    if not arrived:
        raise click.ClickException(f"The question did not reach the model:\n{screen[-2000:]}")
    return waited, screen


def read_all(terminal: int, parts: list[bytes], has_answered: threading.Event) -> None:
    """Read what a program writes to *terminal* until it ends; note when the answer is among it."""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            return
        if not data:
            return
        parts.append(data)
        if ANSWER.encode() in b"".join(parts[-9:]):
            has_answered.set()


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
