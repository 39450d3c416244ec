"""What a server knows of the Claude Code session it serves."""

from dataclasses import dataclass


@dataclass(slots=True)
class Session:
    """The session's id and its last prompt, as the hooks told them; the id changes with /clear."""

    id: str
    prompt: str = ""
