"""
What becomes of something new beside what is known: `python benchmarks/pairs.py [--json]`.

`tests/data/pairs.tsv` has pairs of an old and a new memory, each labelled, and memories that concern nothing
known. Each new one goes through `settle`, as `remember` does, in a store that holds over 300 others.
"""

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from mcp_server.actions.compare import compare_pending
from mcp_server.actions.embed import embed_pending
from mcp_server.actions.questions import open_questions
from mcp_server.actions.read import read
from mcp_server.actions.remember import remember
from mcp_server.actions.settle import Settled, settle
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft, Level, Status, split_title
from mcp_server.store import Store

DATA = Path(__file__).resolve().parent.parent / "tests" / "data" / "pairs.tsv"
KINDS = ("same", "update", "contradiction", "sibling", "contains", "limits", "new")


@dataclass(frozen=True, slots=True)
class Pair:
    """An old text ('' for none) and a new one, how they stand to each other, and in which language."""

    kind: str
    language: str
    old: str
    new: str


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the shares as JSON.")
def main(as_json: bool) -> None:
    """Measure what is hidden, lost and named when something new is remembered."""
    figures = measure(pairs())
    if as_json:
        print(json.dumps(figures))
        return
    header = (
        "kind", "pairs", "the old one is hidden", "words are lost", "named or replaced", "asked by review"
    )  # fmt: skip
    rows = [
        (
            kind, each["pairs"], each["hidden"], each["lost"],
            *(f"{each[what] / each['pairs']:.2f}" for what in ("named", "asked")),
        )
        for kind, each in figures.items()
    ]  # fmt: skip
    print(tabulate(rows, headers=header, tablefmt="github"))


def pairs() -> list[Pair]:
    """Return the labelled pairs."""
    lines = DATA.read_text(encoding="utf-8").splitlines()
    return [Pair(*line.split("\t")) for line in lines]


def measure(labelled: Iterable[Pair], *, model: str = "minilm-l6") -> dict[str, dict[str, int]]:
    """
    Return kind → counts: pairs, old ones that are hidden, pairs whose words are lost, pairs that are named,
    pairs that are an open question, were a person to settle all that come before.

    A kind in another language than English ends with a star. Of what concerns nothing known, `named` counts
    those that are answered with any name, `asked` those that any question is about.
    """
    known = list(labelled)
    figures: dict[str, dict[str, int]] = defaultdict(
        lambda: dict.fromkeys(("pairs", "hidden", "lost", "named", "asked"), 0)
    )
    # What concerns nothing known is asked where all the pairs are, the pairs where all of that is.
    for asked, others in (
        ([pair for pair in known if pair.old], [pair.new for pair in known if not pair.old]),
        ([pair for pair in known if not pair.old], [pair.new for pair in known if pair.old]),
    ):
        with tempfile.TemporaryDirectory(prefix="daybook-pairs-") as folder:
            store = _filled(Path(folder), [*(pair.old for pair in known if pair.old), *others], model)
            ids = [_count(store, pair, figures) for pair in asked]
            embed_pending(store)
            compare_pending(store)
            with store.database.read() as db:
                open_now = open_questions(store, db, limit=10_000)
            for pair, both in zip(asked, ids, strict=True):
                _counts(figures, pair)["asked"] += any(
                    both <= {one.newer.id, one.older.id} for one in open_now
                )
            store.database.close()
    order = {kind: number for number, kind in enumerate(KINDS)}
    return dict(sorted(figures.items(), key=lambda each: (order[each[0].rstrip("*")], each[0])))


def _filled(folder: Path, texts: Iterable[str], model: str) -> Store:
    project = folder / "shop"
    project.mkdir()
    environment = {"MEMORY_DIR": str(folder / "memory"), "EMBEDDING_MODEL": model}
    store = Opened(environment, folder=project).store()
    for text in texts:
        remember(store, _draft(text))
    embed_pending(store)
    return store


def _counts(figures: dict[str, dict[str, int]], pair: Pair) -> dict[str, int]:
    return figures[pair.kind if pair.language == "en" else f"{pair.kind}*"]


def _count(store: Store, pair: Pair, figures: dict[str, dict[str, int]]) -> set[str]:
    """Count what becomes of *pair*; return the ids of its memories."""
    counts = _counts(figures, pair)
    old = remember(store, _draft(pair.old)).memory.id if pair.old else ""  # known: its id
    done = settle(store, _draft(pair.new))
    counts["pairs"] += 1
    if not old:
        counts["named"] += bool(_named(done))
        return {done.id}
    counts["hidden"] += read(store, old).memory.status is not Status.ACTIVE
    counts["lost"] += not _stands(store, pair)
    counts["named"] += old in _named(done) or done.id == old
    return {old, done.id}


def _named(done: Settled) -> set[str]:
    return {*done.superseded, *(near.id for near in done.near)}


def _stands(store: Store, pair: Pair) -> bool:
    """Tell whether the words of both stand in some active memory."""
    texts = [path.read_text(encoding="utf-8") for path in store.home.rglob("knowledge/*.md")]
    active = [text for text in texts if "\nstatus: superseded" not in text]
    said = [split_title(words)[1].rstrip(".") for words in (pair.old, pair.new)]
    return all(any(words in text for text in active) for words in said)


def _draft(words: str) -> Draft:
    title, text = split_title(words)
    return Draft(title, text, type="decision", level=Level.PROJECT)


if __name__ == "__main__":
    main()
