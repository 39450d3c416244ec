"""
What the module in the client asks apart from its prompts and turns: an event and its input, as JSON.

The module (`hooks/daybook.tsx`) draws and asks; what is shown, allowed and kept is decided here. Only a call
that the client makes for a plugin gets here (`hook_tool`).
"""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from mcp_server.core.errors import DaybookError, disk_refused
from mcp_server.core.render import visible
from mcp_server.doors.block_follows import follow, noted
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.inside import commands, learning, pane
from mcp_server.doors.server.inside.ask_person import AskedInside
from mcp_server.doors.shown import trouble

log = logging.getLogger(__name__)

Payload = Mapping[str, Any]
Answer = dict[str, Any]

EVENTS: dict[str, Callable[[Application, Payload], Answer]] = {
    "command": commands.run,
    "pane": pane.draw,
    "act": pane.act,
    "status": pane.status,
    "learn": learning.learn,
    "learned": learning.learned,
}

OF_THE_PERSON = ("command", "act")
"""Events that are verbs of the person: there may be no turn after them, with which the block is written."""


def answer(application: Application, event: str, payload: Payload) -> str:
    """
    Return the answer for the module on *event*, as JSON; an error is the sentence that the person reads.

    `ask` is a question with its options and a state: the module asks the person and sends *event* again,
    with that state and with `answers`, question → the chosen option, null for none.
    An event that is not one of EVENTS gets `{}`.
    """
    if event not in EVENTS:
        return "{}"
    before = noted(application.opened) if event in OF_THE_PERSON else 0
    refusal: DaybookError | OSError | None = None
    try:
        reply = EVENTS[event](application, payload)
    except AskedInside as pause:
        reply = {"ask": {"question": pause.question, "options": pause.options, "state": pause.state}}
    except (DaybookError, OSError) as error:
        refusal = error
        sentence = error.with_hint if isinstance(error, DaybookError) else disk_refused(error)
        reply = _pane_without_rows(sentence) if event == "pane" else {"text": sentence}
    except Exception:  # the session must not see it
        log.exception("the module's event %s failed", event)
        reply = {}
    if event in OF_THE_PERSON:
        follow(application.opened, since=before)
    if event in OF_THE_PERSON and "text" in reply:
        remarks = trouble.remarks(application.opened.remarks(), refusal=refusal)
        reply["text"] = "\n".join([reply["text"], *map(visible, remarks)])
    application.opened.database.trouble.remarks()  # else the next answer of this thread would have them
    return json.dumps(reply, ensure_ascii=False)


def _pane_without_rows(sentence: str) -> Answer:
    """Return a pane with nothing but the *sentence* that says why there is nothing to show."""
    return {"text": sentence, "mark": sentence, "tabs": [], "rows": [], "notes": [sentence], "status": ""}
