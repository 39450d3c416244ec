"""
How well recall finds: `python benchmarks/retrieval.py DATA_DIR`.

Every document is stored through the product's own path, each group as a project of its own, and every
question is asked through `recall` in that project, sorted by relevance. See README.md beside this file.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from benchmarks.measures import DEPTH, MEASURES, grep, mean, measures
from benchmarks.question_sets import Question, QuestionSet, find_sets, read_set
from benchmarks.stored_set import StoredSet, count_pending, embed, fill, open_stored
from mcp_server.actions.recall import recall
from mcp_server.core.query import Answer, Filter, Mode, Query, Sort

Results = dict[str, dict[str, float]]


@click.command()
@click.argument("data_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--set", "names", multiple=True, help="Only the set of that name; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--store", type=click.Path(file_okay=False, path_type=Path), help="Keep the filled stores here."
)
def main(data_dir: Path, names: Sequence[str], as_json: bool, store: Path | None) -> None:
    """Measure keyword, semantic and hybrid recall, and grep, on the question sets in DATA_DIR."""
    folders = [folder for folder in find_sets(data_dir) if not names or folder.resolve().name in names]
    if not folders:
        raise click.ClickException(f"There is no such set in {data_dir}.")
    found: dict[str, Results] = {}
    for folder in folders:
        questions = read_set(folder)
        with filled(questions, store) as stored:
            found[questions.name] = retrieval(questions, stored)
        if not as_json:
            click.echo(table(questions.name, found[questions.name]))
    if as_json:
        click.echo(json.dumps({"sets": found}, indent=2))


def retrieval(questions: QuestionSet, stored: StoredSet) -> Results:
    """Return way of searching → measure → mean over the questions that have an answer."""
    texts = _texts_by_group(questions, stored)
    answerable = [question for question in questions.questions if question.relevant]
    every: dict[str, list[dict[str, float]]] = {"grep": [], **{mode.value: [] for mode in Mode}}
    with _progress(f"{questions.name}: ask", len(answerable)) as advance:
        for question in answerable:
            relevant = stored.relevant(question.relevant)
            lines = grep(question.text, texts.get(question.group, {}))
            every["grep"].append(measures(lines, relevant))
            for mode in Mode:
                ranking = [hit.id for hit in ask(stored, question, mode).hits]
                every[mode.value].append(measures(ranking, relevant))
            advance(1)
    return {way: mean(results) for way, results in every.items()}


def ask(stored: StoredSet, question: Question, mode: Mode, *, group: str | None = None) -> Answer:
    """Return what recall answers to *question* in the project of its group, or of *group*."""
    where = question.group if group is None else group
    query = Query(question.text, mode=mode, sort=Sort.RELEVANCE, limit=DEPTH, filter=Filter())
    return recall(stored.store(where), query)


def table(name: str, results: Results) -> str:
    """Return the results of one set for people."""
    rows = [[way, *(results[way][measure] for measure in MEASURES)] for way in results]
    return f"\n{tabulate(rows, headers=[name, *MEASURES], floatfmt='.3f')}"


@contextmanager
def filled(questions: QuestionSet, keep: Path | None) -> Iterator[StoredSet]:
    """Give the store of a set, filled and embedded; it goes afterwards unless *keep* says where it stays."""
    with ExitStack() as stack:
        folder = (
            keep / questions.name
            if keep
            else Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="daybook-benchmark-")))
        )
        stored = open_stored(folder, questions) if keep else None
        if not stored:
            if folder.exists() and keep:
                shutil.rmtree(folder)
            folder.mkdir(parents=True, exist_ok=True)
            with _progress(f"{questions.name}: store", len(questions.documents)) as advance:
                stored = fill(folder, questions, progress=advance)
        if stored.cut:
            click.echo(f"{questions.name}: {stored.cut} documents were too long and were cut.", err=True)
        with _progress(f"{questions.name}: embed", count_pending(stored)) as advance:
            embed(stored, progress=advance)
        yield stored


def _texts_by_group(questions: QuestionSet, stored: StoredSet) -> dict[str, dict[str, str]]:
    """Return group → memory → its text in lower case, for the baseline."""
    texts: dict[str, dict[str, str]] = {}
    for document in questions.documents:
        said = f"{document.title}\n{document.speaker} {document.timestamp}\n{document.text}"
        texts.setdefault(document.group, {})[stored.documents[document.id]] = said.lower()
    return texts


@contextmanager
def _progress(label: str, length: int) -> Iterator[Callable[[int], None]]:
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update


if __name__ == "__main__":
    main()
