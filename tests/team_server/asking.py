"""Requests to a team's server as any program may send them, byte by byte."""

import json
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx2

from mcp_server.adapters.team_client import META, PROTOCOL
from tests.patience import PATIENCE

LATE = "did not answer within"  # the server, or its client for it


def calling(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the body of a request that calls *tool*."""
    params = {"name": tool, "arguments": arguments, "_meta": META}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def headers(token: str, tool: str = "team", **more: str) -> dict[str, str]:
    """Return the headers of a request that calls *tool*."""
    return {
        "authorization": f"Bearer {token}",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": PROTOCOL,
        "mcp-method": "tools/call",
        "mcp-name": tool,
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


def post(
    address: str, token: str, body: object = None, *, path: str = "/mcp", **more: str
) -> httpx2.Response:
    """Send a request as *token* with more headers; without a body it asks for the team."""
    content = body if isinstance(body, bytes) else json.dumps(body or calling("team")).encode()
    return httpx2.post(
        f"{address}{path}", content=content, headers=headers(token, **more), timeout=PATIENCE, trust_env=False
    )


def raw(address: str, data: bytes) -> bytes:
    """Send *said* on a connection of its own, and return all that is answered until it is closed."""
    place = urlsplit(address)
    answer = b""
    with socket.create_connection((place.hostname, place.port), PATIENCE) as connected:
        connected.sendall(data)
        connected.shutdown(socket.SHUT_WR)
        while part := connected.recv(65536):
            answer += part
    return answer


def with_the_team(recall: Callable[[], str]) -> str:
    """Return what *recall* answers, asked again while a busy machine takes longer than the team is given."""
    for _ in range(20):
        if LATE not in (answer := recall()):
            break
    return answer
