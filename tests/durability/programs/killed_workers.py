"""
Workers that are killed at random moments while sessions go on, and a look at what they left behind.

    python killed_workers.py FOLDER URL KILLS SEED

Every fourth worker is a process of its own, as the hooks start it; the others are forks of this warmed
process, which holds no connection and no thread. Each is killed 0 to 400 ms after it wrote its first line
to the ledger, or was about to end; after two that learned nothing one lives until it learned something,
for what was asked about four times in vain is given up. Meanwhile two transcripts grow, are forked and
written anew, and agents work. At the end a worker runs through, and one on the next day, for what was too
little for a call. Prints a JSON report; the model at URL keeps its own accounts.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

from mcp_server import bootstrap
from mcp_server.actions.capture.note import note_ended, note_seen
from mcp_server.actions.upkeep.work import work
from mcp_server.adapters import claude_model, transcript_file
from mcp_server.doors import worker
from tests.patience import PATIENCE
from tests.recorded import Recorded

LONGEST_LIFE = 0.4  # seconds from the first line that it writes
LONGEST_DAY = 600  # minutes that a session goes on
FRUITLESS = 2  # workers in a row that learned nothing
LEARNED = b'"transcript_learned"'
SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


class Sessions:
    """
    Sessions that go on; every turn says what nothing else says.

    What the person said is to be learned. What Claude said would wait for the person, so nobody proposes it.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.folder = folder / "transcripts"
        self.project = folder / "shop"
        self.project.mkdir(parents=True)
        self.store = bootstrap.open_for_reading(os.environ, self.project)
        self.marked = self.own = 0
        self.open = [self.begun() for _ in range(2)]
        self.agents: list[Recorded] = []

    def begun(self) -> Recorded:
        named = Recorded(self.folder, cwd=self.project, session=f"session-{self.rng.getrandbits(48):012x}")
        named.minute = self.rng.randrange(300)
        return named

    def fact(self, *, own: bool) -> str:
        self.marked += 1
        self.own += own
        words = ("".join(self.rng.choices(SYLLABLES, k=4)) for _ in range(8))
        return f"{'Mark' if own else 'Reply'} {self.marked}: {' '.join(words)}."

    def turn(self, at: Recorded) -> None:
        own = self.rng.random() < 0.5 and not at.sidechain
        say = at.user if own else at.claude
        say(f"{self.fact(own=own)} {'and so it goes on ' * 40}")
        if self.rng.random() < 0.3:
            at.call("Bash", command=f"make part-{self.marked}")
        if self.rng.random() < 0.3:
            at.noise("x" * self.rng.randrange(9000))

    def go_on(self) -> None:
        """Let one thing happen, and note it as the hooks do."""
        at = self.rng.choice(self.open)
        if at.minute > LONGEST_DAY:
            self.open.remove(at)
            at = self.begun()
            self.open.append(at)
        match self.rng.randrange(10):
            case 0:
                self.open.append(self.forked(at))
                del self.open[0]
            case 1:
                self.write_anew(at)
                self.turn(at)
            case 2 | 3:
                agent = Recorded(self.folder, cwd=self.project, subagent_of=at)
                for _ in range(self.rng.randrange(1, 3)):
                    self.turn(agent)
                self.turn(at)
            case _:
                for _ in range(self.rng.randrange(1, 4)):
                    self.turn(at)
        store, folder = self.store.in_session(at.session), str(self.project)
        if self.rng.random() < 0.5:
            note_ended(store, at.path, folder=folder)
        else:
            note_seen(store, at.path, transcript_file.size(at.path), folder=folder, ended=False)

    def forked(self, at: Recorded) -> Recorded:
        fork = self.begun()
        fork.minute = at.minute
        if at.path.exists():
            fork.write(at.path.read_text(encoding="utf-8").replace(at.session, fork.session))
        self.turn(fork)
        note_ended(self.store.in_session(fork.session), fork.path, folder=str(self.project))
        return fork

    def write_anew(self, at: Recorded) -> None:
        """Leave out what nobody said, as a program does that tidies."""
        if not at.path.exists():
            return
        lines = at.path.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = at.path.with_suffix(".new")
        whole.write_text("".join(line for line in lines if "attachment" not in line), encoding="utf-8")
        whole.replace(at.path)

    def end(self) -> None:
        for path in sorted(self.folder.glob("*.jsonl")):
            note_ended(self.store.in_session(path.stem), path, folder=str(self.project))


def run(folder: Path, kills: int, seed: int) -> dict[str, object]:
    rng = random.Random(seed)
    sessions = Sessions(folder, seed)
    killed = idle = fruitless = 0
    while killed < kills:
        sessions.go_on()
        before, learned = count_lines(folder), count_lines(folder, LEARNED)
        pid = started() if killed % 4 == 0 else forked()
        waited = time.monotonic() + PATIENCE
        while time.monotonic() < waited and not ended(pid):
            if (
                count_lines(folder, LEARNED) > learned
                if fruitless >= FRUITLESS
                else count_lines(folder) > before
            ):
                break
            time.sleep(0.001)
        die_at = time.monotonic() + rng.choice((rng.uniform(0, LONGEST_LIFE), rng.expovariate(50)))
        if rng.random() < 0.5:
            sessions.go_on()  # while it works
        time.sleep(max(0.0, die_at - time.monotonic()))
        if ended(pid):
            idle += 1
        else:
            killed += 1
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        fruitless = 0 if count_lines(folder, LEARNED) > learned else fruitless + 1
    sessions.end()
    last = subprocess.run(command(), check=False)
    tomorrow = bootstrap.Opened(os.environ, clock=lambda: bootstrap.now() + timedelta(days=1))
    work(lambda folder: tomorrow.store(folder=folder))
    counts = {"kills": killed, "idle": idle, "marked": sessions.marked, "own": sessions.own}
    return {**counts, "last": last.returncode}


def count_lines(folder: Path, event: bytes = b"\n") -> int:
    """Return how many lines stand in the ledger, or how many of one event."""
    return sum(path.read_bytes().count(event) for path in (folder / "memory" / "ledger").glob("*.jsonl"))


def ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def command() -> list[str]:
    return [sys.executable, "-m", "mcp_server.doors.worker"]


def started() -> int:
    # Only its number is of use: the loop above waits for it, and kills it.
    return os.posix_spawn(sys.executable, command(), os.environ)


def forked() -> int:
    child = os.fork()
    if child == 0:
        try:
            worker.main()
        finally:
            os._exit(3)
    return child


if __name__ == "__main__":
    place, address, number, start = sys.argv[1:]
    os.environ |= {
        "MEMORY_DIR": f"{place}/memory",
        "DAYBOOK_MODEL_CALLS": "true",
        "DAYBOOK_DAILY_CALLS": "10000",
        "DAYBOOK_DAILY_USD": "100",
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_BASE_URL": address,
    }
    claude_model.ClaudeModel("key", address, consent=True)  # the library is imported once, before the forks
    print(json.dumps(run(Path(place), int(number), int(start))))
