"""
Do machines that share a memory through a repository all end equal: `python benchmarks/exchange.py 1000`.

Edits, moves, forgets, archives and merges, with clocks that differ; each history has its own homes, its own
bare repository, and is checked as tests/actions/remote does: the same files on each machine, no word lost, no
mark of a conflict. FIRST is the number of the first history. See README.md beside this file.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click

from tests.actions.remote.histories import History

STEPS = 40


@click.command()
@click.argument("number", type=int)
@click.argument("first", type=int, default=0)
def main(number: int, first: int) -> None:
    began, failed, clashes = time.monotonic(), list[tuple[int, str]](), 0
    for seed in range(first, first + number):
        with tempfile.TemporaryDirectory() as folder:
            history = History(Path(folder), machines=2 + seed % 2, seed=seed)
            try:
                history.run(STEPS)
                history.check()
            except AssertionError as error:
                failed.append((seed, str(error)[:600]))
                click.echo(f"{seed}: {str(error)[:600]}")
            finally:
                history.close()
            clashes += history.clashes
    seconds = time.monotonic() - began
    click.echo(
        f"{number} histories of {STEPS} steps, {len(failed)} failed, {clashes} open questions,"
        f" {seconds / number:.1f} s each"
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
