"""Tools for how far memories are believed, and whether what was given was of use."""

from typing import Annotated, Literal

from pydantic import Field

from mcp_server.actions.memory import trust
from mcp_server.actions.sessions import quality
from mcp_server.core.memory import split_list
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.replies import shown_lines
from mcp_server.doors.shown import use
from mcp_server.doors.shown.trust import history


def register(application: Application) -> None:
    """Add the tools of trust and of retrieval quality to *application*."""
    tool = application.tool
    session = application.session
    open_store = application.opened.store

    @tool()
    def validate_memory(
        id: str,
        reason: Literal["confirmed", "used", "cross_validated"] = "confirmed",
        note: Annotated[str, Field(description="what it was checked against")] = "",
    ) -> str:
        """Note that a memory was checked and is right, by the code or by the person: it is believed more,
        and counts as verified today. Not for a memory that merely sounds right."""
        record = trust.validate(open_store(), id, reason=reason, note=note, session=session.id)
        return shown_lines(history(record))

    @tool()
    def invalidate_memory(
        id: str,
        reason: Literal["outdated", "partly_incorrect", "wrong"],
        note: Annotated[str, Field(description="what it was checked against")] = "",
    ) -> str:
        """Note that a memory was checked and is outdated, partly incorrect or wrong: it is believed less.
        Revise it, or remember what is right with supersedes, when you know that."""
        record = trust.invalidate(open_store(), id, reason=reason, note=note, session=session.id)
        return shown_lines(history(record))

    @tool(reads=True)
    def get_trust_history(id: str) -> str:
        """Tell how far a memory is believed, and each event that moved that."""
        return shown_lines(history(trust.trust_history(open_store(), id)))

    @tool()
    def mark_memory_used(
        ids: Annotated[list[str] | str, Field(description="ids, a list or one text with commas")],
    ) -> str:
        """Note that recalled memories were of use in this session, when the answer does not name them."""
        return shown_lines(use.used(quality.mark_used(open_store(), split_list(ids), session=session.id)))

    @tool(reads=True)
    def retrieval_quality_stats(
        days: Annotated[int, Field(description="how far to look back, 0 for all time")] = 30,
    ) -> str:
        """Tell how much of what was recalled or shown was used, and which memories are never of use."""
        return shown_lines(use.quality(quality.retrieval_quality(open_store(), days=days)))
