"""recall, with the team's memory where the person joined one; else nothing of a team is loaded."""

from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.search.query import Answer, Query
from mcp_server.store import Store


def recall_with_team(
    store: Store, query: Query, *, given_to: str = "", patience: float | None = None
) -> Answer:
    """
    Return what answers *query*, of the person's memories and their team's, best first.

    Without a team it is what `recall` returns, and costs nothing more. `Answer.team` says in a sentence why
    the team did not answer within *patience*, in seconds, by default as long as a session waits. A question
    with a secret or something private in it is not sent. *given_to* is as for `recall`. Raises what `recall`
    does.
    """
    if not store.of_team or not _concerns(query):
        return recall(store, query, given_to=given_to)
    from mcp_server.actions.team.side_by_side import recall_side_by_side  # slow to load

    return recall_side_by_side(store, query, given_to=given_to, patience=patience)


def _concerns(query: Query) -> bool:
    """Tell whether the team may have an answer to *query*: knowledge, of its level."""
    kinds = query.filter.kinds
    return query.filter.level in (None, Level.TEAM) and (not kinds or Kind.KNOWLEDGE in kinds)
