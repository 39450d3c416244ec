"""The tools that are registered, by the sets that DAYBOOK_TOOLSETS chooses from."""

from functools import partial

from mcp_server.bootstrap import Opened
from mcp_server.core.settings import HOOK_TOOL
from mcp_server.doors.server import (
    admin_tools,
    curation_tools,
    graph_tools,
    inside,
    learning_tools,
    memory_tools,
    opening,
    review_tools,
    session_history_tools,
    session_tools,
    transcript_tools,
    undo_tools,
    worth_tools,
)
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.arguments import Server
from mcp_server.doors.server.hook_tool import Hooks

TOOLSETS = {  # the modules of each set
    "core": (memory_tools, review_tools, undo_tools),
    "sessions": (session_tools, transcript_tools),
    "curation": (learning_tools, session_history_tools, curation_tools, worth_tools),
    "graph": (graph_tools,),
    "admin": (admin_tools,),
}


def registered(opened: Opened, hooks: Hooks) -> Server:
    """Return the server with the tools of the chosen sets, and the tool that *hooks* answers."""
    application = Application(opened, hooks)

    hooks.inside = partial(inside.answer, application)
    opening.register(application.server, opened)
    application.server.tool(HOOK_TOOL, description="For Daybook's hooks only.", structured_output=False)(
        hooks.answer
    )
    for name in opened.settings.toolsets:
        for tools in TOOLSETS[name]:
            tools.register(application)
    return application.server
