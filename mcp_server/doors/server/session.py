"""What a server knows of the Claude Code session it serves."""

from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from mcp_server.adapters import transcript_file

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
