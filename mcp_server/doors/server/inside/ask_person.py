"""
Asking the person from Daybook's module in the client, which shows the question and brings the answer.

After an answer the event runs again from its start, with all answers so far; it notes what not to repeat.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_server.adapters.parent_processes import client_started_by_claude
from mcp_server.core.render import visible
from mcp_server.doors.server.dialog import Asking, Unanswered


class AskedInside(Exception):
    """
    Ends the run of an event: the module shows `question` with two to four `options`, then sends it again.

    It then returns `state` unchanged.
    """

    def __init__(self, question: str, options: list[str], state: Mapping[str, Any]) -> None:
        super().__init__("the person is asked")
        self.question, self.options, self.state = question, options, state


@dataclass(frozen=True, slots=True)
class Inside(Asking):
    """
    The client's native dialog; `answers` is question → the chosen option, None for no answer.

    An answer counts only for these exact words: other words are asked again. Text that the person types
    instead is no answer. `state` is what the earlier runs noted.
    """

    answers: Mapping[str, object]
    state: dict[str, Any] = field(default_factory=dict)

    def ask(self, message: str, choices: Mapping[str, str]) -> str | Unanswered:
        """Return the chosen option. Raises AskedInside."""
        if client_started_by_claude():
            return Unanswered.NOBODY
        question = visible(message).strip()
        if question not in self.answers:
            raise AskedInside(question, list(choices.values()), self.state)
        answer = self.answers[question]
        return next((key for key, label in choices.items() if label == answer), Unanswered.CANCELLED)
