"""What was done to memories, in words."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from mcp_server.actions.sessions.audit import Told
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown


def history(found: Sequence[Told]) -> Shown:
    """Return what was done to memories, the latest first."""
    return Shown(
        f"{counted(len(found), 'deed')}, the latest first; what was forgotten is in the trash:"
        if found
        else "Nothing was done yet.",
        ("when (UTC)", "id", "what", "session", "title"),
        tuple(
            (
                f"{datetime.fromtimestamp(each.at, UTC):%Y-%m-%d %H:%M}",
                each.id,
                each.did,
                each.session[:8],
                each.title,
            )
            for each in found
        ),
        json=[asdict(each) for each in found],
    )
