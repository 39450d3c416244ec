"""Daybook's module in the client, as the server meets it: it tells of an event, and asks the person."""

import json
from collections.abc import Callable
from typing import Any

from mcp_server.bootstrap import Opened
from tests.doors.called import connected

BY_A_PLUGIN = {"claudecode/toolUseId": "toolu_plugin_x"}  # what the client adds to a call of a module's
Say = Callable[[], None]


def tell(opened: Opened, event: str, *, meta: dict[str, Any] = BY_A_PLUGIN, **given: Any) -> dict[str, Any]:
    """Return what the server answers the module on *event*."""
    with connected(opened) as call:
        answer: dict[str, Any] = json.loads(call("hook", meta=meta, event=event, given=given))
        return answer


class Typed:
    """
    What a person types into the client, and how they answer: each with an option, with None, or after a deed.

    `asked` are the questions and their options, as the dialog shows them.
    """

    def __init__(self, opened: Opened, *, origin: str = "composer") -> None:
        self.opened, self.origin = opened, origin
        self.asked: list[tuple[str, list[str]]] = []

    def __call__(self, line: str, *answers: str | None, between: Say = lambda: None) -> dict[str, Any]:
        """Type *line*, as in "/recall deploys", and answer what is asked, after *between*."""
        name, _, words = line.removeprefix("/").partition(" ")
        answers_given: dict[str, str | None] = {}
        state, answers_left = None, list(answers)
        while True:
            reply = tell(
                self.opened,
                "command",
                name=name,
                words=words,
                origin=self.origin,
                answers=answers_given,
                state=state,
            )
            if "ask" not in reply:
                assert not answers_left, (reply, answers_left)
                return reply
            question, options, state = (reply["ask"][name] for name in ("question", "options", "state"))
            assert 2 <= len(options) <= 4
            self.asked.append((question, options))
            answer = answers_left.pop(0)
            between()
            answers_given[question] = answer
