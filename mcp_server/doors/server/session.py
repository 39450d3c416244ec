"""What a server knows of the Claude Code session it serves."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from mcp_server.adapters import transcript_file
from mcp_server.adapters.auto_memory_folder import claude_folder
from mcp_server.core.bounds import session_id

TOOL_USE: ContextVar[str] = ContextVar("tool_use", default="")
"""The id by which the transcript names the call that is being answered, '' when the client does not tell."""


@dataclass(slots=True)
class Session:
    """
    The session's id, last prompt and transcript, as the hooks told them; the id changes with /clear.

    `projects` is the folder in which Claude Code keeps transcripts.
    """

    id: str
    prompt: str = ""
    told: Path | None = None
    projects: Path | None = None

    def transcript(self) -> Path | None:
        """Return where the session is written down, None when nobody knows, or nothing is there."""
        if self.told and self.told.stem == self.id and transcript_file.size(self.told):
            return self.told
        return transcript_file.find(self.projects, self.id) if self.projects and self.id else None


def session_of(environment: Mapping[str, str]) -> Session:
    """Return the session that *environment* names, before a hook has told of it."""
    known = session_id(environment.get("CLAUDE_CODE_SESSION_ID"))
    return Session(known, projects=claude_folder(environment) / "projects")
