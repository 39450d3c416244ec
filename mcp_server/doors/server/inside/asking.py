"""
Asking the person from Daybook's module in the client, which shows the question and brings the answer.

What asks runs from its beginning again with all answers so far; what it is not to do twice it notes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_server.adapters.started_by import client_started_by_claude
from mcp_server.core.render import visible
from mcp_server.doors.server.dialog import Asking, Unanswered


class AskedInside(Exception):
    """
    Ends the run of an event: the module shows `question` with two to four `options`, and tells of it again.

    It gives back `state` then, as it is.
    """

    def __init__(self, question: str, options: list[str], state: Mapping[str, Any]) -> None:
        super().__init__("the person is asked")
        self.question, self.options, self.state = question, options, state


@dataclass(frozen=True, slots=True)
class Inside(Asking):
    """
    The client's native dialog; `answers` is question → the option that was chosen, None for no answer.

    An answer is to these very words: others are asked anew. What the person types of their own is no answer.
    `state` is what the runs before noted.
    """

    answers: Mapping[str, object]
    state: dict[str, Any] = field(default_factory=dict)

    def ask(self, message: str, choices: Mapping[str, str]) -> str | Unanswered:
        """Return what was chosen. Raises AskedInside."""
        if client_started_by_claude():
            return Unanswered.NOBODY
        question = visible(message).strip()
        if question not in self.answers:
            raise AskedInside(question, list(choices.values()), self.state)
        said = self.answers[question]
        return next((key for key, label in choices.items() if label == said), Unanswered.CANCELLED)
