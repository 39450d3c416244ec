"""Tools for what memories said before: history, undo."""

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from mcp_server.actions.changes import undo as undoing
from mcp_server.actions.changes.history import history_of, version_of
from mcp_server.actions.team.memories import history_if_of_team
from mcp_server.core.render import counted, one_line
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.dialog import Dialog
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown import history as shown
from mcp_server.doors.shown import team as shown_team
from mcp_server.doors.shown.persons_acts import TAKING_BACK


def register(application: Application) -> None:
    """Add the tools `history` and `undo` to *application*."""
    session = application.session
    open_store = application.opened.store

    @application.tool(reads=True)
    def history(
        id: str,
        version: Annotated[int, Field(description="show this version in full; 0 lists all versions")] = 0,
    ) -> Shown:
        """Show what a memory said before, and when, by whom and by which verb it was changed."""
        if version:
            return shown.version(*version_of(open_store(), id, version))
        if of_team := history_if_of_team(open_store(), id):
            return shown_team.history(*of_team)
        return shown.changes(history_of(open_store(), id))

    @application.tool()
    def undo(
        context: Context[Any, Any],
        id: Annotated[str, Field(description="if empty, the last change of this session")] = "",
        anyway: Annotated[bool, Field(description="undo even what was edited since")] = False,
    ) -> Shown:
        """Undo the last change of a memory, exactly; calling it again redoes the change. For what the person
        said or did, a dialog asks them first."""
        store = open_store()
        change = undoing.last_change(store, id, of_session=session.id)
        if undoing.is_persons(store, change):
            named = ", ".join(one_line(memory_id, 80) for memory_id in change.ids[:3]) or one_line(id, 80)
            more = f" and {counted(len(change.ids) - 3, 'memory')} more" if len(change.ids) > 3 else ""
            Dialog(context).consent(
                f"Take back the change of {named}{more}: {shown.done(change)}?",
                act=TAKING_BACK,
                typed=f"undo {id}".strip() + (" --anyway" if anyway else ""),
            )
        return shown.undone(undoing.undo(store, change, anyway=anyway), change)
