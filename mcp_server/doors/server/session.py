"""What a server knows of the Claude Code session it serves."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from mcp_server.adapters import transcript_file
from mcp_server.adapters.auto_memory_folder import claude_folder
from mcp_server.adapters.started_by import client_started_by_claude
from mcp_server.core.bounds import session_id

TOOL_USE: ContextVar[str] = ContextVar("tool_use", default="")
"""The id by which the transcript names the call that is being answered, '' when the client does not tell."""

PERSONS = frozenset({"composer", "bridge", "sdk"})
"""What the client calls where the person types: its prompt, their phone, and the prompt of `claude -p`."""


@dataclass(slots=True)
class Session:
    """
    The session's id, prompt and transcript, as they were told; the id changes with /clear.

    `typed` is the prompt that the module told of, and `projects` the folder in which Claude Code keeps
    transcripts. `learned` is up to which place in the ledger the person was told what is learned, None
    before they were told anything.
    """

    id: str
    typed: str = ""
    told: Path | None = None
    projects: Path | None = None
    learned: tuple[str, int] | None = None

    @property
    def by_claude(self) -> bool:
        """Whether Claude started this session: nothing that is typed in it is the person's word."""
        return client_started_by_claude()

    @property
    def prompt(self) -> str:
        """The person's last words, '' when nobody knows; of the transcript, where no module tells of them."""
        if self.typed or self.by_claude:
            return self.typed
        from mcp_server.actions.judge.persons_word import last_turn  # the first prompt need not wait for it

        return last_turn(self.transcript())

    def transcript(self) -> Path | None:
        """Return where the session is written down, None when nobody knows, or nothing is there."""
        if self.told and self.told.stem == self.id and transcript_file.size(self.told):
            return self.told
        return transcript_file.find(self.projects, self.id) if self.projects and self.id else None


def session_of(environment: Mapping[str, str]) -> Session:
    """Return the session that *environment* names, before a hook has told of it."""
    known = session_id(environment.get("CLAUDE_CODE_SESSION_ID"))
    return Session(known, projects=claude_folder(environment) / "projects")
