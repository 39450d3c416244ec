"""Tools for sessions and conversations: save them, bring them back, tell of them, forget them."""

from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from mcp_server.actions.memory import conversation, session
from mcp_server.actions.sessions import session_history
from mcp_server.actions.sessions.forget_session import forget_session as forget_all_of
from mcp_server.core.memory_parts import parted, split_list
from mcp_server.core.provenance.provenance import ASSISTANT, source_of
from mcp_server.core.render import counted
from mcp_server.core.search.query import check_offset
from mcp_server.doors.server.application import Application
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown import memory as shown_memory
from mcp_server.doors.shown import sessions as shown

OfSession = Annotated[str, Field(description="an id or short id; if empty, this session")]


def register(application: Application) -> None:
    """Add the session and conversation tools to *application*."""
    tool = application.tool
    opened = application.opened

    @tool()
    def save_session(
        title: str,
        context: Annotated[str, Field(description="what is being done, what was decided, what comes next")],
        files: Annotated[list[str] | str, Field(description="files the work is about")] = "",
        variables: Annotated[dict[str, Any], Field(description="names and values worth keeping")] = {},  # noqa: B006
        tasks: Annotated[
            list[str] | str, Field(description="what is still open: a list, or one text with a line for each")
        ] = "",
        metadata: dict[str, Any] = {},  # noqa: B006
    ) -> Shown:
        """Save where the work stands, so that a later session can go on from there; git's branch and commit
        are saved automatically."""
        saved = session.save_session(
            opened.store(),
            title,
            context,
            files=parted(files),
            variables=variables,
            tasks=tasks.splitlines() if isinstance(tasks, str) else tasks,
            metadata=metadata,
            folder=opened.folder,
            source=source_of(f"{title} {context}", application.session.prompt),
        )
        waits = application.judged(saved.memory.id)
        return shown_memory.saved(saved, "session", waits=waits)

    @tool(reads=True)
    def restore_session(id: Annotated[str, Field(description="an id, or latest")] = "latest") -> Shown:
        """Show a saved session, and what changed since it was saved: commits, branch, files."""
        file, since = session.restore_session(opened.store(), id, folder=opened.folder)
        return shown_memory.saved_session(file, since)

    @tool()
    def save_conversation(
        title: str,
        messages: Annotated[list[Any], Field(description="[{role, content, timestamp?}, …] in order")],
        metadata: dict[str, Any] = {},  # noqa: B006
        tags: list[str] | str = "",
    ) -> Shown:
        """Save a conversation word for word; secrets are masked."""
        saved = conversation.save_conversation(
            opened.store(), title, messages, metadata=metadata, tags=split_list(tags), source=ASSISTANT
        )
        return shown_memory.saved(saved, f"conversation of {counted(len(messages), 'message')}")

    @tool(reads=True)
    def load_conversation(
        id: str,
        offset: Annotated[
            int, Field(description="how many turns to skip; the answer gives the next offset")
        ] = 0,
    ) -> Shown:
        """Show a saved conversation turn by turn; a long one takes several calls."""
        file, turns = conversation.load_conversation(opened.store(), id)
        return shown_memory.conversation(file, turns, check_offset(offset))

    @tool(reads=True)
    def get_sessions(
        limit: Annotated[int, Field(description="1 to 50")] = 20, all_projects: bool = False
    ) -> Shown:
        """List the sessions of this project, newest first, with date, topic and id. Call it when the person
        asks what was done lately or refers to an earlier session."""
        episodes = session_history.list_sessions(opened.store(), limit=limit, all_projects=all_projects)
        return shown.listed(episodes, session_history.costs(opened.store(), episodes))

    @tool(reads=True)
    def get_session(id: OfSession = "") -> Shown:
        """Show one session: topic, summary, what it stored and recalled, how much of it was read."""
        return shown.session(session_history.tell_session(opened.store(), named(application, id)))

    @tool()
    def summarize_session(
        summary: Annotated[str, Field(description="what was done, decided and left open; facts only")],
        id: OfSession = "",
    ) -> str:
        """Store the summary that you wrote of a session; the next session is shown its beginning. Call it
        when the work of the session ends."""
        words = session_history.title_session(opened.store(), known(application, id), summary=summary)
        application.judged_words(*words)
        return "The summary is saved."

    @tool(destroys=True)
    def forget_session(
        context: Context[Any, Any],
        id: Annotated[str, Field(description="an id or short id, as get_sessions shows it")],
        apply: Annotated[bool, Field(description="true carries out the plan; false only shows it")] = False,
    ) -> Shown:
        """Show what was learned in one session, or with apply move all of it to the trash: memories,
        candidates, the conversation. Memories that they superseded become active again. Only when the person
        asked for it."""
        store = opened.store()
        if apply:
            application.consent(context, store).before_forgetting_session(id)
        return shown.forgotten(forget_all_of(store, id, dry_run=not apply))


def named(application: Application, id: str) -> str:
    """Return the id that was given, or this session's."""
    return id.strip() or application.session.id


def known(application: Application, id: str) -> str:
    """Return the whole id of the session that is named; this one may not be known yet."""
    open_store = application.opened.store
    return session_history.find_session(open_store(), id).id if id.strip() else application.session.id
