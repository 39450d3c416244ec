"""
How well recall finds: `python benchmarks/retrieval.py DATA_DIR`.

Every document is stored through the product's own path, each group as a project of its own, and every
question is asked through `recall` in that project, sorted by relevance. See results/finding.md.
"""

import json
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from benchmarks.baselines import Bm25, grep
from benchmarks.gate import FIGURES, foreign_questions, gate_figures
from benchmarks.latency import machine
from benchmarks.measures import MEASURES, mean, measures
from benchmarks.paired import Figures, difference
from benchmarks.question_sets import QuestionSet, find_sets, in_one_pool, read_set
from benchmarks.report import Results, report
from benchmarks.stored_set import StoredSet, ask, count_pending, embed, fill, open_stored
from benchmarks.ways import MODES, WITHOUT, Way, as_in
from mcp_server.core.search.query import Mode


@click.command()
@click.argument("data_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--set", "names", multiple=True, help="Only the set of that name; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--gate", "of_gate", is_flag=True, help="Measure the gate instead: what passes, and what should."
)
@click.option(
    "--store", type=click.Path(file_okay=False, path_type=Path), help="Keep the filled stores here."
)
@click.option(
    "--keep", type=click.Path(dir_okay=False, path_type=Path), help="Keep the figure of each question here."
)
@click.option(
    "--compare",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Tell what changed since the figures that --keep wrote there.",
)
@click.option("--pool", is_flag=True, help="Ignore the groups: ask every question of all documents.")
@click.option(
    "--without", is_flag=True, help="Also measure recall without each of its parts; takes four times as long."
)
@click.option(
    "--report",
    "report_to",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write everything as markdown there: with intervals, differences and --without.",
)
def main(
    data_dir: Path,
    names: Sequence[str],
    as_json: bool,
    of_gate: bool,
    store: Path | None,
    keep: Path | None,
    compare: Path | None,
    pool: bool,
    without: bool,
    report_to: Path | None,
) -> None:
    """Measure grep, BM25 and keyword, semantic and hybrid recall on the question sets in DATA_DIR."""
    if of_gate and report_to:
        raise click.UsageError("--report is about recall; it cannot be had together with --gate.")
    ways = (*MODES, *WITHOUT) if without or report_to else MODES
    results_by_set: dict[str, Results] = {}
    figures_by_set: dict[str, Figures] = {}
    before: dict[str, Figures] = json.loads(compare.read_text(encoding="utf-8")) if compare else {}
    sets = _read(data_dir, () if of_gate else names)  # the gate is asked questions of the other sets too
    for each_set in sets:
        if names and each_set.name not in names:
            continue
        questions = in_one_pool(each_set) if pool else each_set
        with filled(questions, store) as stored:
            if of_gate:
                results = gate(questions, stored, sets)
            else:
                results, figures_by_set[questions.name] = retrieval(questions, stored, ways)
        results_by_set[questions.name] = results
        if not as_json:
            click.echo(table(questions.name, results, FIGURES if of_gate else MEASURES))
        if questions.name in before and not of_gate:
            click.echo(changes(before[questions.name], figures_by_set[questions.name]), err=as_json)
    if not results_by_set:
        raise click.ClickException(f"There is no such set in {data_dir}.")
    if report_to:
        report_to.parent.mkdir(parents=True, exist_ok=True)
        report_to.write_text(
            report(results_by_set, figures_by_set, before=before, heading=machine()), encoding="utf-8"
        )
    if keep:
        keep.write_text(json.dumps(figures_by_set), encoding="utf-8")
    if as_json:
        click.echo(json.dumps({"gate" if of_gate else "sets": results_by_set}, indent=2))


def retrieval(questions: QuestionSet, stored: StoredSet, ways: Sequence[Way]) -> tuple[Results, Figures]:
    """
    Return way → measure → mean over the questions that have an answer, and way → question → nDCG@10.

    The baselines grep and bm25 come first, then *ways*.
    """
    texts = _texts_by_group(questions, stored)
    indexes = {group: Bm25(texts_of_group) for group, texts_of_group in texts.items()}
    answerable = [question for question in questions.questions if question.relevant]
    every: dict[str, list[dict[str, float]]] = {name: [] for name in ("grep", "bm25")}
    every |= {way.name: [] for way in ways}
    with _progress(f"{questions.name}: ask", len(answerable)) as advance:
        for question in answerable:
            relevant = stored.relevant(question.relevant)
            text, group = question.text, question.group
            every["grep"].append(measures(grep(text, texts[group]), relevant))
            every["bm25"].append(measures(indexes[group].search(text), relevant))
            for way in ways:
                with as_in(way):
                    ranking = [hit.id for hit in ask(stored, text, group, way.mode).hits]
                every[way.name].append(measures(ranking, relevant))
            advance(1)
    return {way: mean(results) for way, results in every.items()}, {
        way: {question.id: result["ndcg@10"] for question, result in zip(answerable, results, strict=True)}
        for way, results in every.items()
    }


def gate(questions: QuestionSet, stored: StoredSet, others: Sequence[QuestionSet]) -> Results:
    """Return way of searching → figure of the gate → share."""
    foreign = foreign_questions(questions, others)
    count = 2 * len(questions.questions) + len(foreign)
    results: Results = {}
    for mode in (Mode.HYBRID, Mode.KEYWORD):
        with _progress(f"{questions.name}: {mode.value}", count) as advance:
            results[mode.value] = gate_figures(questions, stored, foreign, mode, advance)
    return results


def table(name: str, results: Results, columns: Sequence[str]) -> str:
    """Return the results of one set for people."""
    rows = [[way, *(figures.get(column) for column in columns)] for way, figures in results.items()]
    return f"\n{tabulate(rows, headers=[name, *columns], floatfmt='.3f', missingval='-')}"


def changes(before: Figures, after: Figures) -> str:
    """Return for people what became of the nDCG@10 of each way of searching, and how sure that is."""
    rows = [
        [way, change.before, change.after, f"{change.mean:+.3f}", f"{change.low:+.3f} to {change.high:+.3f}"]
        for way in after
        if way in before
        for change in [difference(before[way], after[way])]
    ]
    headers = ["ndcg@10", "before", "after", "change", "95 of 100 times"]
    return f"\n{tabulate(rows, headers=headers, floatfmt='.3f', disable_numparse=[3, 4])}"


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
    """Return group → memory → its text in lower case, for the baseline; '' has the texts of all groups."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for document in questions.documents:
        memory = stored.documents.get(document.id, document.id)
        text = f"{document.title}\n{document.speaker} {document.timestamp}\n{document.text}"
        for group in (document.group, ""):
            texts[group][memory] = text.lower()
    return texts


def _read(data_dir: Path, names: Collection[str]) -> list[QuestionSet]:
    """Return the sets of those *names*, all when there are none."""
    folders = [place for place in find_sets(data_dir) if not names or place.resolve().name in names]
    try:
        return [read_set(folder) for folder in folders]
    except (KeyError, ValueError) as error:
        raise click.ClickException(f"A set in {data_dir} cannot be read: {error!r}") from error


@contextmanager
def _progress(label: str, length: int) -> Iterator[Callable[[int], None]]:
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update


if __name__ == "__main__":
    main()
