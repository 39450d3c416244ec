"""insight: what is stored, shown, used and spent, day by day, as plots with their tables."""

from itertools import pairwise
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.status.insight import AGES, SOON, Insight, OneDay, insight
from mcp_server.core.errors import Rejected
from mcp_server.doors.viewer.page import ALL, page
from mcp_server.doors.viewer.page_query import projects, store_for

RANGES = (7, 30, 365)  # days
USUAL = "30"


def shown_used_and_spent(request: Request) -> Response:
    """Return the page of the figures."""
    days = request.query_params.get("days", USUAL)
    if days not in map(str, RANGES):
        raise Rejected(f"'{days[:20]}' days are not shown.", f"Choose one of {', '.join(map(str, RANGES))}.")
    store = store_for(request)
    everywhere = request.query_params.get("project") == ALL
    figures = insight(store, days=int(days), everywhere=everywhere)
    answer = page(
        request,
        "insight.html",
        figures=figures,
        series=series(figures),
        empty={name: not any(map(happened, figures.days)) for name, happened in HAPPENED.items()},
        happened=HAPPENED,
        ages=[*zip(_age_names(), figures.ages, strict=True)],
        soon=SOON,
        day_range=int(days),
        ranges=RANGES,
        projects=projects(request),
    )
    answer.background = BackgroundTask(sync_if_free, store)  # what was edited by hand then shows by itself
    return answer


HAPPENED = {
    "shown": lambda day: day.shown,
    "used": lambda day: day.answers,
    "spent": lambda day: day.calls + day.plan_calls,
    "sessions": lambda day: day.sessions,
}
"""Plot → how to tell whether a day has anything of it."""


def series(figures: Insight) -> dict[str, Any]:
    """Return the numbers that the plots draw: the days in Unix seconds, and of each plot its lines."""
    return {
        "days": [day.at for day in figures.days],
        "shown": [
            [day.start for day in figures.days],
            [day.prompts for day in figures.days],
            [day.searches for day in figures.days],
        ],
        "used": [[_percent(day) for day in figures.days]],
        "spent": [[round(day.usd, 6) for day in figures.days]],
        "sessions": [[day.sessions for day in figures.days]],
    }


def _percent(day: OneDay) -> float | None:
    """Return how much of a day's answers was used, None when there was none."""
    return round(100 * day.used / day.answers, 1) if day.answers else None


def _age_names() -> list[str]:
    between = [f"{low} to {high} days" for low, high in pairwise(AGES)]
    return [f"under {AGES[0]} days", *between, f"{AGES[-1]} days or more"]


ROUTES = (Route("/insight", shown_used_and_spent),)
