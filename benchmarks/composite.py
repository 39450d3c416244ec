"""
Whether age helps where it should: `python benchmarks/composite.py CHANGELOG…`.

Every entry of a changelog is remembered on the day of its release, each changelog as a project of its own,
and asked for the day after the last release: sorted by relevance, and by the composite.
See results/finding.md.
"""

import json
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from benchmarks.changelogs import ABOUT, Asked, Entry, histories, questions, read_changelog
from benchmarks.measures import DEPTH, measures
from benchmarks.paired import difference
from benchmarks.report import told
from benchmarks.stored_set import project_folder
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import ANY_STATUS, Filter, Query, Sort
from mcp_server.core.text.titles import title_of

FILLED = "filled.json"
SHOWN = ("recall@1", "recall@5", "mrr@10")

Each = dict[str, dict[str, dict[str, float]]]
"""Question → sort order → measure → figure."""


class Moment:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.at


@dataclass(frozen=True, slots=True)
class Project:
    """A changelog and its memories: `ids` gives that of each entry."""

    name: str
    entries: list[Entry]
    ids: dict[int, str]

    @property
    def asked_at(self) -> datetime:
        return max(entry.released for entry in self.entries) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class History:
    """Projects in one store, whose clock is `moment`."""

    opened: Opened
    moment: Moment
    folder: Path
    projects: list[Project]

    def found(self, project: Project, query: Query) -> list[str]:
        """Return the ids that recall finds, best first, asked the day after the last release."""
        self.moment.at = project.asked_at
        store = self.opened.store(folder=project_folder(self.folder, project.name))
        return [hit.id for hit in recall(store, query).hits]


@click.command()
@click.argument(
    "changelogs", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--store", type=click.Path(file_okay=False, path_type=Path), help="Keep the filled store here.")
def main(changelogs: Sequence[Path], as_json: bool, store: Path | None) -> None:
    """Measure sorting by relevance and by the composite on the CHANGELOGS of public projects."""
    entries_by_name = {path.stem: read_changelog(path) for path in changelogs}
    with kept(entries_by_name, store) as history:
        sorts = {sort: asked_both_ways(history, sort) for sort in ABOUT}
    changed = {name: _of_pairs(entries) for name, entries in entries_by_name.items()}
    with kept(changed, None, with_successors=True) as history:
        replaced = superseded(history)
    if as_json:
        click.echo(json.dumps({"sorts": sorts, "superseded": replaced}, indent=2))
        return
    click.echo(table(sorts))
    rows = [[name, figures["questions"], figures["share"]] for name, figures in replaced.items()]
    click.echo(f"\n{tabulate(rows, headers=['superseded memories', 'questions', 'share'], floatfmt='.3f')}")


def asked_both_ways(history: History, sort: str) -> Each:
    """Return what sorting by relevance and by the composite is worth for each question of *sort*."""
    figures_by_question: Each = {}
    for project in history.projects:
        for number, question in enumerate(
            question for question in questions(project.name, project.entries) if question.sort == sort
        ):
            figures_by_question[f"{project.name}/{number}"] = {
                order.value: measures(
                    history.found(project, _query(question, order)), _right(project, question)
                )
                for order in Sort
            }
    return figures_by_question


def superseded(history: History) -> dict[str, dict[str, float]]:
    """
    Return what → how many questions about superseded entries, and the share that was answered well.

    Each question is the first words of an entry that has a successor.
    """
    counts: defaultdict[str, list[bool]] = defaultdict(list)
    for project in history.projects:
        for before, after in superseding(project.entries):
            old, new = project.ids[before.number], project.ids[after.number]
            words = " ".join(before.text.split()[:10])
            now = history.found(project, Query(words))
            everything = history.found(project, Query(words, filter=Filter(statuses=ANY_STATUS)))
            then = history.found(
                project, Query(words, filter=Filter(as_of=before.released + timedelta(hours=12)))
            )
            counts["now: the old one is not shown"].append(old not in now)
            counts["now: the new one is among the first five"].append(new in now)
            counts["include_archived: the old one is among the first five"].append(old in everything)
            counts["as_of its day: the old one is among the first five"].append(old in then)
            counts["as_of its day: the new one is not shown"].append(new not in then)
    return {
        figure: {"questions": len(values), "share": sum(values) / len(values)}
        for figure, values in counts.items()
    }


def superseding(entries: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """Return (older, newer) of entries about the same thing; each entry supersedes and is superseded once."""
    used: set[tuple[str, int]] = set()
    pairs = []
    for chain in histories(entries).values():
        for older, newer in pairwise(chain):
            ends = {("older", older.number), ("newer", newer.number)}
            if older.released < newer.released and not used & ends:
                used |= ends
                pairs.append((older, newer))
    return pairs


def _of_pairs(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that supersede or are superseded."""
    numbers = {entry.number for pair in superseding(entries) for entry in pair}
    return [entry for entry in entries if entry.number in numbers]


def table(sorts: Mapping[str, Each]) -> str:
    """Return for people what the composite changes, for each sort of question."""
    rows = []
    for sort, figures_by_question in sorts.items():
        if not figures_by_question:
            continue
        cells = []
        for measure in SHOWN:
            before, after = (
                {question: figures[order.value][measure] for question, figures in figures_by_question.items()}
                for order in (Sort.RELEVANCE, Sort.COMPOSITE)
            )
            change = difference(before, after)
            cells += [f"{change.before:.3f}", f"{change.after:.3f}", told(change)]
        rows.append([f"{sort}: {ABOUT[sort]}", len(figures_by_question), *cells])
    headers = ["question", "questions"]
    for measure in SHOWN:
        headers += [f"{measure} by relevance", "composite", "change"]
    return tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)


@contextmanager
def kept(
    entries_by_name: Mapping[str, list[Entry]], folder: Path | None, *, with_successors: bool = False
) -> Iterator[History]:
    """Give a store with all entries; it goes afterwards unless *folder* says where it stays."""
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="daybook-benchmark-")))
        made_of = [[name, [entry.text for entry in entries]] for name, entries in entries_by_name.items()]
        note = {}
        if (place / FILLED).is_file():
            note = json.loads((place / FILLED).read_text(encoding="utf-8"))
        if note.get("made_of") != made_of:
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
        moment = Moment()
        opened = Opened({"MEMORY_DIR": str(place / "memory")}, folder=project_folder(place, ""), clock=moment)
        history = History(opened, moment, place, [])
        ids = note.get("ids", {}) if note.get("made_of") == made_of else {}
        for name, entries in entries_by_name.items():
            ids_known = {int(number): memory for number, memory in ids.get(name, {}).items()}
            stored = ids_known or _fill(history, name, entries, with_successors=with_successors)
            history.projects.append(Project(name, entries, stored))
        embed_pending(opened.store())
        filled = {"made_of": made_of, "ids": {project.name: project.ids for project in history.projects}}
        (place / FILLED).write_text(json.dumps(filled), encoding="utf-8")
        yield history


def _fill(history: History, name: str, entries: Sequence[Entry], *, with_successors: bool) -> dict[int, str]:
    """Remember *entries* on the day of their release; return the id of each."""
    older = {newer.number: old.number for old, newer in superseding(entries)} if with_successors else {}
    store = history.opened.store(folder=project_folder(history.folder, name))
    ids: dict[int, str] = {}
    for entry in entries:
        history.moment.at = entry.released
        text = f"{entry.text}\n\n{name} {entry.version}"
        title = title_of(entry.text)
        replaces = (ids[older[entry.number]],) if entry.number in older else ()
        draft = Draft(title, text, level=Level.PROJECT, supersedes=replaces)
        ids[entry.number] = remember(store, draft, keep_secrets=True).memory.id
    return ids


def _query(question: Asked, order: Sort) -> Query:
    return Query(question.text, sort=order, limit=DEPTH)


def _right(project: Project, question: Asked) -> dict[str, int]:
    return {project.ids[number]: 1 for number in question.answers}


if __name__ == "__main__":
    main()
