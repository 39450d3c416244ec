"""
Whether what is shown of a memory holds the answer: `python benchmarks/shown.py WHOLES PARTS [--store DIR]`.

Of two sets with the same questions WHOLES has whole documents, and PARTS their parts, each of which names
its document as `parent`. A question is asked of the whole ones; where a right one is among the first three,
what is shown of it should hold a part that is right.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from benchmarks.paired import difference
from benchmarks.question_sets import QuestionSet, read_set
from benchmarks.retrieval import filled
from benchmarks.stored_set import StoredSet, ask
from mcp_server.core.search.query import Hit, Mode
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.words import query_terms

FIRST = 3  # hits that are looked at
LINE = 430  # characters that a prompt is told of a passage, behind the id and the type
BEGINNING = 40  # characters of a part by which it is recognised
SHORTEST = 10  # characters of a part that is looked for

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.argument("wholes", type=_FOLDER)
@click.argument("parts", type=_FOLDER)
@click.option("--store", type=click.Path(file_okay=False, path_type=Path), help="Keep the filled store here.")
def main(wholes: Path, parts: Path, store: Path | None) -> None:
    """Measure how much of what is shown holds the answer: the passage, its beginning, and an excerpt."""
    questions, answers = read_set(wholes), read_set(parts)
    rows = []
    with filled(questions, store) as stored:
        for mode in (Mode.HYBRID, Mode.SEMANTIC, Mode.KEYWORD):
            beginning, by_excerpt, passage = {}, {}, {}
            for name, text, hit, right in _right_hits(questions, answers, stored, mode):
                passage[name] = _holds(hit.text, right)
                beginning[name] = _holds(hit.text[:LINE], right)
                by_excerpt[name] = _holds(excerpt(hit.text, query_terms(text), LINE), right)
            gain = difference(beginning, by_excerpt)
            change = f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
            mean = sum(passage.values()) / len(passage)
            rows.append([mode.value, gain.questions, mean, gain.before, gain.after, change])
    headers = ["way", "right memories", "passage", "its beginning", "excerpt", "change"]
    click.echo(tabulate(rows, headers=headers, floatfmt=".3f"))


def _right_hits(
    questions: QuestionSet, answers: QuestionSet, stored: StoredSet, mode: Mode
) -> Iterator[tuple[str, str, Hit, list[str]]]:
    """Yield (name, question, hit, how its right parts begin) for each right memory among the first hits."""
    parts = {document.id: document for document in answers.documents}
    relevant_by_question = {question.id: question.relevant for question in answers.questions}
    for question in questions.questions:
        right: dict[str, list[str]] = {}
        for part in map(parts.__getitem__, relevant_by_question.get(question.id, ())):
            if len(flat_text := _flat(part.text)) > SHORTEST:
                right.setdefault(stored.documents.get(part.parent, ""), []).append(flat_text[:BEGINNING])
        for hit in ask(stored, question.text, question.group, mode).hits[:FIRST]:
            if hit.id in right:
                yield f"{question.id} {hit.id}", question.text, hit, right[hit.id]


def _holds(shown_text: str, right: list[str]) -> float:
    return float(any(part in _flat(shown_text) for part in right))


def _flat(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    main()
