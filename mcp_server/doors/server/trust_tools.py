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
        """Record that a memory was checked, against the code or by the person, and is right: its trust rises
        and it counts as verified today. Not for a memory that merely sounds right."""
        record = trust.validate(open_store(), id, reason=reason, note=note, session=session.id)
        return shown_lines(history(record))

    @tool()
    def invalidate_memory(
        id: str,
        reason: Literal["outdated", "partly_incorrect", "wrong"],
        note: Annotated[str, Field(description="what it was checked against")] = "",
    ) -> str:
        """Record that a memory was checked and is outdated, partly incorrect or wrong: its trust falls. If
        you know what is right, revise it, or remember that with supersedes."""
        record = trust.invalidate(open_store(), id, reason=reason, note=note, session=session.id)
        return shown_lines(history(record))

    @tool(reads=True)
    def get_trust_history(id: str) -> str:
        """Show the trust in a memory, and each event that changed it."""
        return shown_lines(history(trust.trust_history(open_store(), id)))

    @tool()
    def mark_memory_used(
        ids: Annotated[list[str] | str, Field(description="ids: a list, or one comma-separated text")],
    ) -> str:
        """Record that recalled memories were useful in this session, when your answer does not name them."""
        return shown_lines(use.used(quality.mark_used(open_store(), split_list(ids), session=session.id)))

    @tool(reads=True)
    def retrieval_quality_stats(
        days: Annotated[int, Field(description="how far to look back, 0 for all time")] = 30,
    ) -> str:
        """Show how many of the recalled or shown memories were used, and which are never used."""
        return shown_lines(use.quality(quality.retrieval_quality(open_store(), days=days)))
