"""What becomes of a memory that might be shown unasked, in words, and the start of a session for programs."""

from collections.abc import Iterable

from mcp_server.actions.context.inject import Fate
from mcp_server.actions.context.start import AtStart, Instead
from mcp_server.core.memory_parts import id_in

WITH_PROMPT = {
    Fate.TEXT: "shown with its text",
    Fate.TITLE: "shown by title: not sure enough for its text",
    Fate.TITLE_OF_SHORT: "shown by title: the prompt is too short for a text",
    Fate.TITLE_OF_MANY: "shown by title: enough texts are shown already",
    Fate.UNSURE: "not sure enough",
    Fate.WAITS: "not shown unasked until the person accepts it",
    Fate.GONE: "all files that it is about are gone",
    Fate.SHOWN_BEFORE: "already shown in this session",
    Fate.POINTED_BEFORE: "its title was already shown in this session",
    Fate.NO_ROOM: "no room left with this prompt",
}
"""What becomes of a memory that is near a prompt."""

AT_START = {
    Instead.TITLE: "shown by title",
    Instead.NO_ROOM: "not shown: no room left",
    Instead.GONE: "not shown: all files that it is about are gone",
}
"""What becomes of a memory whose text the brief leaves out."""


def at_start(begins: AtStart) -> dict[str, object]:
    """Return what a session that starts is shown, as JSON; memories are named by their ids."""
    block = begins.block
    return {
        "text": begins.brief.text,
        "tokens": begins.tokens,
        "most_tokens": begins.budget,
        "memories": ids(begins.brief.refs),
        "titles": ids(begins.brief.titles),
        "left_out": [
            {"id": entry.id, "section": entry.section, "because": AT_START[entry.instead]}
            for entry in begins.left_out
        ],
        "block": {"file": block.name, "text": block.text, "memories": ids(block.refs)} if block else None,
    }


def ids(refs: Iterable[str]) -> list[str]:
    """Return the ids in *refs*."""
    return [id_in(ref) for ref in refs]
