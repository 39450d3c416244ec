"""
Makes the weights by which a prompt gets memories: `python benchmarks/prompt_gate.py FOLDER… [--apart]`.

They stand in `core/search/confidence.py`. Each FOLDER is a project, as in `prompts.py`; each is taken alone
and with 270 other memories around.
With `--apart` nothing is made: each project is measured by numbers and weights of the others only, which is
what to expect of a project that nobody has seen.
They are those of logistic regression: for texts on the first three memories of every answer, for pointers
on the first. What is fitted to a project knows the kind of its prompts from the others, as it will be.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
import numpy as np
from tabulate import tabulate

from benchmarks.calling import embedded, fitted, of_project, together, written
from benchmarks.prompts import FIGURES, FIRST, Shown, figures, rows_of, stored
from mcp_server.actions.context.inject import MOST, SHORTEST_PROMPT
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.kinds.numbers import values
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search import confidence
from mcp_server.core.search.confidence import PromptEvidence, Weights
from mcp_server.core.search.prompt_parts import parts_of
from mcp_server.core.search.query import Confidence, Filter, Query
from mcp_server.embedding import load_embedder

AROUND = (0, 270)  # other memories of the same project
TEXT = ("calling", "maxsim", "lead")  # what speaks for a text; the cosine beside them adds nothing
POINTER = ("calling", "cosine")  # nor do tokens and the lead here
PENALTY = 1.0  # on the squares of the weights, each by how much what it weighs varies


@dataclass(frozen=True, slots=True)
class Answered:
    """A prompt of a project, what it is answered by there, best first, and which names those have."""

    prompt: Mapping[str, Any]
    seen: Sequence[PromptEvidence]
    names: Sequence[str]

    @property
    def useful(self) -> list[bool]:
        return [name in self.prompt["useful"] for name in self.names]


Project = list[list[Answered]]  # alone and with others around: its prompts in their order


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--apart", is_flag=True, help="Measure each project by what was made of the others.")
def main(folders: Sequence[Path], apart: bool) -> None:
    """Print the weights, or what they are worth."""
    projects = {folder.name: [answers_of(folder, around) for around in AROUND] for folder in folders}
    embedder = load_embedder(Path(), "minilm-l6")
    of_no_project = written(embedder)
    of_each = {folder.name: embedded(embedder, of_project(folder)) for folder in folders}

    def calling(name: str, others: Sequence[str]) -> list[float]:
        """Return how much each prompt of the project calls for memories, by what is made of *others*."""
        numbers = fitted(together([of_no_project, *(of_each[other] for other in others)]))
        return [*map(float, values(numbers, of_each[name].vectors, of_each[name].counts)[0])]

    def weights(names: Sequence[str]) -> tuple[Weights, Weights]:
        knowing = [
            (projects[name], calling(name, [other for other in names if other != name])) for name in names
        ]
        return fitted_text(knowing), fitted_pointer(knowing)

    if not apart:
        for named, made_weights in zip(("TEXT", "POINTER"), weights([*projects]), strict=True):
            click.echo(f"{named} = {made_weights}")
        return
    rows: list[list[Any]] = []
    every: list[list[Shown]] = [[] for _ in AROUND]
    for name in projects:
        others = [other for other in projects if other != name]
        weights_found, called_for = weights(others), calling(name, others)
        for place, around in enumerate(AROUND):
            prompts_shown = [
                shown_by(answer, call, *weights_found)
                for answer, call in zip(projects[name][place], called_for, strict=True)
            ]
            every[place] += prompts_shown
            rows.append([name, around, *figures(prompts_shown).values()])
    rows += [
        ["all", around, *figures(prompts_shown).values()]
        for around, prompts_shown in zip(AROUND, every, strict=True)
    ]
    names = FIGURES[:-1]  # the brief has no part in this
    click.echo(tabulate([row[:-1] for row in rows], headers=["project", "around", *names], floatfmt=".2f"))


def answers_of(folder: Path, around: int) -> list[Answered]:
    """Return what each prompt of the project in *folder* finds, with *around* others beside its memories."""
    with tempfile.TemporaryDirectory() as place:
        opened, store, names = stored(folder, Path(place), around)
        answers = []
        for prompt in rows_of(folder / "prompts.jsonl"):
            text = prompt["text"].strip()
            only = Filter(kinds=(Kind.KNOWLEDGE,))
            query = Query(text, limit=2 * MOST, filter=only, parts=parts_of(text), of_prompt=True)
            hits = recall(store, query).hits
            evidence = [
                PromptEvidence(
                    hit.parts.total, hit.parts.cosine, hit.parts.maxsim, hit.confidence is Confidence.HIGH
                )
                for hit in hits
            ]
            answers.append(Answered(prompt, evidence, [names[hit.id] for hit in hits]))
        opened.database.close()
    return answers


def fitted_text(knowing: Sequence[tuple[Project, Sequence[float]]]) -> Weights:
    """Return the weights for texts, of projects and how much each of their prompts calls for memories."""
    rows = [
        (features, useful)
        for project, calls in knowing
        for answers in project
        for answer, call in zip(answers, calls, strict=True)
        for features, useful in [*zip(confidence.features_of(answer.seen, call), answer.useful, strict=True)][
            :FIRST
        ]
    ]
    return _regression(TEXT, rows)


def fitted_pointer(knowing: Sequence[tuple[Project, Sequence[float]]]) -> Weights:
    """Return the weights for pointers, of the same."""
    rows = [
        (confidence.features_of(answer.seen, call)[0], bool(answer.prompt["useful"]))
        for project, calls in knowing
        for answers in project
        for answer, call in zip(answers, calls, strict=True)
        if answer.seen
    ]
    return _regression(POINTER, rows)


def shown_by(answer: Answered, call: float, text: Weights, pointer: Weights) -> Shown:
    """Return what comes with a prompt by these weights."""
    weighed = confidence.in_prompt(answer.seen, call, text, pointer)
    verdicts = [(weighed_hit.verdict, name) for weighed_hit, name in zip(weighed, answer.names, strict=True)]
    long = len(answer.prompt["text"].strip()) >= SHORTEST_PROMPT
    texts = (Confidence.MEDIUM, Confidence.HIGH)
    sure = [name for verdict, name in verdicts if long and verdict in texts][:MOST]
    unsure = [name for verdict, name in verdicts if verdict is not Confidence.NONE and name not in sure]
    useful = frozenset(answer.prompt["useful"])
    return Shown(answer.prompt["id"], "", useful, (*sure, *unsure), tuple(sure), False)


def _regression(names: Sequence[str], rows: Sequence[tuple[confidence.PromptFeatures, bool]]) -> Weights:
    """Return the weights of *names* by which logistic regression tells the *rows* apart (Newton's method)."""
    numbers = np.array([[getattr(features, name) for name in names] for features, _ in rows])
    right = np.array([useful for _, useful in rows], dtype=float)
    middle, spread = numbers.mean(axis=0), numbers.std(axis=0)
    inputs = np.c_[(numbers - middle) / spread, np.ones(len(rows))]
    penalty = np.diag([PENALTY] * len(names) + [0.0])
    coefficients = np.zeros(inputs.shape[1])
    for _ in range(30):
        chances = 1 / (1 + np.exp(-inputs @ coefficients))
        slope = inputs.T @ (chances - right) + penalty @ coefficients
        bend = (inputs.T * (chances * (1 - chances))) @ inputs + penalty
        coefficients -= np.linalg.solve(bend, slope)
    scaled = coefficients[:-1] / spread
    weights_by_name = {name: round(float(weight), 2) for name, weight in zip(names, scaled, strict=True)}
    return Weights(level=round(float(coefficients[-1] - scaled @ middle), 2), **weights_by_name)


if __name__ == "__main__":
    main()
