"""
Does a memory still answer when its question was asked before: `python benchmarks/echo.py FOLDER`.

FOLDER holds question sets. Of each, forty questions and what answers them are stored with four hundred other
documents. Then every question is asked in six earlier sessions, of which one had the right answer and five a
vague one or none. Each question is asked of the knowledge alone, as if nobody had asked before, and then of
everything, as a session asks. See results/finding.md.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from benchmarks.latency import machine
from benchmarks.measures import DEPTH, measures
from benchmarks.question_sets import Document, Question, QuestionSet, find_sets, read_set
from benchmarks.retrieval import filled
from benchmarks.stored_set import StoredSet, embed, kinds_of
from mcp_server.actions.memory.conversation import save_conversation
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory_parts import Kind
from mcp_server.core.render import estimated_tokens
from mcp_server.core.search.query import Answer, Confidence, Filter, Query
from mcp_server.doors.server.replies import shown_lines
from mcp_server.doors.shown.recall import answered

QUESTIONS = 40  # of each set,
OTHERS = 400  # and documents that answer none of them: embedding all takes more than a quarter of an hour
ANSWER = 400  # characters of the right answer, the beginning of the document that answers
VAGUE = (
    "I do not know yet.",
    "Nothing that is stored says so; I could not find it.",
    "That is not clear to me. I will look into it when there is time.",
    "",
    "",
)
ECHOED = "echoed.json"
MOST_LOST = 0.005  # of nDCG@10
MOST_LONGER = 1.3  # times as long as without the earlier sessions

Found = dict[str, float]
T = TypeVar("T")


@click.command()
@click.argument("data_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--set", "names", multiple=True, help="Only the set of that name; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--store", type=click.Path(file_okay=False, path_type=Path), help="Keep the filled stores here."
)
def main(data_dir: Path, names: Sequence[str], as_json: bool, store: Path | None) -> None:
    """Measure what becomes of an answer when its question was asked in six sessions before."""
    results = {}
    for folder in find_sets(data_dir):
        if names and folder.resolve().name not in names:
            continue
        questions = sample(read_set(folder))
        if kinds_of(questions) == (Kind.CONVERSATION,):
            continue  # it has nothing but conversations
        with filled(questions, store) as stored:
            echo(stored, questions)
            embed(stored, progress=lambda _: None)
            results[questions.name] = compared(stored, questions.questions)
    if not results:
        raise click.ClickException(f"There is no such set in {data_dir}.")
    if as_json:
        click.echo(json.dumps({"machine": machine(), "echo": results}, indent=2))
    else:
        headers = ["", *next(iter(results.values()))]
        click.echo(
            tabulate(
                [[name, *figures.values()] for name, figures in results.items()], headers, floatfmt=".3f"
            )
        )
    if any(figures["lost"] > MOST_LOST or figures["longer"] > MOST_LONGER for figures in results.values()):
        raise SystemExit(1)


def sample(whole: QuestionSet) -> QuestionSet:
    """Return some questions of *whole*, evenly taken, with what answers them and other documents."""
    answerable = [question for question in whole.questions if question.relevant]
    questions = _evenly(answerable, QUESTIONS)
    ids_wanted = {document for question in questions for document in question.relevant}
    rest = _evenly([document for document in whole.documents if document.id not in ids_wanted], OTHERS)
    ids_kept = {document.id for document in rest} | ids_wanted
    documents = [document for document in whole.documents if document.id in ids_kept]
    return replace(whole, documents=documents, questions=questions)


def echo(stored: StoredSet, questions: QuestionSet) -> None:
    """Let each question be asked in six sessions, unless the store was kept with them."""
    marker = stored.folder / ECHOED
    if marker.exists():
        return
    texts = {document.id: document for document in questions.documents}
    for question in questions.questions:
        best = max(question.relevant, key=lambda name: question.relevant[name])
        for answer in _answers(texts[best]):
            turns_said = [{"role": "user", "content": question.text}, {"role": "claude", "content": answer}]
            turns = [turn for turn in turns_said if turn["content"]]
            save_conversation(stored.store(question.group), question.text[:80], turns)
    marker.write_text("{}", encoding="utf-8")


def compared(stored: StoredSet, questions: Sequence[Question]) -> Found:
    """Return the means of both ways of asking: nDCG@10, tokens of an answer, share of sure answers."""
    alone, echoed = (_asked(stored, questions, kinds) for kinds in ((Kind.KNOWLEDGE,), ()))
    return {
        "ndcg@10": alone["ndcg"],
        "with echoes": echoed["ndcg"],
        "lost": alone["ndcg"] - echoed["ndcg"],
        "tokens": alone["tokens"],
        "tokens with echoes": echoed["tokens"],
        "longer": echoed["tokens"] / alone["tokens"],
        "high": alone["high"],
        "high with echoes": echoed["high"],
        "conversations": echoed["conversations"],
    }


def _asked(stored: StoredSet, questions: Sequence[Question], kinds: tuple[Kind, ...]) -> Found:
    sums = dict.fromkeys(("ndcg", "tokens", "high", "conversations"), 0.0)
    for question in questions:
        ranked = _recall(stored, question, kinds, DEPTH)
        answer = _recall(stored, question, kinds, Query("").limit)
        relevant = stored.relevant(question.relevant)
        sums["ndcg"] += measures([hit.id for hit in ranked.hits], relevant)["ndcg@10"]
        sums["tokens"] += estimated_tokens(shown_lines(answered(answer, question.text)))
        sums["high"] += answer.verdict is Confidence.HIGH
        sums["conversations"] += sum(hit.kind is Kind.CONVERSATION for hit in answer.hits)
    return {name: total / len(questions) for name, total in sums.items()}


def _recall(stored: StoredSet, question: Question, kinds: tuple[Kind, ...], limit: int) -> Answer:
    filter = Filter(all_projects=not question.group, kinds=kinds)
    return recall(stored.store(question.group), Query(question.text, limit=limit, filter=filter))


def _answers(right: Document) -> Iterator[str]:
    yield right.text[:ANSWER]
    yield from VAGUE


def _evenly(documents: Sequence[T], most: int) -> list[T]:
    """Return at most *most* of *found*, spread over all of it: the same ones every time."""
    step = max(1.0, len(documents) / most)
    return [documents[int(at * step)] for at in range(min(most, len(documents)))]


if __name__ == "__main__":
    main()
