"""What documents say and nobody accepted yet, in words."""

from collections.abc import Sequence

from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.render import counted

ACCEPTING = "daybook trust --documents"


def waiting(rows: Sequence[Row]) -> str:
    """Return what is to be typed so that *rows* are told unasked, '' when there are none."""
    if not rows:
        return ""
    what = counted(len(rows), "memory")
    return f"Found by search and not told unasked: {what}. To accept all: {ACCEPTING} (in a terminal)."
