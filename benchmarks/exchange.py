"""
Do machines that share a memory through a repository all end equal: `python benchmarks/exchange.py 1000`.

Edits, moves, forgets, archives and merges, with clocks that differ; each history has its own homes, its own
bare repository, and is checked as tests/actions/remote does: the same files on each machine, no word lost, no
mark of a conflict. FIRST is the number of the first history. With --memories, how long an exchange takes with
so many memories is measured instead. See results/machines.md.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click

from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.set_up import add, look_ahead
from tests.actions.remote.histories import History
from tests.opened import opened_at

STEPS = 40

T = TypeVar("T")


@click.command()
@click.argument("number", type=int)
@click.argument("first", type=int, default=0)
@click.option("--memories", is_flag=True, help="Measure one exchange with NUMBER memories.")
def main(number: int, first: int, memories: bool) -> None:
    if memories:
        _measure(number)
        return
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


def _measure(number: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        knowledge = folder / "desk" / "knowledge"
        knowledge.mkdir(parents=True)
        for fact in range(number):
            text = (
                f"Fact {fact} says that thing {fact * 7} belongs to place {fact * 13}, and a few words more."
            )
            head = f"id: fact-{fact}\ntitle: Fact {fact}\ntags: []\ncreated: 2026-11-20\nupdated: 2026-11-20"
            (knowledge / f"fact-{fact}.md").write_text(f"---\n{head}\n---\n{text}\n", encoding="utf-8")
        desk, laptop = (opened_at(folder / name).store() for name in ("desk", "laptop"))
        remote = str(folder / "memory.git")
        leaving = _timed("look at what leaves", lambda: look_ahead(desk, remote))
        _timed("give all for the first time", lambda: add(desk, leaving))
        _timed("exchange nothing", lambda: exchange(desk))
        _timed("take all for the first time", lambda: add(laptop, look_ahead(laptop, remote)))
        (knowledge / "fact-0.md").write_text("---\nid: fact-0\n---\nAnother fact.\n", encoding="utf-8")
        _timed("give one", lambda: exchange(desk))
        _timed("take one", lambda: exchange(laptop))


def _timed(name: str, act: Callable[[], T]) -> T:
    began = time.monotonic()
    result = act()
    click.echo(f"{name}: {time.monotonic() - began:.1f} s")
    return result


if __name__ == "__main__":
    main()
