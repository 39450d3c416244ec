"""
The attack, part by part: `python -m benchmarks.attack [PART…] [--quick] [--seed N] [--write]`.

Every part runs in a process of its own, with a home of its own, and is ended when it takes too long; what it
leaves behind is ended and deleted. With --write the table in results/attack.md is replaced.
With --saved FOLDER nothing is attacked: the rows come from what --json printed into FOLDER/PART.json before.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click
from tabulate import tabulate

from benchmarks.attack.one import PARTS, part
from benchmarks.attack.outcome import MOST_SHOWN, Part, Row
from benchmarks.latency import machine
from benchmarks.pages import replace_table

ROOT = Path(__file__).resolve().parents[2]
MEMORY = Path("/dev/shm")  # a kill does not ask how fast the disk is
OURS = ("MEMORY_DIR", "EMBEDDING_MODEL", "CLAUDE", "DAYBOOK", "ANTHROPIC", "GIT_")
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
LATER = 10.0  # seconds in which what a part started ends by itself


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@click.option("--quick", is_flag=True, help="Try little: about two minutes for all parts.")
@click.option("--seed", default=20261122, show_default=True, help="The same seed tries the same again.")
@click.option("--count", type=int, help="How often to try, instead of what the part has.")
@click.option("--planted", is_flag=True, help="Plant a fault in each part, which must be noticed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--saved", type=FOLDER, help="Attack nothing: take the rows from PART.json, as --json prints them."
)
@click.option("--write", is_flag=True, help="Replace the table in results/attack.md.")
def main(
    parts: tuple[str, ...],
    quick: bool,
    seed: int,
    count: int | None,
    planted: bool,
    as_json: bool,
    saved: Path | None,
    write: bool,
) -> None:
    """Attack Daybook, and tell what was tried how often and what failed; ends with 1 when anything did."""
    rows: dict[str, list[Row]] = {}
    for name in parts or PARTS:
        if saved:
            rows |= read_rows(saved / f"{name}.json")
        else:
            rows[name] = _told(part(name), seed, count, quick=quick, planted=planted)
    if as_json:
        listed = [{"part": name, **asdict(row)} for name, part_rows in rows.items() for row in part_rows]
        click.echo(json.dumps(listed, indent=2))
    else:
        click.echo(table(rows))
    if write:
        replace_table("attack", "attack", f"{table(rows)}\n\n{machine()} Seed {seed}.")
    if any(row.is_bad for part_rows in rows.values() for row in part_rows):
        sys.exit(1)


def _told(chosen: Part, seed: int, count: int | None, *, quick: bool, planted: bool) -> list[Row]:
    """Run one part, and tell how it goes and what failed."""
    times = count or (chosen.quick if quick else chosen.count)
    click.echo(f"{chosen.name}: {chosen.tries} ({times})", err=True)
    began = time.monotonic()
    rows = attack(chosen, times, seed, planted=planted)
    click.echo(f"{chosen.name}: {time.monotonic() - began:.0f} s", err=True)
    for row in rows:
        for fault in row.failures[:MOST_SHOWN]:
            click.echo(f"FAILED {chosen.name}, {row.what}: {fault}", err=True)
        if row.failed:
            again = f"python -m benchmarks.attack {chosen.name} --count {times} --seed {seed}"
            click.echo(f"       {row.failed} failed; again: {again}", err=True)
    return rows


def read_rows(path: Path) -> dict[str, list[Row]]:
    """Return the rows that --json printed into the file *path*, by part; nothing when it is not there."""
    rows: dict[str, list[Row]] = {}
    if path.exists():
        for row in json.loads(path.read_text(encoding="utf-8")):
            rows.setdefault(row.pop("part"), []).append(Row(**row))
    else:
        click.echo(f"{path} is not there: the table lacks it", err=True)
    return rows


def attack(chosen: Part, count: int, seed: int, *, planted: bool = False) -> list[Row]:
    """Run one part in a process of its own, and return its rows; nothing of it stays."""
    in_memory = chosen.in_memory and os.access(MEMORY, os.W_OK)
    with tempfile.TemporaryDirectory(
        prefix="daybook-attack-", dir=MEMORY if in_memory else None, ignore_cleanup_errors=True
    ) as place:
        scratch = Path(place)
        for name in ("home", "tmp", "work"):
            (scratch / name).mkdir()
        words = [chosen.name, str(count), str(seed), str(scratch / "work"), *(["planted"] if planted else [])]
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.attack.one", *words],
            env=environment(scratch),
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, _ = process.communicate(timeout=chosen.longest)
            rows = [Row(**row) for row in json.loads(out.splitlines()[-1])]
        except subprocess.TimeoutExpired:
            rows = [Row(chosen.tries, count, [f"it did not end within {chosen.longest:.0f} s"])]
        except (ValueError, IndexError):
            rows = [Row(chosen.tries, count, [f"the part itself ended with {process.wait()}"])]
        finally:
            count_left = end_all(process, scratch)
    if count_left:
        rows.append(Row("processes that outlive their part", count_left, [f"{count_left} had to be ended"]))
    return rows


def environment(scratch: Path) -> dict[str, str]:
    """Return the environment of a part: nothing of the person's Daybook, Claude Code or git."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return inherited | {
        "HOME": str(scratch / "home"),
        "TMPDIR": str(scratch / "tmp"),
        "PYTHONPATH": str(ROOT),
        "EMBEDDING_MODEL": "none",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


def end_all(process: "subprocess.Popen[bytes]", scratch: Path) -> int:
    """End what *process* left running: its group, and who else has its home; return how many that took."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()
    until = time.monotonic() + LATER
    while (pids := _at_home(scratch)) and time.monotonic() < until:
        time.sleep(0.1)  # between two looks: processes of others cannot be waited for
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with suppress(OSError):
        for mounted in (scratch / "work").glob("**/disk"):
            if os.path.ismount(mounted):
                subprocess.run(["umount", "--lazy", str(mounted)], check=False)
    return len(pids)


def _at_home(scratch: Path) -> list[int]:
    """Return the processes whose environment names *scratch*, where the system tells."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if str(scratch).encode() in entry.read_bytes():
                pids.append(int(entry.parent.name))
    return [pid for pid in pids if pid != os.getpid()]


def table(rows_by_part: dict[str, list[Row]]) -> str:
    """Return the rows as a markdown table; what failed is bold."""
    rows = [
        [
            name,
            row.what,
            f"{row.tried:,}",
            f"**{row.failed:,}**" if row.is_bad else f"{row.failed:,}",
            row.figures,
        ]
        for name, rows in rows_by_part.items()
        for row in rows
    ]
    headers = ["part", "what was tried", "times", "failed", "figures"]
    table_text = tabulate(rows, headers, tablefmt="github", disable_numparse=True)
    return re.sub(r" {2,}", " ", re.sub(r"-{4,}", "---", table_text))


if __name__ == "__main__":
    main()
