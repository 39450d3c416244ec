"""More tools for what sessions did: their memories, topics, ends, and what several had in common."""

from typing import Annotated

from pydantic import Field

from mcp_server.actions.sessions import session_history
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.session_tools import OfSession, known, named
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown import sessions as shown


def register(application: Application) -> None:
    """Add these tools to *application*."""
    tool = application.tool
    opened = application.opened

    @tool(reads=True)
    def get_session_memories(id: OfSession = "") -> Shown:
        """List the memories that a session stored, and those that it recalled or used."""
        memories = session_history.session_memories(opened.store(), named(application, id))
        return shown.memories(*memories)

    @tool()
    def set_session_topic(topic: str, id: OfSession = "") -> str:
        """Save in a few words what a session is about, once that is clear."""
        words = session_history.title_session(opened.store(), known(application, id), topic=topic)
        application.judged_words(*words)
        return "The topic is saved."

    @tool()
    def end_session(topic: str = "", summary: str = "", id: OfSession = "") -> str:
        """Mark a session as ended, with an optional topic and summary. Nothing is forgotten."""
        words = session_history.end_session(
            opened.store(), known(application, id), topic=topic, summary=summary
        )
        application.judged_words(*words)
        return "The session is marked as ended."

    @tool(reads=True)
    def cross_session_patterns(limit: Annotated[int, Field(description="1 to 50")] = 10) -> Shown:
        """List the memories that several sessions recalled or used, and the tags they learned about."""
        return shown.patterns(session_history.patterns(opened.store(), limit=limit))
