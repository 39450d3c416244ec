"""Tools for sessions and conversations: save them, and bring them back."""

from typing import Annotated, Any

from pydantic import Field

from mcp_server.actions import conversation, session
from mcp_server.doors.server import replies
from mcp_server.doors.server.application import Application


def register(application: Application) -> None:
    """Add the session and conversation tools to *application*."""
    tool = application.tool
    opened = application.opened

    @tool()
    def save_session(
        title: str,
        context: Annotated[str, Field(description="what is being done, what was decided, what comes next")],
        files: Annotated[list[str], Field(description="files the work is about")] = [],  # noqa: B006
        variables: Annotated[dict[str, Any], Field(description="names and values worth keeping")] = {},  # noqa: B006
        tasks: Annotated[list[str], Field(description="what is still open")] = [],  # noqa: B006
        metadata: dict[str, Any] = {},  # noqa: B006
    ) -> str:
        """Save where the work stands, so that a later session can go on from it; git's branch and commit
        are noted by themselves."""
        saved = session.save_session(
            opened.store(),
            title,
            context,
            files=files,
            variables=variables,
            tasks=tasks,
            metadata=metadata,
            folder=opened.folder,
            session=application.session.id,
        )
        return f"{saved.memory.id}: session saved. {saved.path}"

    @tool(reads=True)
    def restore_session(id: Annotated[str, Field(description="an id, or latest")] = "latest") -> str:
        """Bring back a saved session and tell what changed since: commits, branch, files."""
        found, since = session.restore_session(opened.store(), id, folder=opened.folder)
        return replies.session(found, since)

    @tool()
    def save_conversation(
        title: str,
        messages: Annotated[list[Any], Field(description="[{role, content, timestamp?}, …] in their order")],
        metadata: dict[str, Any] = {},  # noqa: B006
        tags: list[str] = [],  # noqa: B006
    ) -> str:
        """Save a conversation word for word; secrets are masked."""
        saved = conversation.save_conversation(
            opened.store(),
            title,
            messages,
            metadata=metadata,
            tags=tuple(tags),
            session=application.session.id,
        )
        return f"{saved.memory.id}: conversation saved, {len(messages)} messages. {saved.path}"

    @tool(reads=True)
    def load_conversation(id: str) -> str:
        """Bring back a saved conversation, turn by turn."""
        found, turns = conversation.load_conversation(opened.store(), id)
        return replies.conversation(found, [(turn.speaker, turn.time, turn.words) for turn in turns])
