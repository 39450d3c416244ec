"""Commands that tell of sessions, and forget what was learned in one."""

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.sessions import forget_session, session_history
from mcp_server.core.errors import Rejected
from mcp_server.doors.cli import output
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import sessions as shown
from mcp_server.doors.shown.history import undone


@click.command("sessions")
@click.argument("name", default="", metavar="[ID]")
@click.option("--patterns", is_flag=True, help="Show what several sessions recalled, used or learned about.")
@click.option("--topic", default="", help="With an ID: save what the session is about.")
@click.option("--summary", default="", help="With an ID: save a summary of it.")
@click.option("--end", is_flag=True, help="With an ID: mark it as ended.")
@click.option("--limit", default=20, show_default=True, help="1 to 50.")
@click.option("--all-projects", is_flag=True)
@as_json
def sessions_command(
    name: str,
    patterns: bool,
    topic: str,
    summary: str,
    end: bool,
    limit: int,
    all_projects: bool,
    as_json: bool,
) -> None:
    """List this project's sessions, show one, or show what they have in common.

    Example: daybook sessions --patterns
    """
    store = output.opened().store()
    sync_if_free(store)
    if patterns:
        output.print_shown(shown.patterns(session_history.patterns(store, limit=limit)), as_json=as_json)
        return
    if (topic or summary or end) and not name:
        raise Rejected("No session was named.", "Name one by its id: 'daybook sessions' lists them.")
    if topic or summary or end:
        session = session_history.find_session(store, name).id
        note = session_history.end_session if end else session_history.title_session
        note(store, session, topic=topic, summary=summary)
    if name:
        report = session_history.tell_session(store, name)
        memories = session_history.session_memories(store, name)[1:]
        output.print_shown(shown.one(report, *memories), as_json=as_json)
        return
    episodes = session_history.list_sessions(store, limit=limit, all_projects=all_projects)
    output.print_shown(shown.listed(episodes, session_history.costs(store, episodes)), as_json=as_json)


@click.command("forget-session")
@click.argument("name", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--undo", is_flag=True, help="Bring back what was forgotten of this session.")
@as_json
def forget_session_command(name: str, dry_run: bool, undo: bool, as_json: bool) -> None:
    """Move everything that one session taught to the trash.

    That is its memories, its candidates and its conversation.

    Example: daybook forget-session 3f9a2c1d --dry-run
    """
    if undo and dry_run:
        raise Rejected("--undo brings a session back at once, without a plan.", "Use only one of the two.")
    store = output.opened().store()
    if undo:
        result = undone(forget_session.undo_forget_session(store, name))
    else:
        result = shown.forgotten(forget_session.forget_session(store, name, dry_run=dry_run))
    output.print_shown(result, as_json=as_json)


COMMANDS = (sessions_command, forget_session_command)
