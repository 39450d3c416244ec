"""
Makes the weights by which a prompt gets memories: `python benchmarks/prompt_gate.py FOLDER…`.

They stand in `core/search/confidence.py`. Each FOLDER is a project, as in `prompts.py`, and lies in a folder
of its author; each is taken alone and with 270 other memories around.
What a project is weighed by, how much its prompts call for memories and how far memories bear on them, is
made of projects of other authors, because that is how it will be. So the authors are dealt into groups, and
the numbers are made for each group without it.
What comes with the prompts of each group by the weights of the others is printed, then the weights by all.
The weights are those of logistic regression: for texts on the first three memories of every answer, for
pointers on the first. The prompts of a project that need memories count as much as those that need none,
however many there are of each.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
import numpy as np
from tabulate import tabulate

from benchmarks.bearing import Pairs, pairs_of
from benchmarks.bearing import fitted as fitted_bearing
from benchmarks.calling import Embedded, embedded, fitted, of_project, together, written
from benchmarks.prompts import FIGURES, FIRST, Shown, figures, rows_of, stored
from mcp_server.actions.context.inject import MOST, SHORTEST_PROMPT
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.kinds import bearing
from mcp_server.adapters.kinds.numbers import values
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search import confidence
from mcp_server.core.search.confidence import PromptEvidence, Weights
from mcp_server.core.search.prompt_parts import parts_of
from mcp_server.core.search.query import Confidence, Filter, Query
from mcp_server.embedding import load_embedder

AROUND = (0, 270)  # other memories of the same project
GROUPS = 6  # of authors; numbers are made as often
TEXT = ("calling", "maxsim", "lead")  # what speaks for a text; the cosine beside them adds nothing
POINTER = ("calling", "cosine")  # nor do tokens and the lead here
PENALTY = 1.0  # on the squares of the weights, each by how much what it weighs varies


@dataclass(frozen=True, slots=True)
class Answered:
    """A prompt, how much it calls for memories, what answers it, best first, and which names those have."""

    prompt: Mapping[str, Any]
    calling: float
    seen: Sequence[PromptEvidence]
    names: Sequence[str]

    @property
    def useful(self) -> list[bool]:
        return [name in self.prompt["useful"] for name in self.names]


Project = list[list[Answered]]  # alone and with others around: its prompts in their order


@dataclass(frozen=True, slots=True)
class Learned:
    """What numbers are made of: the prompts of no project, the prompts and the pairs of each."""

    written: Embedded
    prompts: Mapping[Path, Embedded]
    pairs: Mapping[Path, Pairs]

    @classmethod
    def of(cls, folders: Sequence[Path]) -> Self:
        """Return what is learned from the projects in *folders*."""
        embedder = load_embedder(Path(), "minilm-l6")
        return cls(
            written(embedder),
            {folder: embedded(embedder, of_project(folder)) for folder in folders},
            {folder: pairs_of(embedder, folder) for folder in folders},
        )


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(folders: Sequence[Path]) -> None:
    """Print what the weights of other authors are worth for each project, and the weights by all projects."""
    groups = dealt(folders)
    learned = Learned.of(folders)
    projects_by_group = [answered(group, learned) for group in groups]
    rows: list[list[Any]] = []
    every_shown: list[list[Shown]] = [[] for _ in AROUND]
    for group, projects in zip(groups, projects_by_group, strict=True):
        others = [project for some in projects_by_group if some is not projects for project in some]
        text, pointer = fitted_text(others), fitted_pointer(others)
        for folder, project in zip(group, projects, strict=True):
            for place, around in enumerate(AROUND):
                prompts_shown = [shown_by(answer, text, pointer) for answer in project[place]]
                every_shown[place] += prompts_shown
                rows.append([folder.name, around, *figures(prompts_shown).values()])
    rows += [
        ["all", around, *figures(prompts_shown).values()]
        for around, prompts_shown in zip(AROUND, every_shown, strict=True)
    ]
    names = FIGURES[:-1]  # the brief has no part in this
    click.echo(tabulate([row[:-1] for row in rows], headers=["project", "around", *names], floatfmt=".2f"))
    every = [project for projects in projects_by_group for project in projects]
    click.echo(f"\nTEXT = {fitted_text(every)}\nPOINTER = {fitted_pointer(every)}")


def dealt(folders: Sequence[Path]) -> list[list[Path]]:
    """Return *folders* in GROUPS or fewer, those of an author together; raise UsageError for one author."""
    authors = list(dict.fromkeys(folder.resolve().parent for folder in folders))
    if len(authors) < 2:
        raise click.UsageError("Give projects of two authors or more: each is judged by those of others.")
    groups: list[list[Path]] = [[] for _ in range(min(GROUPS, len(authors)))]
    for folder in folders:
        groups[authors.index(folder.resolve().parent) % len(groups)].append(folder)
    return groups


def answered(group: Sequence[Path], learned: Learned) -> list[Project]:
    """Return the projects of *group*, by numbers that are made of what is *learned* from the others."""
    others = [folder for folder in learned.prompts if folder not in group]
    numbers = fitted(together([learned.written, *(learned.prompts[folder] for folder in others)]))
    with tempfile.TemporaryDirectory() as place:
        bearing.NUMBERS = Path(place) / "bearing.npy"
        bearing.write(bearing.NUMBERS, fitted_bearing([learned.pairs[folder] for folder in others]))
        projects = []
        for folder in group:
            prompts = learned.prompts[folder]
            calls = values(numbers, prompts.vectors, prompts.counts)[0].tolist()
            projects.append([answers_of(folder, around, calls) for around in AROUND])
    return projects


def answers_of(folder: Path, around: int, calls: Sequence[float]) -> list[Answered]:
    """Return what each prompt of the project in *folder* finds, with *around* others beside its memories."""
    with tempfile.TemporaryDirectory() as place:
        opened, store, names = stored(folder, Path(place), around)
        answers = []
        for prompt, calling in zip(rows_of(folder / "prompts.jsonl"), calls, strict=True):
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
            answers.append(Answered(prompt, calling, evidence, [names[hit.id] for hit in hits]))
        opened.database.close()
    return answers


def fitted_text(projects: Sequence[Project]) -> Weights:
    """Return the weights for texts, of *projects*."""
    rows = [
        (features, useful, weight)
        for answer, weight in balanced(projects)
        for features, useful in [
            *zip(confidence.features_of(answer.seen, answer.calling), answer.useful, strict=True)
        ][:FIRST]
    ]
    return _regression(TEXT, rows)


def fitted_pointer(projects: Sequence[Project]) -> Weights:
    """Return the weights for pointers, of the same."""
    rows = [
        (confidence.features_of(answer.seen, answer.calling)[0], bool(answer.prompt["useful"]), weight)
        for answer, weight in balanced(projects)
        if answer.seen
    ]
    return _regression(POINTER, rows)


def balanced(projects: Sequence[Project]) -> Iterator[tuple[Answered, float]]:
    """Yield each prompt of *projects* with its weight: those that need memories have half of all weight."""
    for answers in (answers for project in projects for answers in project):
        needing = sum(bool(answer.prompt["useful"]) for answer in answers)
        for answer in answers:
            alike = needing if answer.prompt["useful"] else len(answers) - needing
            yield answer, len(answers) / 2 / alike


def shown_by(answer: Answered, text: Weights, pointer: Weights) -> Shown:
    """Return what comes with a prompt by these weights."""
    weighed = confidence.in_prompt(answer.seen, answer.calling, text, pointer)
    verdicts = [(weighed_hit.verdict, name) for weighed_hit, name in zip(weighed, answer.names, strict=True)]
    long = len(answer.prompt["text"].strip()) >= SHORTEST_PROMPT
    texts = (Confidence.MEDIUM, Confidence.HIGH)
    sure = [name for verdict, name in verdicts if long and verdict in texts][:MOST]
    unsure = [name for verdict, name in verdicts if verdict is not Confidence.NONE and name not in sure]
    useful = frozenset(answer.prompt["useful"])
    return Shown(answer.prompt["id"], "", useful, (*sure, *unsure), tuple(sure), False)


def _regression(
    names: Sequence[str], rows: Sequence[tuple[confidence.PromptFeatures, bool, float]]
) -> Weights:
    """
    Return the weights of *names* by which logistic regression tells the *rows* apart (Newton's method).

    A row has the evidence, whether it is right, and how much it counts.
    """
    numbers = np.array([[getattr(features, name) for name in names] for features, _, _ in rows])
    right, counting = np.array([row[1:] for row in rows], dtype=float).T
    middle, spread = numbers.mean(axis=0), numbers.std(axis=0)
    inputs = np.c_[(numbers - middle) / spread, np.ones(len(rows))]
    penalty = np.diag([PENALTY] * len(names) + [0.0])
    coefficients = np.zeros(inputs.shape[1])
    for _ in range(30):
        chances = 1 / (1 + np.exp(-inputs @ coefficients))
        slope = inputs.T @ (counting * (chances - right)) + penalty @ coefficients
        bend = (inputs.T * (counting * chances * (1 - chances))) @ inputs + penalty
        coefficients -= np.linalg.solve(bend, slope)
    scaled = coefficients[:-1] / spread
    weights_by_name = {name: round(float(weight), 2) for name, weight in zip(names, scaled, strict=True)}
    return Weights(level=round(float(coefficients[-1] - scaled @ middle), 2), **weights_by_name)


if __name__ == "__main__":
    main()
