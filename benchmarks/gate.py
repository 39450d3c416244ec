"""
How well the gate tells an answer from none, asked with questions whose answer is there and is not.

Questions of other sets, and those of other groups, have no answer in a project; now and then one has
all the same, when both speak of the same tools, and then it counts against the gate here.
"""

import random
from collections.abc import Callable, Iterable, Sequence

from benchmarks.question_sets import Question, QuestionSet
from benchmarks.stored_set import StoredSet, ask
from mcp_server.core.gate import ORDER
from mcp_server.core.query import Hit, Mode, Verdict

FIGURES = (
    "medium", "medium right", "high", "high right", "right of 3 passes", "gives right", "given is right",
    "silent: sets", "silent: groups",
)  # fmt: skip
FOREIGN = 100  # questions taken from each other set
SHOWN = 3  # hits among which an answer that is there must pass

Figures = dict[str, float]
Progress = Callable[[int], None]


def foreign_questions(questions: QuestionSet, others: Iterable[QuestionSet]) -> list[Question]:
    """Return questions of *others*, except of sets that ask the same as *questions*."""
    known = {question.text for question in questions.questions}
    found: list[Question] = []
    for other in others:
        if not any(question.text in known for question in other.questions):
            chance = random.Random(other.name)
            found += chance.sample(other.questions, min(FOREIGN, len(other.questions)))
    return found


def gate_figures(
    questions: QuestionSet, stored: StoredSet, foreign: Sequence[Question], mode: Mode, progress: Progress
) -> Figures:
    """
    Return figure → share, 0 to 1; a share of nothing is left out.

    `medium` and `high`: answerable questions whose first hit passes so far, and how many of those hits
    are right; `right of 3 passes`: of the right memories among the first three, how many pass;
    `gives right`: answerable questions for which a right memory among the first three passes,
    `given is right`: the same of those for which any of the three passes;
    `silent`: questions without an answer for which nothing passes.
    """
    counts: dict[str, list[bool]] = {}

    def count(name: str, value: bool) -> None:
        counts.setdefault(name, []).append(value)

    for question in questions.questions:
        if not question.relevant:
            continue
        right = stored.relevant(question.relevant)
        hits = ask(stored, question.text, question.group, mode).hits
        for level in (Verdict.MEDIUM, Verdict.HIGH):
            passed = bool(hits) and _passes(hits[0], level)
            count(level.value, passed)
            if passed:
                count(f"{level.value} right", hits[0].id in right)
        shown = [hit for hit in hits[:SHOWN] if hit.id in right]
        if shown:
            count("right of 3 passes", any(_passes(hit, Verdict.MEDIUM) for hit in shown))
        gives = any(_passes(hit, Verdict.MEDIUM) for hit in shown)
        count("gives right", gives)
        if any(_passes(hit, Verdict.MEDIUM) for hit in hits[:SHOWN]):
            count("given is right", gives)
        progress(1)
    chance = random.Random(questions.name)
    groups = questions.groups
    for question in foreign:
        count("silent: sets", _is_silent(stored, question, chance.choice(groups), mode))
        progress(1)
    for question in questions.questions if len(groups) > 1 else ():
        elsewhere = chance.choice([group for group in groups if group != question.group])
        count("silent: groups", _is_silent(stored, question, elsewhere, mode))
        progress(1)
    return {name: sum(values) / len(values) for name, values in counts.items()}


def _is_silent(stored: StoredSet, question: Question, group: str, mode: Mode) -> bool:
    return not any(_passes(hit, Verdict.MEDIUM) for hit in ask(stored, question.text, group, mode).hits)


def _passes(hit: Hit, level: Verdict) -> bool:
    return ORDER.index(hit.confidence) >= ORDER.index(level)
