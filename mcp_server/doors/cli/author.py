"""Whose words a command stores: the person's, or Claude's when Claude Code started it."""

from mcp_server.actions.judge.origins import judge, waiting
from mcp_server.actions.judge.persons_word import Turns, turns_of
from mcp_server.actions.memory.repository import trust
from mcp_server.adapters import transcript_file
from mcp_server.adapters.auto_memory_folder import claude_folder
from mcp_server.adapters.parent_processes import ancestors, client_started_by_claude, started_by_claude
from mcp_server.bootstrap import Opened
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL
from mcp_server.doors.cli.person import is_here
from mcp_server.doors.shown import origins as shown


def author(opened: Opened) -> str:
    """Return the source of what is stored here."""
    return ASSISTANT if started_by_claude(opened.environment, ancestors()) else MANUAL


def take_over(opened: Opened, memory_id: str) -> str:
    """
    Accept a memory that waits, because the person just said something of it in a terminal of theirs.

    Return a sentence about that, '' when it did not wait; what Claude does goes on waiting, and is told so.
    """
    store = opened.store()
    if is_here():
        return shown.ACCEPTED if trust(store, (memory_id,)) else ""
    waits = memory_id in {origin.row.id for origin in waiting(store)}
    return shown.WAITS_ON if waits else ""


def turns(opened: Opened) -> Turns:
    """Return what gives the turns of the person's in the session of Claude Code that runs this, if any."""
    session = "" if client_started_by_claude() else opened.session()
    folder = claude_folder(opened.environment) / "projects"
    return lambda: turns_of(transcript_file.find(folder, session) if session else None)


def judged(opened: Opened, memory_id: str) -> str:
    """Look up in its session what Claude stored; return in a sentence why it waits, '' when it does not."""
    if author(opened) == MANUAL:
        return ""
    transcript = transcript_file.find(claude_folder(opened.environment) / "projects", opened.session())
    return shown.waits(judge(opened.store(), memory_id, transcript))
