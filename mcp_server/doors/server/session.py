"""The Claude Code session that a server serves, as far as the server knows it."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from mcp_server.adapters import transcript_file
from mcp_server.adapters.auto_memory_folder import claude_folder
from mcp_server.adapters.parent_processes import SESSION, client_started_by_claude
from mcp_server.core.bounds import session_id

TOOL_USE: ContextVar[str] = ContextVar("tool_use", default="")
"""The client's id of the call that is being answered, that of the transcript for a call of the model's."""

BY_A_PLUGIN = "toolu_plugin_"  # the start of the ids that the client gives to calls of its plugins' modules

PERSONS = frozenset({"composer", "bridge", "sdk"})
"""The client's names of the places where the person types: its prompt, their phone, `claude -p`."""


def note_caller(meta: object) -> None:
    """Note who makes the call that has *meta*, where the client says so: '' for a hook of its settings."""
    TOOL_USE.set(str(meta.get("claudecode/toolUseId") or "") if isinstance(meta, Mapping) else "")


@dataclass(slots=True)
class Session:
    """
    The session's id, prompt and transcript, as the client gave them; the id changes with /clear.

    `typed` is the prompt that the module reported, `reported` the transcript that it or a hook named, and
    `projects` the folder in which Claude Code keeps transcripts. `learned` is the place in the ledger up to
    which the person was told what was learned, None before they were told anything.
    """

    id: str
    typed: str = ""
    reported: Path | None = None
    projects: Path | None = None
    learned: tuple[str, int] | None = None

    @property
    def by_claude(self) -> bool:
        """Whether Claude started this session: then nothing that is typed in it is the person's word."""
        return client_started_by_claude()

    @property
    def prompt(self) -> str:
        """The person's last words, '' when unknown; from the transcript where no module reports them."""
        if self.typed or self.by_claude:
            return self.typed
        from mcp_server.actions.judge.persons_word import last_turn  # the first prompt need not wait for it

        return last_turn(self.transcript())

    def transcript(self) -> Path | None:
        """Return the path of the session's transcript, None when it is unknown or does not exist."""
        if self.reported and self.reported.stem == self.id and transcript_file.size(self.reported):
            return self.reported
        return transcript_file.find(self.projects, self.id) if self.projects and self.id else None


def session_of(environment: Mapping[str, str]) -> Session:
    """Return the session that *environment* names, before a hook has reported it."""
    name = session_id(environment.get(SESSION))
    return Session(name, projects=claude_folder(environment) / "projects")
