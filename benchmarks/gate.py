"""
How well the gate tells an answer from none, asked with questions whose answer is there and is not.

Questions of other sets, and those of other groups, have no answer in a project; now and then one has
all the same, when both speak of the same tools, and then it counts against the gate here.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.question_sets import Question, QuestionSet
from benchmarks.stored_set import StoredSet, ask
from mcp_server.core.search.confidence import ORDER
from mcp_server.core.search.prompt_parts import parts_of
from mcp_server.core.search.query import Confidence, Hit, Mode

FIGURES = (
    "medium", "medium right", "high", "high right", "right of 3 passes", "gives right", "given is right",
    "silent: sets", "silent: groups", "gives right: of three", "silent: three",
)  # fmt: skip
FOREIGN = 100  # questions taken from each other set
SHOWN = 3  # hits among which an answer that is there must pass

Figures = dict[str, float]
Progress = Callable[[int], None]


def foreign_questions(questions: QuestionSet, others: Iterable[QuestionSet]) -> list[Question]:
    """Return questions of *others*, except of sets that ask the same as *questions*."""
    texts = {question.text for question in questions.questions}
    questions_found: list[Question] = []
    for other in others:
        if not any(question.text in texts for question in other.questions):
            chance = random.Random(other.name)
            questions_found += chance.sample(other.questions, min(FOREIGN, len(other.questions)))
    return questions_found


def gate_figures(
    questions: QuestionSet, stored: StoredSet, foreign: Sequence[Question], mode: Mode, progress: Progress
) -> Figures:
    """
    Return figure → share, 0 to 1; a share of nothing is left out.

    `medium` and `high`: answerable questions whose first hit passes so far, and how many of those hits
    are right; `right of 3 passes`: of the right memories among the first three, how many pass;
    `gives right`: answerable questions for which a right memory among the first three passes,
    `given is right`: the same of those for which any of the three passes;
    `silent`: questions without an answer for which nothing passes;
    `of three`: prompts of three questions, an answerable one in the middle of two of *foreign*;
    `silent: three`: prompts of three of *foreign*.
    """
    counts: dict[str, list[bool]] = {}

    def count(name: str, value: bool) -> None:
        counts.setdefault(name, []).append(value)

    around = _around(foreign, random.Random(f"{questions.name}, prompts"))
    for question in questions.questions:
        if not question.relevant:
            continue
        right = stored.relevant(question.relevant)
        hits = ask(stored, question.text, question.group, mode).hits
        for level in (Confidence.MEDIUM, Confidence.HIGH):
            passed = bool(hits) and _passes(hits[0], level)
            count(level.value, passed)
            if passed:
                count(f"{level.value} right", hits[0].id in right)
        right_hits = [hit for hit in hits[:SHOWN] if hit.id in right]
        if right_hits:
            count("right of 3 passes", any(_passes(hit, Confidence.MEDIUM) for hit in right_hits))
        gives = any(_passes(hit, Confidence.MEDIUM) for hit in right_hits)
        count("gives right", gives)
        if others := next(around, None):
            hits_given = _given_to_prompt(stored, (others[0], question, others[1]), question.group, mode)
            count("gives right: of three", any(hit.id in right for hit in hits_given))
        if any(_passes(hit, Confidence.MEDIUM) for hit in hits[:SHOWN]):
            count("given is right", gives)
        progress(1)
    chance = random.Random(questions.name)
    groups = questions.groups
    for question in foreign:
        group = chance.choice(groups)
        count("silent: sets", not _given(stored, question.text, group, mode))
        if others := next(around, None):
            count("silent: three", not _given_to_prompt(stored, (question, *others), group, mode))
        progress(1)
    for question in questions.questions if len(groups) > 1 else ():
        elsewhere = chance.choice([group for group in groups if group != question.group])
        count("silent: groups", not _given(stored, question.text, elsewhere, mode))
        progress(1)
    return {name: sum(values) / len(values) for name, values in counts.items()}


def _around(foreign: Sequence[Question], chance: random.Random) -> Iterator[list[Question]]:
    """Yield two questions of *foreign* at a time, without an end unless there are not two."""
    while len(foreign) > 1:
        yield chance.sample(foreign, 2)


def _given(stored: StoredSet, text: str, group: str, mode: Mode, parts: tuple[str, ...] = ()) -> list[Hit]:
    """Return the first three of the hits that pass."""
    hits = ask(stored, text, group, mode, parts=parts).hits
    return [hit for hit in hits if _passes(hit, Confidence.MEDIUM)][:SHOWN]


def _given_to_prompt(stored: StoredSet, questions: Sequence[Question], group: str, mode: Mode) -> list[Hit]:
    """Return what accompanies a prompt of which each question is a sentence."""
    texts = (question.text.strip() for question in questions)
    prompt = " ".join(text if text.endswith((".", "!", "?")) else f"{text}." for text in texts)
    return _given(stored, prompt, group, mode, parts_of(prompt))


def _passes(hit: Hit, level: Confidence) -> bool:
    return ORDER.index(hit.confidence) >= ORDER.index(level)
