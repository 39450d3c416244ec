"""application: the pages of the viewer, and which address leads to which."""

from collections.abc import Sequence
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from mcp_server.actions.sessions import session_overview
from mcp_server.core.errors import DaybookError, NotFound, Rejected, disk_refused
from mcp_server.doors.viewer import (
    acts,
    changes,
    editing,
    graph,
    history,
    insight,
    linking,
    memories,
    memory_page,
    page,
    review,
    shown_to_claude,
    today,
)
from mcp_server.doors.viewer.page import STATIC, Viewer, viewer


def _live(request: Request) -> Response:
    """
    Tell an open page whether something changed, in this process or another.

    Return the mark of what can be seen now, or no content while it is the `mark` that the page has.
    """
    viewer(request).looked()
    mark = session_overview.mark(viewer(request).opened.store())
    if mark == request.query_params.get("mark"):
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return PlainTextResponse(mark)


# Below /memories/ the first word is an id, which may be any word: no other page has its address there.
PAGES: Sequence[Sequence[BaseRoute]] = (
    today.ROUTES,
    review.ROUTES,
    changes.ROUTES,
    (Route("/live", _live),),
    shown_to_claude.ROUTES,
    insight.ROUTES,
    graph.ROUTES,
    memories.ROUTES,
    acts.ROUTES,
    editing.ROUTES,
    linking.ROUTES,
    history.ROUTES,
    memory_page.ROUTES,
)


def application(viewer: Viewer) -> Starlette:
    """Return the application that answers what the guard lets through."""
    routes: list[BaseRoute] = [route for routes in PAGES for route in routes]
    routes.append(Mount("/static", StaticFiles(directory=STATIC), name="static"))
    app = Starlette(
        routes=routes,
        exception_handlers={
            DaybookError: page.failed,
            OSError: _disk,
            Exception: _broken,
            HTTPStatus.NOT_FOUND: _missing,
            HTTPStatus.METHOD_NOT_ALLOWED: _no_page,
        },
    )
    app.state.viewer = viewer
    return app


def _missing(request: Request, _: Exception) -> Response:
    error = NotFound("", sentence="There is no such page.", hint="Choose one of those above.")
    return page.failed(request, error)


def _no_page(request: Request, _: Exception) -> Response:
    return page.failed(request, Rejected("This address takes what a form sends.", "Choose a page above."))


def _broken(request: Request, error: Exception) -> Response:
    """Return the page of an error of ours; the server raises it again, and the terminal shows it."""
    sentence = f"Daybook failed here: {type(error).__name__}. Other pages are not affected."
    hint = "Please report it, with the terminal's output."
    return page.page(request, "error.html", HTTPStatus.INTERNAL_SERVER_ERROR, sentence=sentence, hint=hint)


def _disk(request: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    return page.failed(request, Rejected(disk_refused(error)))
