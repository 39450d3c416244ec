"""Tools for what memories are worth: what is kept at hand, what comes next, trust, and use."""

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from pydantic import Field

from mcp_server.actions.context.brief import at_hand
from mcp_server.actions.files.read import is_shown, read
from mcp_server.actions.files.sync import refresh_index
from mcp_server.actions.judge.change_memory import Wanted
from mcp_server.actions.memory import promote as hot_places
from mcp_server.actions.memory import trust
from mcp_server.actions.memory.revise import Revision
from mcp_server.actions.sessions import predict, quality
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory_parts import split_list
from mcp_server.doors.server import typed
from mcp_server.doors.server.application import Application
from mcp_server.doors.shown import Shown, use
from mcp_server.doors.shown import hot as shown
from mcp_server.doors.shown.origins import WAITS_ON
from mcp_server.doors.shown.trust import history

HOT_CACHE = "memory://hot-cache"
EMPTY = "No memory is kept at hand yet."


def register(application: Application) -> None:
    """Add the tools of the hot set, of predictions, of trust and of use to *application*, and `HOT_CACHE`."""
    tool = application.tool
    open_store = application.opened.store

    @application.server.resource(
        HOT_CACHE, name="hot-cache", description="Memories kept at hand.", mime_type="text/plain"
    )
    def hot_cache() -> str:
        try:
            store = open_store()
            refresh_index(store)
            return at_hand(store) or EMPTY
        except DaybookError as error:
            return error.with_hint

    @tool()
    def pin(id: str) -> Shown:
        """Pin a memory, so that it is kept at hand in every session. Only when the person asked for it."""
        store = open_store()
        outcome = hot_places.pin(store, id, pinned=True)
        return shown.pinned(outcome, "" if is_shown(store, outcome.file) else WAITS_ON)

    @tool()
    def unpin(context: Context[Any, Any], id: str) -> Shown:
        """Unpin a memory: it is kept at hand only while it is used. Only when the person asked for it."""
        store = open_store()
        unpinning = Revision(pinned=False)
        as_typed = typed.revise(id, Wanted(unpinning))
        application.consent(context, store).before_fading(id, unpinning, typed=as_typed)
        return shown.pinned(hot_places.pin(store, id, pinned=False))

    @tool()
    def promote(id: str) -> Shown:
        """Put a memory into the hot set now; it leaves after two weeks without use."""
        store = open_store()
        promotion = hot_places.promote(store, id)
        waits = "" if is_shown(store, read(store, id)) else WAITS_ON
        return shown.promoted(id, promotion, waits, days=store.settings.cold_after)

    @tool()
    def demote(id: str) -> Shown:
        """Take a memory out of the hot set now; new accesses bring it back."""
        was_hot = hot_places.demote(open_store(), id)
        return shown.demoted(id, was_hot=was_hot)

    @tool(reads=True)
    def hot_cache_status() -> Shown:
        """List the memories kept at hand and why, which leaves first, and which are likely to be needed
        next."""
        return shown.status(hot_places.hot_status(open_store()))

    @tool(reads=True)
    def access_patterns(limit: Annotated[int, Field(description="1 to 50")] = 20) -> Shown:
        """List which memories are asked for one after the other, and how likely that is."""
        patterns = predict.access_patterns(open_store(), limit=limit)
        return shown.patterns(patterns, nothing=shown.NO_PATTERN)

    @tool(reads=True)
    def predict_next(
        id: Annotated[str, Field(description="after this memory; if empty, after the last recall")] = "",
    ) -> Shown:
        """List the memories likely to be needed next, from what earlier sessions asked for."""
        patterns = predict.predict_next(open_store(), id)
        return shown.patterns(patterns, nothing=shown.UNLIKELY)

    @tool()
    def validate_memory(
        id: str,
        reason: Literal["confirmed", "used", "cross_validated"] = "confirmed",
        note: Annotated[str, Field(description="what it was checked against")] = "",
    ) -> Shown:
        """Record that a memory was checked, against the code or by the person, and is right: its trust rises
        and it counts as verified today. Not for a memory that merely sounds right."""
        record = trust.validate(open_store(), id, reason=reason, note=note)
        return history(record)

    @tool()
    def invalidate_memory(
        id: str,
        reason: Literal["outdated", "partly_incorrect", "wrong"],
        note: Annotated[str, Field(description="what it was checked against")] = "",
    ) -> Shown:
        """Record that a memory was checked and is outdated, partly incorrect or wrong: its trust falls. If
        you know what is right, revise it, or remember that with supersedes."""
        record = trust.invalidate(open_store(), id, reason=reason, note=note)
        return history(record)

    @tool(reads=True)
    def get_trust_history(id: str) -> Shown:
        """Show the trust in a memory, and each event that changed it."""
        return history(trust.trust_history(open_store(), id))

    @tool()
    def mark_memory_used(
        ids: Annotated[list[str] | str, Field(description="ids: a list, or one comma-separated text")],
    ) -> Shown:
        """Record that recalled memories were useful in this session, when your answer does not name them."""
        return use.used(quality.mark_used(open_store(), split_list(ids)))

    @tool(reads=True)
    def retrieval_quality_stats(
        days: Annotated[int, Field(description="how far to look back, 0 for all time")] = 30,
    ) -> Shown:
        """Show how many of the recalled or shown memories were used, and which are never used."""
        return use.quality(quality.retrieval_quality(open_store(), days=days))
