"""Tools for the upkeep of the memory: index, cleaning, history, figures."""

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from pydantic import Field

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.model.choose_embedder import list_models, progress
from mcp_server.actions.status.stats import get_stats as count
from mcp_server.actions.status.stats import metrics
from mcp_server.actions.upkeep.maintain import clean_up, maintain
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.dialog import Dialog
from mcp_server.doors.shown import Shown, deeds, figures, upkeep
from mcp_server.doors.shown.persons_acts import EMPTYING_TRASH


def register(application: Application) -> None:
    """Add the tools for upkeep to *application*."""
    tool = application.tool
    open_store = application.opened.store

    @tool()
    def db_maintenance(
        action: Annotated[
            Literal["check", "vacuum", "rebuild", "all"],
            Field(description="rebuild makes a new index from the files; all repairs and shrinks it"),
        ] = "check",
    ) -> Shown:
        """Check, shrink or rebuild the search index, and report sizes and seconds. Memories are files and
        stay untouched. Call it when a search fails or its answers look wrong."""
        return upkeep.steps(maintain(open_store(), action))

    @tool(destroys=True)
    def run_cleanup(
        context: Context[Any, Any],
        dry_run: Annotated[bool, Field(description="false carries out the plan")] = True,
    ) -> Shown:
        """Show what could be cleaned up: aged memories, expired candidates, trash older than 90 days,
        unfinished files. With dry_run=false a dialog asks the person, then it is done."""
        if not dry_run:
            plan = upkeep.cleaned_counts(clean_up(open_store(), dry_run=True))
            Dialog(context).consent(
                f"Clean up? Old trash is deleted for good. It {plan}",
                act=EMPTYING_TRASH,
                typed="maintain clean --apply",
            )
        return upkeep.cleaned(clean_up(open_store(), dry_run=dry_run))

    @tool(reads=True)
    def audit_history(
        id: Annotated[str, Field(description="only this memory, which may be forgotten")] = "",
        session: Annotated[str, Field(description="only what was done in this session")] = "",
        limit: Annotated[int, Field(description="1 to 500")] = 50,
        all_projects: bool = False,
    ) -> Shown:
        """List what was done to memories, when and in which session: stored, revised, forgotten, tidied. Call
        it when a memory changed or is gone and the person wonders why."""
        titled_deeds = list_deeds(open_store(), id, session=session, limit=limit, all_projects=all_projects)
        return deeds.history(titled_deeds)

    @tool(reads=True)
    def metrics_status() -> Shown:
        """Count what was recalled, shown, stored and spent this month; show sizes and what waits."""
        return figures.metrics(metrics(open_store()))

    @tool(reads=True)
    def embedding_info() -> Shown:
        """Show which embedding model is used, how much it has embedded, and which models there are."""
        store = open_store()
        return figures.embedding(progress(store), list_models(store), store.meaning.problem)

    @tool(reads=True)
    def get_stats() -> Shown:
        """Count memories by kind, type, status and tag, and list the files that cannot be read."""
        return figures.stats(count(open_store()))
