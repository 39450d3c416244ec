"""
What capture costs and how long it takes: `python benchmarks/capture.py`.

Sessions are made of the recorded one in tests/data/transcripts, over and over with changed words: prompts
and answers that say something each time, and the bulk of attachments and tool results around them. The model
is a server on loopback that answers at once and proposes one memory for each piece. With --write the table
in results/learning.md is replaced.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as bin/daybook has it
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the environment that it makes has bytecode

import click
from tabulate import tabulate

from benchmarks.latency import ROOT, command, machine, percentile, timed
from benchmarks.pages import replace_table
from mcp_server.actions.capture.note import note_ended
from mcp_server.actions.upkeep.backfill import backfill, pending_transcripts
from mcp_server.bootstrap import Opened
from tests.scripted_model import Answer, ScriptedModel, reply

RECORDED = ROOT / "tests" / "data" / "transcripts" / "session.jsonl"
SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
HOOKS = 40  # processes, of which the first does not count
ROUNDS = 5  # sessions that end
PATIENCE = 60.0  # seconds for the worker

Row = tuple[str, str, float]


@click.command()
@click.option("--backfill-mb", default=50, show_default=True, help="Megabytes of old transcripts.")
@click.option("--worker-mb", default=4, show_default=True, help="Megabytes that one worker reads.")
@click.option("--write", is_flag=True, help="Replace the table in results/learning.md.")
def main(backfill_mb: int, worker_mb: int, write: bool) -> None:
    """Measure the worker, backfill and the hooks that are processes."""
    rows: list[Row] = []
    # The last worker may still be closing its index.
    with tempfile.TemporaryDirectory(prefix="daybook-capture-", ignore_cleanup_errors=True) as folder:
        for name, unit, figure in measure(Path(folder), backfill_mb, worker_mb):
            rows.append((name, unit, figure))
            click.echo(f"{name}: {figure:.4g} {unit}", err=True)
    table_text = table(rows)
    click.echo(table_text)
    if write:
        replace_table("learning", "capture", table_text)


def measure(folder: Path, backfill_mb: int, worker_mb: int) -> Iterator[Row]:
    """Yield (what, unit, figure), each in a store of its own below the empty *folder*."""
    with ScriptedModel(proposing) as api:
        model = {"DAYBOOK_MODEL_CALLS": "true", "ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": api.url}
        model |= {"DAYBOOK_DAILY_CALLS": "10000", "DAYBOOK_DAILY_USD": "100"}
        yield from after_the_end(Place(folder / "ends", model))
        for name, more in (("without model", {}), ("with model", model)):
            yield from worker_costs(Place(folder / name.replace(" ", "-"), more), worker_mb, name)
    yield from taken_in(Place(folder / "old", {}), backfill_mb)
    yield from hooks(Place(folder / "hooks", {}))


class Place:
    """A store, a project and transcripts in a folder of their own."""

    def __init__(self, folder: Path, more: Mapping[str, str]) -> None:
        self.project = folder / "shop"
        self.projects = folder / "projects"
        self.project.mkdir(parents=True)
        self.environment = {
            **os.environ, "HOME": str(folder), "MEMORY_DIR": str(folder / "memory"), "PYTHONPATH": str(ROOT),
            "CLAUDE_PROJECT_DIR": str(self.project), "EMBEDDING_MODEL": "minilm-l6", **more,
        }  # fmt: skip

    def opened(self) -> Opened:
        return Opened(self.environment, folder=self.project)

    def transcript(self, name: str, size: int) -> Path:
        """Write a session of about *size* bytes."""
        path = self.projects / "shop" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8") as handle:
            for line in lines(name, self.project):
                handle.write(line)
                if handle.tell() >= size:
                    break
        return path

    def starts(self, path: Path) -> float:
        """Let a session start; return how many milliseconds the hook's process takes."""
        return self._hook("SessionStart", {"session_id": path.stem, "source": "startup"})

    def ends(self, path: Path) -> float:
        """Let the session of *path* end; return how many milliseconds the hook's process takes."""
        return self._hook("SessionEnd", {"session_id": path.stem, "transcript_path": str(path)})

    def _hook(self, event: str, fields: dict[str, str]) -> float:
        event_json = json.dumps({**fields, "cwd": str(self.project)}).encode()
        run = partial(subprocess.run, env=self.environment, input=event_json, check=True, capture_output=True)
        return timed(run, command("hook", event))

    def until(self, event: str, path: Path) -> float:
        """Return when the ledger says so of the whole of *path*, as `time.perf_counter` does."""
        size = path.stat().st_size
        end = time.perf_counter() + PATIENCE
        while time.perf_counter() < end:
            for ledger in (Path(self.environment["MEMORY_DIR"]) / "ledger").glob("*.jsonl"):
                whole_lines = ledger.read_text(encoding="utf-8").rpartition("\n")[0]
                for line in whole_lines.splitlines():
                    event_line = json.loads(line) if event in line else {}
                    if (
                        event_line.get("path") == str(path)
                        and event_line["event"] == event
                        and event_line["end"] == size
                    ):
                        return time.perf_counter()
            time.sleep(0.002)  # as exact as the figure need be, and the worker has the processor
        raise TimeoutError(f"there was no {event} in {PATIENCE:.0f} seconds")


def lines(name: str, project: Path) -> Iterator[str]:
    """Yield the lines of a session for ever: the recorded ones, each time with other words and times."""
    rng = random.Random(name)
    recorded = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    now = datetime(2026, 11, 1, 9, tzinfo=UTC)
    while True:
        for entry in recorded:
            now += timedelta(seconds=5)
            line: dict[str, Any] = {
                **entry,
                "timestamp": f"{now:%Y-%m-%dT%H:%M:%S}.000Z",
                "cwd": str(project),
            }
            if isinstance(entry.get("message"), dict):
                line["message"] = reworded(entry["message"], rng)
            yield json.dumps(line) + "\n"


def reworded(message: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return *message* with its texts followed by words that nobody used before."""

    def words() -> str:
        words = ("".join(rng.choices(SYLLABLES, k=rng.randrange(1, 5))) for _ in range(rng.randrange(10, 60)))
        return f"We decided on {' '.join(words)}."

    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": f"{content} {words()}"}
    blocks = [
        {**block, "text": f"{block['text']} {words()}"} if block.get("type") == "text" else block
        for block in content or []
    ]
    return {**message, "content": blocks}


def proposing(body: dict[str, Any]) -> Answer:
    """Propose the last decision of the piece."""
    piece = str(body["messages"][0]["content"]).partition("<transcript>")[2]
    fact = piece.rpartition("We decided on ")[2].partition(".")[0][:300]
    if not fact:
        return reply()
    content = f"We decided on {fact}."
    proposal = {"type": "decision", "title": content[:60], "content": content, "tags": [], "supersedes": None}
    return reply(json.dumps([{**proposal, "evidence": content}]))


def after_the_end(place: Place) -> Iterator[Row]:
    kept_after, learned_after = [], []
    for number in range(ROUNDS + 1):
        path = place.transcript(f"session-{number}", 75_000)
        place.ends(path)
        ended = time.perf_counter()
        kept_after.append(place.until("transcript_kept", path) - ended)
        learned_after.append(place.until("transcript_learned", path) - ended)
        wait_for_the_worker(place)
    yield (
        f"from the end of a session of 75 KB until it is kept, median of {ROUNDS}",
        "s",
        percentile(kept_after[1:], 50),
    )
    yield "until it is learned, the model answering at once", "s", percentile(learned_after[1:], 50)


def wait_for_the_worker(place: Place) -> None:
    from mcp_server.actions.upkeep.work import LOCK
    from mcp_server.adapters import files

    with files.lock(Path(place.environment["MEMORY_DIR"]) / LOCK):
        pass


MEASURED = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "mcp_server.doors.worker"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def worker_costs(place: Place, megabytes: int, name: str) -> Iterator[Row]:
    path = place.transcript("session", megabytes * 1_000_000)
    opened = place.opened()
    subprocess.run([sys.executable, "-c", MEASURED], env=place.environment, check=True, capture_output=True)
    note_ended(opened.store().in_session("session"), path, folder=str(place.project))
    # A process counts as its own peak what its parent had when it was started: this one is small.
    process = subprocess.run(
        [sys.executable, "-c", MEASURED], env=place.environment, check=True, capture_output=True, text=True
    )
    seconds, kibibytes = process.stdout.split()
    yield f"worker {name}, for each MB of transcript", "CPU s", float(seconds) / megabytes
    yield f"worker {name}, at most", "MB", int(kibibytes) / 1000
    opened.database.close()


def taken_in(place: Place, megabytes: int) -> Iterator[Row]:
    for number in range(megabytes // 2):
        place.transcript(f"session-{number}", 2_000_000)
    opened = place.opened()
    paths = pending_transcripts(opened.store(), place.projects)
    size = sum(path.stat().st_size for path in paths) / 1e6
    started = time.perf_counter()
    report = backfill(lambda folder: opened.store(folder=folder), paths)
    seconds = time.perf_counter() - started
    assert not report.failed, report.failed
    yield f"backfill of {size:.0f} MB", "MB/s", size / seconds
    yield "backfill, utterances", "1/s", report.utterances / seconds
    opened.database.close()


def hooks(place: Place) -> Iterator[Row]:
    paths = [place.transcript(f"session-{number}", 75_000) for number in range(HOOKS + 1)]
    started = []
    ended = []
    for path in paths:
        started.append(place.starts(path))
        ended.append(place.ends(path))
        place.until("transcript_kept", path)
        wait_for_the_worker(place)  # it would be measured too
    for name, times in (("SessionStart", started[1:]), ("SessionEnd", ended[1:])):
        yield f"{name} hook, a process, p50", "ms", percentile(times, 50)
        yield f"{name} hook, a process, p95", "ms", percentile(times, 95)


def table(rows: list[Row]) -> str:
    """Return *rows* as a markdown table, and what they were measured on."""
    cells = [
        (title, unit, f"{figure:.0f}" if figure >= 100 else f"{figure:.3g}") for title, unit, figure in rows
    ]
    load = f"Load of the machine at the end: {os.getloadavg()[0]:.1f}."
    table_text = tabulate(cells, ["what", "unit", "measured"], tablefmt="github", disable_numparse=True)
    return f"{table_text}\n\n{machine()} {load}"


if __name__ == "__main__":
    main()
