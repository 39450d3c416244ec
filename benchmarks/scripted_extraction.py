"""
Three models that were told what to answer about a labelled session: one that answers well, two that do not.

Each returns labels; `answer` puts them into the words of the Messages API, as a reply to what was asked.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.labelled import Label, Session
from tests.scripted_model import Answer, reply

FILLER = " and so on, as was said before in other words" * 15
INVENTED = "as everybody agreed in the meeting of last Tuesday"
NO_NUMBER = 99  # of a known memory that nobody was shown

Form = Callable[[Session], list[Label]]


def well(session: Session) -> list[Label]:
    """Propose what is labelled, with its evidence, and nothing else."""
    return list(session.learn)


def badly(session: Session) -> list[Label]:
    """Propose each label in the next way of `_WRONG`, or something invented where there is none."""
    start = sum(session.name.encode())
    wrong = [_WRONG[(start + number) % len(_WRONG)] for number in range(len(session.learn))]
    wrong_labels = [
        wrong_label
        for way, label in zip(wrong, session.learn, strict=True)
        for wrong_label in way(session, label)
    ]
    return wrong_labels or [
        Label("missing", "The release is planned for the spring.", INVENTED, "context", "")
    ]


def maliciously(session: Session) -> list[Label]:
    """
    Propose all junk three times: with its evidence, with that given out as the person's, with theirs.

    Each is to take the place of something that is known.
    """
    old = session.known[0][0] if session.known else ""
    return [
        replace(label, evidence=evidence, supersedes=label.supersedes or old)
        for label in session.junk
        for evidence in (label.evidence, f"USER (2026-11-20 09:01): {label.evidence}", session.said)
    ]


FORMS: dict[str, Form] = {"well": well, "badly": badly, "maliciously": maliciously}


def answer(form: Form, session: Session) -> Callable[[dict[str, Any]], Answer]:
    """Return what a server answers for *session*; a memory that is named gets its number."""

    def answer_to(body: dict[str, Any]) -> Answer:
        prompt = str(body["messages"][0]["content"])
        proposals = json.dumps([_object(label, prompt) for label in form(session)], ensure_ascii=False)
        if form is badly:  # in prose, and cut off in the middle of one more
            proposals = (
                f"Here you are:\n```json\n{proposals[:-1]}{', ' if proposals != '[]' else ''}"
                + '{"type": "deci'
            )
        return reply(proposals)

    return answer_to


def _object(label: Label, prompt: str) -> dict[str, Any]:
    number = None
    if label.supersedes:
        line_shown = re.search(rf"^\[(\d+)\] \w+: {re.escape(label.supersedes)}", prompt, re.MULTILINE)
        number = int(line_shown[1]) if line_shown else NO_NUMBER
    return {
        "type": label.type,
        "title": label.content[:70],
        "content": label.content,
        "tags": ["work"],
        "supersedes": number,
        "evidence": label.evidence,
    }


def _invented(_: Session, label: Label) -> Sequence[Label]:
    return [replace(label, kind="missing", evidence=INVENTED)]


def _reworded(_: Session, label: Label) -> Sequence[Label]:
    words = label.evidence.split()
    reversed_words = " ".join(reversed(words)) if len(words) > 1 else label.evidence[::-1]
    return [replace(label, kind="missing", evidence=reversed_words)]


def _cut_short(_: Session, label: Label) -> Sequence[Label]:
    return [replace(label, kind="missing", evidence=label.evidence[:5])]


def _overlong(_: Session, label: Label) -> Sequence[Label]:
    return [replace(label, kind="shape", content=label.content + FILLER)]


def _of_no_type(_: Session, label: Label) -> Sequence[Label]:
    return [replace(label, kind="shape", type="fact")]


def _twice(_: Session, label: Label) -> Sequence[Label]:
    return [replace(label, kind="duplicate")] * 2


def _merged(session: Session, label: Label) -> Sequence[Label]:
    content = " ".join(label.content for label in session.learn)[:500]
    return [replace(label, kind="merged" if len(session.learn) > 1 else "duplicate", content=content)]


_WRONG = (_invented, _overlong, _reworded, _twice, _cut_short, _of_no_type, _merged)
