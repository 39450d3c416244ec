"""Notes to search, and what is found."""

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.store import Store

NOTES = {
    "webhook": ("Stripe webhook needs the raw body", "Skip body parsing or signature verification fails."),
    "database": ("Postgres instead of MySQL", "Reports need window functions."),
    "cart": ("The cart lives on the server", "updateCartTotals() revalidates it by tag."),
    "commits": ("Short commit messages", "Subjects are imperative."),
}


def fill(store: Store) -> dict[str, str]:
    return {name: remember(store, Draft(*note, tags=(name,))).memory.id for name, note in NOTES.items()}


def ids_found(store: Store, text: str, **options: object) -> list[str]:
    return [hit.id for hit in recall(store, Query(text, **options)).hits]  # type: ignore[arg-type]
