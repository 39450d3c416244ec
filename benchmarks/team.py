"""
How well a team's database finds, beside the store of one person: `python benchmarks/team.py DATA_DIR`.

Every document is stored in both, by the same embedder, and every question is asked of both, sorted by
relevance. A team keeps knowledge, so what somebody said is knowledge here, with who said it and when in its
text; a group is a category in the team's database. PostgreSQL is that of the tests, unless --database names
another, empty one.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from benchmarks.latency import machine
from benchmarks.measures import DEPTH, measures
from benchmarks.paired import difference
from benchmarks.question_sets import Document, QuestionSet, find_sets, read_set
from benchmarks.stored_set import StoredSet, ask, embed, fill
from benchmarks.team_database import opened, wait_for_vectors
from mcp_server.actions.files.load import load
from mcp_server.adapters.team.database import PostgresTeam
from mcp_server.core.memory import Memory
from mcp_server.core.search.query import Filter, Mode, Query, Sort
from mcp_server.core.team.team import Role, TeamStorage

WAYS = (Mode.KEYWORD, Mode.SEMANTIC, Mode.HYBRID)


@click.command()
@click.argument("data_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--set", "names", multiple=True, help="Only the set of that name; may be repeated.")
@click.option("--database", default="", help="The URL of an empty database to use, which is filled.")
def main(data_dir: Path, names: Sequence[str], database: str) -> None:
    """Measure nDCG@10 of the embedded store and of a team's database on the question sets in DATA_DIR."""
    rows = []
    for folder in find_sets(data_dir):
        if names and folder.resolve().name not in names:
            continue
        questions = _as_knowledge(read_set(folder))
        with tempfile.TemporaryDirectory(prefix="daybook-benchmark-") as place:
            stored = fill(Path(place), questions, progress=_nothing)
            embed(stored, progress=_nothing)
            meaning = stored.opened.meaning()
            assert meaning, "there is no embedder"
            with opened(database, meaning.embedder) as (url, team):
                assert team.semantic, "there is no pgvector"
                rows += _compared(questions, stored, url, team)
    print(
        tabulate(
            rows, headers=["set", "way", "embedded", "team", "change", "95 of 100 times"], floatfmt=".3f"
        )
    )
    print(machine())


def _compared(
    questions: QuestionSet, stored: StoredSet, url: str, team: PostgresTeam
) -> Iterator[list[object]]:
    """Yield for each way of searching: the set, the way, nDCG@10 of both stores, how they differ."""
    member = team.member_of(team.issue("benchmark", Role.WRITER))
    assert member
    storage = team.storage_for(member)
    for memory in _memories(questions, stored):
        storage.save(memory)
    wait_for_vectors(url)
    answerable = [question for question in questions.questions if question.relevant]
    for way in WAYS:
        figures: dict[str, dict[str, float]] = {"embedded": {}, "team": {}}
        for question in answerable:
            relevant = stored.relevant(question.relevant)
            of_person = [hit.id for hit in ask(stored, question.text, question.group, way).hits]
            of_team = _asked(storage, question.text, question.group, way)
            figures["embedded"][question.id] = measures(of_person, relevant)["ndcg@10"]
            figures["team"][question.id] = measures(of_team, relevant)["ndcg@10"]
        change = difference(figures["embedded"], figures["team"])
        interval = f"{change.low:+.3f} to {change.high:+.3f}"
        yield [questions.name, way.value, change.before, change.after, f"{change.mean:+.4f}", interval]


def _asked(storage: TeamStorage, text: str, group: str, way: Mode) -> list[str]:
    query = Query(text, mode=way, sort=Sort.RELEVANCE, limit=DEPTH, filter=Filter(category=group))
    return [result.stored.memory.id for result in storage.search(query).results]


def _memories(questions: QuestionSet, stored: StoredSet) -> Iterator[Memory]:
    """Yield what the embedded store keeps, each with its group as its category."""
    for group in questions.groups:
        vault = stored.store(group).vaults[-1]
        for path in sorted(Path(vault.root).rglob("*.md")):
            yield replace(load(vault, path).memory, category=group)


def _as_knowledge(questions: QuestionSet) -> QuestionSet:
    return replace(questions, documents=[_said(document) for document in questions.documents])


def _said(document: Document) -> Document:
    if not document.speaker and not document.timestamp:
        return document
    spoken_text = f"{document.speaker} ({document.timestamp}): {document.text}"
    return replace(document, text=spoken_text, speaker="", timestamp="")


def _nothing(_: int) -> None:
    """Hear of progress."""


if __name__ == "__main__":
    main()
