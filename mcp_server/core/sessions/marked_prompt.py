"""A prompt with `#remember`: what of it is to be stored, before the transcript of its session is read."""

from mcp_server.core.sessions.transcript import kept, public
from mcp_server.core.sessions.transcript_line import ECHOES, LINE_END, not_injected
from mcp_server.core.text.pasted_content import without_marks
from mcp_server.core.text.private import says_skip
from mcp_server.core.text.remember_tag import stands_in_a_paste, without_order


def marked(prompt: str) -> str | None:
    """Return what #remember orders to be stored, cleaned like a turn; '' for the tag alone, None without."""
    untagged = without_order(_typed(prompt))
    return None if untagged is None else kept(without_marks(untagged))


def marked_in_a_paste(prompt: str) -> bool:
    """Tell whether #remember in *prompt* orders nothing only because it stands in what looks pasted."""
    return stands_in_a_paste(_typed(prompt))


def _typed(prompt: str) -> str:
    """Return the public part of *prompt*, '' when the person did not type it or it is to be skipped."""
    if prompt.lstrip().startswith(ECHOES) or says_skip(not_injected(prompt)):
        return ""
    return public(LINE_END.sub("\n", prompt))
