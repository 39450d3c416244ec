"""
The tool that Claude Code's hooks call in the running server; it is not in the list of tools.

Every answer is JSON, `{}` when there is nothing to say. A hook never fails and never delays: what
goes wrong is one line in the log.
"""

import json
import logging

from mcp_server.actions.brief import brief
from mcp_server.actions.inject import inject
from mcp_server.core.errors import DaybookError
from mcp_server.doors.server.application import Application

log = logging.getLogger(__name__)

NOTHING = "{}"
LONGEST_PROMPT = 20_000  # characters of a prompt that are looked at
OFF = "DAYBOOK_HOOKS"  # set to `off`, nothing is shown unasked


def register(application: Application) -> None:
    """Add the tool `hook` to *application*."""
    session = application.session
    store = application.opened.store
    shows = application.opened.environment.get(OFF, "").lower() != "off"

    def hook(event: str = "", session_id: str = "", prompt: str = "") -> str:
        try:
            session.id = session_id or session.id
            match event:
                case "UserPromptSubmit":
                    session.prompt = prompt[:LONGEST_PROMPT]
                    return _context(
                        event, inject(store(), session.prompt, session=session.id) if shows else ""
                    )
                case "SubagentStart" if shows:
                    return _context(event, brief(store(), for_subagent=True).text)
                case "PreToolUse":
                    return _answer(
                        event,
                        permissionDecision="allow",
                        permissionDecisionReason="Daybook's own reading tools",
                    )
                case _:
                    return NOTHING
        except (DaybookError, OSError) as error:
            log.warning("hook %s: %s", event, error)
        except Exception:  # a memory must never break a session
            log.exception("hook %s failed", event)
        return NOTHING

    application.server.tool(description="For Daybook's hooks only.", structured_output=False)(hook)


def _context(event: str, text: str) -> str:
    return _answer(event, additionalContext=text) if text else NOTHING


def _answer(event: str, **said: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}}, ensure_ascii=False)
