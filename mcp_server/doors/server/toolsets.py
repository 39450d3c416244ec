"""The tools that are registered, by the sets that DAYBOOK_TOOLSETS chooses from."""

from functools import partial
from importlib import import_module

from mcp_server.bootstrap import Opened
from mcp_server.core.settings import HOOK_TOOL
from mcp_server.doors.server import inside, opening
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.arguments import Server
from mcp_server.doors.server.hook_tool import Hooks

MODULES = {  # of each set; those of a set that is off are not loaded
    "core": ("memory_tools", "review_tools", "undo_tools"),
    "sessions": ("session_tools", "transcript_tools"),
    "curation": ("learning_tools", "session_history_tools", "curation_tools", "worth_tools"),
    "graph": ("graph_tools",),
    "admin": ("admin_tools",),
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
        for module in MODULES[name]:
            import_module(f"{__package__}.{module}").register(application)
    return application.server
