"""live_updates: tell the open pages that something changed, in this or another process."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mcp_server.actions.sessions import session_overview
from mcp_server.doors.viewer.page import viewer


def live(request: Request) -> Response:
    """Return the mark of what can be seen now, or no content while it is the `mark` that the page has."""
    viewer(request).looked()
    mark = session_overview.mark(viewer(request).opened.store())
    if mark == request.query_params.get("mark"):
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return PlainTextResponse(mark)


ROUTES = (Route("/live", live),)
