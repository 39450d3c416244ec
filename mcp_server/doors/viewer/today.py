"""today: what waits for the person, and session by session what Claude was shown and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.sessions import session_history, session_overview
from mcp_server.adapters.index.events.episodes import Episode
from mcp_server.adapters.index.events.receipts import PROMPT, RECALL, START, Receipt
from mcp_server.doors.shown import deeds, sessions
from mcp_server.doors.viewer.page import ALL, address, number, page, paged
from mcp_server.doors.viewer.page_query import Where, store_for

MOST_SESSIONS = 20  # of one page
MOST_DONE = 200  # deeds of one session
MINUTE, HOUR = 60, 3600
WHY = {START: "At the start", PROMPT: "For a prompt", RECALL: "For a search"}


@dataclass(frozen=True, slots=True)
class ShownTogether:
    """What was given at once: why, the prompt or the query that called for it, and each memory of it."""

    at: int
    why: str
    question: str
    receipts: Sequence[Receipt]


def today(request: Request) -> Response:
    """Return the page on which the viewer opens."""
    store = store_for(request)
    project = request.query_params.get("project", "")
    offset = number(request, "from")
    episodes = session_history.list_sessions(
        store, limit=MOST_SESSIONS + 1, offset=offset, all_projects=project == ALL
    )
    listed = episodes[:MOST_SESSIONS]
    return page(
        request,
        "today.html",
        episodes=listed,
        costs=session_history.costs(store, listed),
        lasted=_lasted,
        everywhere=project == ALL,
        has_project=bool(store.project),
        offset=offset,
        **paged(
            lambda first: address("/", project=project, **{"from": first or ""}),
            offset,
            MOST_SESSIONS,
            more=len(episodes) > MOST_SESSIONS,
        ),
        nothing=sessions.NONE,
    )


def session(request: Request) -> Response:
    """Return one session: what Claude was shown in it and why, what was learned and done, what it cost."""
    own_store = store_for(request)
    store = own_store.everywhere()
    report = session_history.tell_session(store, request.path_params["id"])
    _, stored, _ = session_history.session_memories(store, report.episode.id)
    memories = session_overview.shown_memories(store, report.episode.id)
    receipts = [receipt for memory in memories for receipt in memory.receipts]
    return page(
        request,
        "session.html",
        report=report,
        episode=report.episode,
        stored=stored,
        shown_together=_shown_together(receipts),
        titles={memory.receipts[0].ref: memory.row.title for memory in memories if memory.row},
        tokens=sum(receipt.tokens for receipt in receipts),
        used=sum(any(receipt.used for receipt in memory.receipts) for memory in memories),
        memories=memories,
        left_out=len(receipts) == session_overview.MOST_SHOWN,
        deeds=list_deeds(store, session=report.episode.id, limit=MOST_DONE, all_projects=True),
        words=deeds.words,
        why=WHY,
        lasted=_lasted,
        where=Where(request, own_store),
    )


def _shown_together(receipts: Sequence[Receipt]) -> list[ShownTogether]:
    """Return what was given at once together, the latest first."""

    def together(receipt: Receipt) -> tuple[int, str, str]:
        return (-receipt.at, receipt.why, receipt.said)

    return [
        ShownTogether(-at, why, question, tuple(group))
        for (at, why, question), group in groupby(sorted(receipts, key=together), together)
    ]


def _lasted(episode: Episode) -> str:
    """Return how long a session lasted, '' where that is not known."""
    seconds = (episode.ended or episode.last) - episode.started
    if not episode.started or seconds < MINUTE:
        return ""
    hours, minutes = divmod(seconds, HOUR)
    return " ".join(
        filter(None, (f"{hours} h" if hours else "", f"{minutes // MINUTE} min" if minutes >= MINUTE else ""))
    )


ROUTES = (Route("/", today), Route("/sessions/{id}", session))
