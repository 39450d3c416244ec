"""
What becomes of something new beside what is known: `python benchmarks/pairs.py [FILE…] [--door mcp]`.

A FILE, by default `tests/data/pairs.tsv`, has pairs of an old and a new memory, each labelled, memories that
concern nothing known, and others that only lie there. Each new one is remembered through one of three doors:
`compare_and_store` in this process, the tool of our server as an MCP client calls it, or the command line.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import anyio
import click
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tabulate import tabulate

from mcp_server.actions.context.open_questions import open_questions
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.adapters.index.memories import selections
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Filter
from mcp_server.core.text.titles import split_title
from mcp_server.store import Store

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data" / "pairs.tsv"
OTHER = "other"  # the kind of what only lies there
COUNTED = ("pairs", "hidden", "lost", "named", "asked")
PATIENCE = 60.0  # seconds until what never comes is an error

Door = Callable[[Path, str, Sequence[str]], Iterable[str]]
"""A folder with a store, its model, and texts → the answer to each, remembered there one after the other."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An old text ('' for none) and a new one, how they stand to each other, and in which language."""

    kind: str
    language: str
    old: str
    new: str


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--door", type=click.Choice(("settle", "mcp", "cli")), default="settle", show_default=True)
@click.option("--every", default=1, show_default=True, help="Ask one in so many of each kind.")
@click.option("--missed", is_flag=True, help="Print the pairs that are not named and the new ones that are.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def main(files: tuple[Path, ...], door: str, every: int, missed: bool, as_json: bool) -> None:
    """Measure what is hidden, lost and named when something new is remembered."""
    wrong: list[str] = []
    labelled = [pair for file in files or (DATA,) for pair in pairs(file)]
    figures = measure(labelled, door=DOORS[door], every=every, wrong=wrong)
    if as_json:
        print(json.dumps(figures))
        return
    header = (
        "kind", "pairs", "the old one is hidden", "words are lost", "named or replaced", "asked by review"
    )  # fmt: skip
    rows = [
        (
            kind, counts["pairs"], counts["hidden"], counts["lost"],
            *(f"{counts[figure] / max(1, counts['pairs']):.2f}" for figure in ("named", "asked")),
        )
        for kind, counts in figures.items()
    ]  # fmt: skip
    print(tabulate(rows, headers=header, tablefmt="github", disable_numparse=True))
    if missed:
        print("", *wrong, sep="\n")


def pairs(file: Path = DATA) -> list[Pair]:
    """Return the labelled pairs of *file*: kind, language, old and new text with tabs between them."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [Pair(*line.split("\t")) for line in lines]


def measure(
    labelled: Iterable[Pair],
    *,
    model: str = "minilm-l6",
    door: Door | None = None,
    every: int = 1,
    wrong: list[str] | None = None,
) -> dict[str, dict[str, int]]:
    """
    Return kind → counts: pairs, old ones that are hidden, pairs whose words are lost, pairs that are named,
    pairs that are an open question, were a person to settle all that come before.

    A kind in another language than English ends with a star. Of what concerns nothing known, `named` counts
    those that are answered with any name, `asked` those that any question is about; what is hidden of what
    only lies there counts for `other`. *wrong* gets a line for each pair that goes wrong.
    """
    labelled_pairs = list(labelled)
    figures: dict[str, dict[str, int]] = {_kind(pair): dict.fromkeys(COUNTED, 0) for pair in labelled_pairs}
    lying = [pair.new for pair in labelled_pairs if pair.kind == OTHER]
    old = [pair for pair in labelled_pairs if pair.old]
    new = [pair for pair in labelled_pairs if not pair.old and pair.kind != OTHER]
    # What concerns nothing known is asked where all the pairs are, the pairs where all of that is.
    for asking, others in ((old, new), (new, old)):
        chosen = _every(asking, every)
        texts = [*lying, *(pair.old for pair in old), *(pair.new for pair in others)]
        with tempfile.TemporaryDirectory(prefix="daybook-pairs-") as folder:
            _measure(Path(folder), texts, chosen, model, door or in_process, figures, wrong)
    return {kind: counts for kind, counts in figures.items() if kind != OTHER or any(counts.values())}


def _measure(
    folder: Path,
    texts: Iterable[str],
    pairs_asked: Sequence[Pair],
    model: str,
    door: Door,
    figures: Mapping[str, dict[str, int]],
    wrong: list[str] | None,
) -> None:
    """Remember *texts*, then what is new of *asked* through *door*, and count what became of them."""
    store = _store(folder, model)
    id_by_text = {text: remember(store, _draft(text)).memory.id for text in dict.fromkeys(texts)}
    embed_pending(store)
    store.database.close()
    ids_known, both_ids = {*id_by_text.values()}, {}
    for pair, answer in zip(
        pairs_asked, door(folder, model, [pair.new for pair in pairs_asked]), strict=True
    ):
        ids = re.findall(r"[a-z0-9][a-z0-9-]*", answer)
        own = next((name for name in re.findall(r"([a-z0-9-]+)\.md\b", answer)), "")
        named = ids_known.intersection(ids) - {own}
        ids_known.add(own)
        old_id = id_by_text.get(pair.old, "")
        both_ids[pair] = {old_id or own, own or old_id}
        counts = figures[_kind(pair)]
        counts["pairs"] += 1
        right = old_id in named if old_id else bool(named)
        counts["named"] += right
        if wrong is not None and right != bool(old_id):
            wrong.append(f"{_kind(pair)}: {pair.old} || {pair.new} || named {', '.join(sorted(named))}")
    store = _store(folder, model)
    sync(store)
    embed_pending(store)
    compare_pending(store)
    with store.database.read() as db:
        open_now = [  # asked about each memory, because of all at once only the first twenty are given
            {question.newer.id, question.older.id}
            for row in selections.row_numbers(db, Filter(), store.keys)
            for question in open_questions(store, db, about=row)
        ]
    gone = {text for text, name in id_by_text.items() if read(store, name).memory.status is not Status.ACTIVE}
    store.database.close()
    kept_words = _kept(store.home)
    for pair in pairs_asked:
        counts = figures[_kind(pair)]
        counts["hidden"] += pair.old in gone
        counts["lost"] += not all(
            split_title(words)[1].rstrip(".") in kept_words for words in (pair.old, pair.new)
        )
        counts["asked"] += any(both_ids[pair] <= open_pair for open_pair in open_now)
    if OTHER in figures:
        figures[OTHER]["hidden"] += len(gone - {pair.old for pair in pairs_asked})


def in_process(folder: Path, model: str, texts: Sequence[str]) -> Iterator[str]:
    """Remember *texts* by `compare_and_store` alone."""
    store = _store(folder, model)
    for text in texts:
        outcome = compare_and_store(store, _draft(text))
        yield " ".join((f"{outcome.id}.md", *outcome.superseded, *(near.id for near in outcome.near)))
    store.database.close()


def by_mcp(folder: Path, model: str, texts: Sequence[str]) -> list[str]:
    """
    Remember *texts* by the tool `remember` of our server, as a client calls it over stdio.

    There is no transcript, so all of it waits for the person: it hides nothing and nobody is asked about it.
    """
    return anyio.run(_by_mcp, folder, model, texts)


async def _by_mcp(folder: Path, model: str, texts: Sequence[str]) -> list[str]:
    environment, project = _environment(folder, model), folder / "shop"
    command = ["-m", "mcp_server"]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=project)
    async with Client(stdio_client(server)) as client:
        with anyio.fail_after(PATIENCE):
            while model != "none" and "words only" in await _called(client, "recall", query="Which?"):
                await anyio.sleep(0.1)
        options = {"type": "decision", "level": "project"}
        return [await _called(client, "remember", content=text, **options) for text in texts]


async def _called(client: Client, tool: str, **arguments: str) -> str:
    result = await client.call_tool(tool, arguments)
    return "".join(block.text for block in result.content if block.type == "text")


def by_cli(folder: Path, model: str, texts: Sequence[str]) -> Iterator[str]:
    """Remember each of *texts* by a process `daybook remember`."""
    for text in texts:
        command = [sys.executable, "-m", "mcp_server.doors.cli", "remember", "--type", "decision", "-"]
        yield subprocess.run(
            command,
            env=_environment(folder, model),
            cwd=folder / "shop",
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout


DOORS: dict[str, Door] = {"settle": in_process, "mcp": by_mcp, "cli": by_cli}


def _environment(folder: Path, model: str) -> dict[str, str]:
    project = str(folder / "shop")
    own = {"MEMORY_DIR": str(folder / "memory"), "HOME": str(folder), "CLAUDE_PROJECT_DIR": project}
    return {**os.environ, **own, "EMBEDDING_MODEL": model, "PYTHONPATH": str(ROOT)}


def _store(folder: Path, model: str) -> Store:
    project = folder / "shop"
    project.mkdir(exist_ok=True)
    environment = {"MEMORY_DIR": str(folder / "memory"), "EMBEDDING_MODEL": model}
    return Opened(environment, folder=project).store()


def _kind(pair: Pair) -> str:
    return pair.kind if pair.language == "en" else f"{pair.kind}*"


def _every(pairs_asked: Sequence[Pair], step: int) -> list[Pair]:
    """Return the first of each *step* pairs of a kind."""
    kinds: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs_asked:
        kinds[_kind(pair)].append(pair)
    return [pair for group in kinds.values() for pair in group[::step]]


def _kept(home: Path) -> str:
    """Return all that stands in an active memory, in the archive or in the history."""
    texts = [path.read_text(encoding="utf-8") for path in home.rglob("*.md")]
    return "\n".join(text for text in texts if "\nstatus: superseded" not in text)


def _draft(words: str) -> Draft:
    title, text = split_title(words)
    return Draft(title, text, type="decision", level=Level.PROJECT)


if __name__ == "__main__":
    main()
