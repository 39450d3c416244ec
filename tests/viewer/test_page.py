"""What every page of the viewer needs: forms, safe markdown, addresses."""

from collections.abc import Callable, Mapping
from threading import current_thread, main_thread
from urllib.parse import urlencode

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from mcp_server.core.errors import Rejected
from mcp_server.doors.viewer.page import MOST_FIELDS, Fields, form

Send = Callable[[str], object]


def _answer(request: Request, fields: Fields) -> Response:
    assert current_thread() is not main_thread()
    return JSONResponse({"path": request.url.path, "fields": fields.multi_items()})


@pytest.fixture
def send() -> Send:
    """Send the body of a form to an endpoint that answers with what it was given."""
    client = TestClient(Starlette(routes=[Route("/it", form(_answer), methods=["POST"])]))
    headers: Mapping[str, str] = {"content-type": "application/x-www-form-urlencoded"}
    return lambda body: client.post("/it", content=body, headers=headers).json()


def test_a_form_is_read_with_empty_and_repeated_fields_and_plain_line_ends(send: Send) -> None:
    sent_fields = [("title", "Ä & b = c"), ("tag", "one"), ("tag", "two"), ("text", "a\r\nb"), ("none", "")]
    read_fields = [["title", "Ä & b = c"], ["tag", "one"], ["tag", "two"], ["text", "a\nb"], ["none", ""]]
    assert send(urlencode(sent_fields)) == {"path": "/it", "fields": read_fields}


@pytest.mark.parametrize("body", ["a=1&" * (MOST_FIELDS + 1), b"a=\xff"])
def test_a_form_that_cannot_be_read_is_refused_in_a_sentence(send: Send, body: str) -> None:
    with pytest.raises(Rejected, match="cannot be read"):
        send(body)
