"""
What the module in the client asks, beside its prompts and turns: an event and what is given, as JSON.

The module (`hooks/daybook.tsx`) draws and asks; what is told, allowed and kept is decided here. Only a call
that the client makes for a plugin gets here: what the model calls is refused, whatever it claims to be.
"""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from mcp_server.core.errors import DaybookError, disk_refused
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.inside import commands, learning, pane
from mcp_server.doors.server.inside.asking import AskedInside
from mcp_server.doors.server.session import TOOL_USE

log = logging.getLogger(__name__)

BY_A_PLUGIN = "toolu_plugin_"  # how the client begins the ids of calls that no model made

Given = Mapping[str, Any]
Answer = dict[str, Any]

EVENTS: dict[str, Callable[[Application, Given], Answer]] = {
    "command": commands.run,
    "pane": pane.draw,
    "act": pane.act,
    "status": pane.status,
    "learn": learning.learn,
    "learned": learning.learned,
}


def answer(application: Application, event: str, given: Given) -> str:
    """
    Return what the module is told on *event*, as JSON; errors are the sentence that the person reads.

    `ask` is a question with its options and a state: the module asks the person and tells of *event* again,
    with that state and with `answers`, question → the option that was chosen, null for none.
    A call of the model's is told nothing, and does nothing; nor is an event that is none of EVENTS.
    """
    if event not in EVENTS:
        return "{}"
    if not TOOL_USE.get().startswith(BY_A_PLUGIN):
        return json.dumps({"text": "This is for Daybook's module in the client."})
    try:
        told = EVENTS[event](application, given)
    except AskedInside as asked:
        told = {"ask": {"question": asked.question, "options": asked.options, "state": asked.state}}
    except DaybookError as error:
        told = {"text": f"{error} {error.hint}".strip()}
    except OSError as error:
        told = {"text": disk_refused(error)}
    except Exception:  # the session must not hear of it
        log.exception("the module's event %s failed", event)
        told = {}
    return json.dumps(told, ensure_ascii=False)
