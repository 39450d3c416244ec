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
    made = [each for way, label in zip(wrong, session.learn, strict=True) for each in way(session, label)]
    return made or [Label("missing", "The release is planned for the spring.", INVENTED, "context", "")]


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

    def told(body: dict[str, Any]) -> Answer:
        asked = str(body["messages"][0]["content"])
        said = json.dumps([_object(label, asked) for label in form(session)], ensure_ascii=False)
        if form is badly:  # in prose, and cut off in the middle of one more
            said = f"Here you are:\n```json\n{said[:-1]}{', ' if said != '[]' else ''}" + '{"type": "deci'
        return reply(said)

    return told


def _object(label: Label, asked: str) -> dict[str, Any]:
    number = None
    if label.supersedes:
        shown = re.search(rf"^\[(\d+)\] \w+: {re.escape(label.supersedes)}", asked, re.MULTILINE)
        number = int(shown[1]) if shown else NO_NUMBER
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
    said = " ".join(reversed(words)) if len(words) > 1 else label.evidence[::-1]
    return [replace(label, kind="missing", evidence=said)]


def _cut_short(_: Session, label: Label) -> Sequence[Label]:
    return [replace(label, kind="missing", evidence=label.evidence[:5])]


def _overlong(_: Session, label: Label) -> Sequence[Label]:
    return [replace(label, kind="shape", content=label.content + FILLER)]


def _of_no_type(_: Session, label: Label) -> Sequence[Label]:
    return [replace(label, kind="shape", type="fact")]


def _twice(_: Session, label: Label) -> Sequence[Label]:
    return [replace(label, kind="duplicate")] * 2


def _merged(session: Session, label: Label) -> Sequence[Label]:
    content = " ".join(each.content for each in session.learn)[:500]
    return [replace(label, kind="merged" if len(session.learn) > 1 else "duplicate", content=content)]


_WRONG = (_invented, _overlong, _reworded, _twice, _cut_short, _of_no_type, _merged)
