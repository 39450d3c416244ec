"""
The client's own dialog: a question on the person's screen, which the model cannot answer.

Claude Code shows three lines of a message, each cut at the edge of the window. So that the person can read
all of it before the answer, a long message is shown in parts: all but the last only lead to the next one.

A client of the protocol 2026-07-28 gets the question as the tool's answer and calls the tool again with the
person's reply; an older one is asked while the tool waits. So a tool asks before it does anything else.
"""

import hashlib
import json
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import chain
from typing import Any

import anyio.from_thread
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least
from pydantic import ValidationError

from mcp_server.adapters.parent_processes import client_started_by_claude
from mcp_server.core.errors import PersonNeeded
from mcp_server.core.render import on_one_line

ASKED_BY_ANSWER = "2026-07-28"  # from this protocol on, a server cannot ask while a tool runs
LINES = 3  # of a message that Claude Code 2.1.329 shows
WIDTH = 72  # cells of a line that are visible in a window of 80
MOST_PARTS = 9  # of all questions of one call together: the client allows ten
FIELD = "answer"
YES_OR_NO = {"no": "No", "yes": "Yes"}

Form = Mapping[str, Any]


class Unanswered(Enum):
    """Why the person gave no answer."""

    CANCELLED = "the dialog was closed without an answer"
    UNSUPPORTED = "no dialog can be shown here"
    NOBODY = "Claude started this session, so nobody is asked in it"
    TOO_MUCH = "this is too much for a dialog"


class PersonAsked(Exception):
    """Ends a tool's run: `question` is its answer, and the client calls the tool again with the reply."""

    def __init__(self, question: InputRequiredResult) -> None:
        super().__init__("the person is asked")
        self.question = question


class Asking(ABC):
    """A way to ask the person; the code that needs their word asks in the same words by any of them."""

    __slots__ = ()

    @abstractmethod
    def ask(self, message: str, choices: Mapping[str, str]) -> str | Unanswered:
        """Return the one of *choices* (key: what the person reads) that was chosen; closing is no answer."""

    def says_yes(self, message: str, *, act: str, typed: str) -> bool:
        """
        Tell whether the person says yes to *message* or no; raises PersonNeeded without an answer.

        *act* names what needs the person's word, *typed* is the command that they may type instead.
        """
        answer = self.ask(message, YES_OR_NO)
        if isinstance(answer, Unanswered):
            raise PersonNeeded(act, typed, why=answer.value)
        return answer == "yes"

    def consent(self, message: str, *, act: str, typed: str) -> None:
        """Return if the person says yes to *message*; raises PersonNeeded otherwise."""
        if not self.says_yes(message, act=act, typed=typed):
            raise PersonNeeded(act, typed, why="they said no")


@dataclass(slots=True)
class Dialog(Asking):
    """The dialog of one call of a tool, and the answers in it so far."""

    context: Context[Any, Any]
    answers: dict[str, str] = field(default_factory=dict)
    parts: int = 0
    """Of all questions of this call so far."""

    def ask(self, message: str, choices: Mapping[str, str]) -> str | Unanswered:
        """
        Return what was chosen. Raises PersonAsked.

        Declining is no answer. What would make more than MOST_PARTS parts is not asked: see `fits`.
        """
        if client_started_by_claude():
            return Unanswered.NOBODY
        offered = self.context.client_capabilities
        ways = offered.elicitation if offered else None
        if ways is None or (ways.url and not ways.form):
            return Unanswered.UNSUPPORTED
        forms = list(_forms(_parts(message), choices))
        if is_version_at_least(self.context.protocol_version or "", ASKED_BY_ANSWER):
            reply = self._answered(forms)
        else:
            reply = self._waited_for(forms)
        return reply if not isinstance(reply, str) or reply in choices else Unanswered.CANCELLED

    def _waited_for(self, forms: Sequence[Form]) -> str | Unanswered:
        """Ask while the tool waits; it runs in a thread of its own."""
        answer: str | Unanswered = Unanswered.CANCELLED
        for form in forms:
            try:
                reply = anyio.from_thread.run(
                    partial(
                        self.context.session.elicit_form,
                        form["message"],
                        form["requested_schema"],
                        related_request_id=self.context.request_id,
                    )
                )
            except (MCPError, ValidationError):
                return Unanswered.UNSUPPORTED
            answer = _chosen(reply)
            if reply.action != "accept":
                break
        return answer

    def _answered(self, forms: Sequence[Form]) -> str | Unanswered:
        """Return the answer that came with this call of the tool; raises PersonAsked when none did."""
        self.parts += len(forms)
        if self.parts > MOST_PARTS:
            return Unanswered.TOO_MUCH
        state = json.loads(self.context.request_state or "{}")
        self.answers = {**state.get("answers", {}), **self.answers}
        # An answer counts only for these exact words: other words are asked again.
        name = hashlib.sha256(json.dumps(forms).encode()).hexdigest()[:32]
        if name in self.answers:
            return self.answers[name] or Unanswered.CANCELLED
        part = 0
        asked_name, last = state.get("asked", ["", 0])
        reply = (self.context.input_responses or {}).get(FIELD)
        if asked_name == name and isinstance(reply, ElicitResult):
            if reply.action != "accept" or last == len(forms) - 1:
                answer = _chosen(reply)
                self.answers[name] = answer if isinstance(answer, str) else ""
                return answer
            part = last + 1
        raise PersonAsked(
            InputRequiredResult(
                input_requests={FIELD: ElicitRequest(params=ElicitRequestFormParams(**forms[part]))},
                request_state=json.dumps({"answers": self.answers, "asked": [name, part]}),
            )
        )


def fits(message: str) -> int:
    """Return the number of parts in which *message* is shown, 0 when it is too long for a dialog."""
    parts = len(_parts(message))
    return parts if parts <= MOST_PARTS else 0


def fit_together(messages: Collection[str]) -> bool:
    """Tell whether one call may ask all of *messages*: the person answers none of too many in vain."""
    parts = [fits(message) for message in messages]
    return all(parts) and sum(parts) <= MOST_PARTS


def require_together(messages: Collection[str], *, act: str, typed: str) -> None:
    """Raise PersonNeeded for `says_yes` when one call may not ask all of *messages*."""
    if not fit_together(messages):
        raise PersonNeeded(act, typed, why=Unanswered.TOO_MUCH.value)


def _chosen(reply: ElicitResult) -> str | Unanswered:
    if reply.action != "accept":
        return Unanswered.CANCELLED
    return str((reply.content or {}).get(FIELD) or "")


def _forms(parts: Sequence[str], choices: Mapping[str, str]) -> Iterator[Form]:
    """Yield the form of each of *parts*; the last one has the *choices*."""
    for number, part in enumerate(parts[:-1], start=1):
        more = f"(part {number} of {len(parts)}: Accept reads on)"
        yield {"message": f"{part}\n{more}", "requested_schema": {"type": "object", "properties": {}}}
    answer = {
        "type": "string",
        "title": "Your word",
        "enum": list(choices),
        "enumNames": list(choices.values()),
    }
    schema = {"type": "object", "properties": {FIELD: answer}, "required": [FIELD]}
    yield {"message": parts[-1], "requested_schema": schema}


def _parts(message: str) -> list[str]:
    """Return *message* in parts of LINES lines; all but the last part leave one line free."""
    lines = list(_wrapped(on_one_line(message)))
    parts = []
    while len(lines) > LINES:
        parts.append("\n".join(lines[: LINES - 1]))
        lines = lines[LINES - 1 :]
    return [*parts, "\n".join(lines)]


def _wrapped(text: str) -> Iterator[str]:
    """Yield *text* in lines of at most WIDTH cells, cut between words where there are any."""
    line = ""
    for word in chain.from_iterable(_pieces(word) for word in text.split(" ")):
        if line and _cells(line) + 1 + _cells(word) > WIDTH:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def _pieces(word: str) -> Iterator[str]:
    """Yield *word*, in pieces when a line cannot hold it."""
    piece, cells = "", 0
    for character in word:
        wide = _cells(character)
        if cells + wide > WIDTH:
            yield piece
            piece, cells = "", 0
        piece += character
        cells += wide
    yield piece


def _cells(text: str) -> int:
    """Return how many cells of a terminal *text* takes: two for wide characters, none for marks."""
    return sum(
        0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )
