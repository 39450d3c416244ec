"""
Callers of the model that are killed at random moments.

    python killed_callers.py FOLDER URL RUNS SEED

Starts two callers at a time, each a fork of this warmed process, which holds no connection and no
thread. Each asks about one item after the other, and is killed at a random moment of its next 20 attempts,
however quick they are. A pair of runs has a clock that
stands still; the next pair's is later, so that days begin and pauses end. The prompt says which day
and which item it is. Goes on beyond RUNS until there were calls enough, and one was cut short. Prints a JSON
report; the accounts are kept by the server at URL.
"""

import contextlib
import json
import os
import random
import signal
import struct
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mcp_server import bootstrap
from mcp_server.actions.model.model_call import call_model
from mcp_server.adapters.claude_model import ClaudeModel
from mcp_server.core.errors import DaybookError, ModelUnavailable

CALLERS = 2
MOST_ATTEMPTS = 20  # after which a caller is killed
STEP = timedelta(hours=2.5)  # from one pair of runs to the next
ITEMS = 40  # that are waiting at a time
PADDING = "word " * 400
MOST_TOKENS = 300


def ask_for_ever(folder: str, url: str, now: datetime, seed: int, pipe: int) -> None:
    """Ask about random items, those of the day and a few that every day has, until somebody kills us."""
    rng = random.Random(seed)
    environment = {
        **os.environ,
        "MEMORY_DIR": folder,
        "DAYBOOK_MODEL_CALLS": "true",
        "DAYBOOK_DAILY_USD": "0.08",
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_BASE_URL": url,
    }
    store = bootstrap.Opened(environment, folder=Path("/"), clock=lambda: now).store()
    store.model()
    while True:
        began = time.monotonic()
        item = f"{now:%j}-{rng.randrange(ITEMS)}" if rng.random() < 0.8 else f"ever-{rng.randrange(ITEMS)}"
        prompt = f"{now:%Y-%m-%d} {item} {PADDING[: rng.randrange(len(PADDING))]}"
        with contextlib.suppress(ModelUnavailable):
            call_model(store, item=item, system="", prompt=prompt, most_tokens=MOST_TOKENS, patience=0.05)
        os.write(pipe, struct.pack("d", time.monotonic() - began))


def tells_enough(folder: str, runs: int) -> bool:
    """Tell whether callers were killed in calls, and not only before them: that depends on the machine."""
    lines = b"".join(path.read_bytes() for path in (Path(folder) / "ledger").glob("*.jsonl"))
    reserved, settled = lines.count(b'"reserved"'), lines.count(b'"spent"')
    return reserved > max(settled, runs / 10) and settled > runs / 10


def run(folder: str, url: str, runs: int, seed: int) -> dict[str, object]:
    rng = random.Random(seed)
    now = datetime(2026, 11, 20, 0, 30, tzinfo=UTC)
    kills, ended_by_itself, pace = 0, [], 0.0
    while kills < runs or not (tells_enough(folder, runs) or kills >= 20 * runs):
        now += STEP
        children = []
        for _ in range(CALLERS):
            reading, writing = os.pipe()
            number = rng.randrange(1 << 30)
            child = os.fork()
            if child == 0:
                os.close(reading)
                try:
                    ask_for_ever(folder, url, now, number, writing)
                except DaybookError as error:
                    print(repr(error), file=sys.stderr)
                finally:
                    os._exit(3)
            os.close(writing)
            children.append((child, reading))
        for child, reading in children:
            for _ in range(rng.randrange(MOST_ATTEMPTS)):
                if seconds_told := os.read(reading, 8):  # nothing when it has ended by itself
                    pace = max(0.8 * pace, *struct.unpack("d", seconds_told))
            time.sleep(rng.uniform(0, pace))  # so that many are killed in a call
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
            os.close(reading)
            kills += 1
            if not os.WIFSIGNALED(status):
                ended_by_itself.append(status)
    return {"kills": kills, "days": (now - datetime(2026, 11, 20, tzinfo=UTC)).days, "ended": ended_by_itself}


if __name__ == "__main__":
    place, address, number_of_runs, start = sys.argv[1:]
    ClaudeModel("key", address, consent=True)  # the library is imported once, before the forks
    print(json.dumps(run(place, address, int(number_of_runs), int(start))))
