"""
A team's memory behind its server, called over MCP: one request for each call, without a handshake.

Whatever the server does, a call ends within its deadline, reads a bounded number of bytes, follows no
redirection, and checks every answer (`core/team/wire.py`). The token goes only to the address that the person
named, encrypted unless that is this machine. A search with a patience does not call a server that failed a
moment ago; other calls always do.
"""

import itertools
import json
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from mcp_server import __version__
from mcp_server.adapters.availability import RESTS, Availability, NotAnswered
from mcp_server.adapters.http_request import Answered, NoAnswer, Poster
from mcp_server.core.addresses import is_http, travels_readable
from mcp_server.core.errors import DaybookError, Rejected, StorageUnavailable, TokenUnknown
from mcp_server.core.memory import Memory
from mcp_server.core.search.query import MAX_QUERY, Query, check_limit
from mcp_server.core.storage.port import PAGE, ChangeRecord, Results, Stored
from mcp_server.core.team import wire
from mcp_server.core.team.json_values import value_of
from mcp_server.core.team.team import Team

T = TypeVar("T")

DEADLINE = 10.0  # seconds of one request
MOST_BYTES = 32 * 1024 * 1024  # of an answer: 50 results of the longest texts have less
LONGEST_TOKEN = 200  # characters
MOST_CHANGES = 10_000  # of one memory that are read: a server could go on for ever

READING = frozenset({"team", "recall", "read", "history", "list", "confirmed"})
"""The tools that change nothing: asked on one kept connection, and again when that was closed meanwhile."""

# The protocol's revision without sessions: https://modelcontextprotocol.io/specification/2026-07-28
PROTOCOL = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientInfo": {"name": "daybook", "version": __version__},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class TeamClient:
    """
    The memory of the team whose server is at *url*, as the member with *token* may use it: a TeamStorage.

    Calls may come from many threads. *own_network* is as for `Poster`, *deadline* in seconds. Raises Rejected
    for an address or a token that cannot be used.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        own_network: bool = True,
        deadline: float = DEADLINE,
        rests: Sequence[float] = RESTS,
    ) -> None:
        self.url = checked_url(url)
        self._token = checked_token(token)
        self._post = Poster(f"{self.url}/mcp", own_network=own_network, deadline=deadline, most=MOST_BYTES)
        self._ids = itertools.count(1)
        self._who = f"The team's server {self.url}"
        self._availability = Availability[Results](self._who, rests)
        self._last: tuple[Stored, dict[str, object]] | None = None

    @property
    def problem(self) -> str:
        """Why the server could not be reached the last time, a sentence; '' when it answered."""
        return self._availability.problem

    def team(self) -> Team:
        return self._answer("team", {}, wire.team_of)

    def save(self, memory: Memory, *, replaces: str = "") -> Stored:
        newer = self._newer_keys(memory.id, replaces) if replaces else {}
        arguments = {**newer, **value_of(memory), "replaces": replaces}
        return self._answer("remember", arguments, wire.stored_of)

    def load(self, memory_id: str) -> Stored:
        self._last = self._answer("read", {"id": memory_id}, wire.newer_of)
        return self._last[0]

    def _newer_keys(self, memory_id: str, digest: str) -> dict[str, object]:
        """Return the keys of the team's memory that this Daybook does not know: no change drops them."""
        stored, keys = self._last or (None, {})
        if not stored or (stored.memory.id, stored.digest) != (memory_id, digest):
            # Not the keys of that digest alone: an earlier try may have been stored, and its answer lost.
            stored, keys = self._answer("read", {"id": memory_id}, wire.newer_of)
        return keys

    def search(self, query: Query, *, patience: float = math.inf) -> Results:
        """
        Return what answers *query*, waiting for it at most *patience* seconds.

        Raises StorageUnavailable after that, and at once where the server did not answer a moment ago.
        """
        check_limit(query.limit)
        arguments = value_of(query)
        arguments["text"] = arguments["text"][:MAX_QUERY]
        if patience == math.inf:
            return self._answer("recall", arguments, wire.results_of)
        if self._availability.is_resting:
            raise StorageUnavailable(self.problem)
        try:
            return self._availability.asked(
                lambda: self._answer("recall", arguments, wire.results_of), patience=patience, name="ask-team"
            )
        except NotAnswered as late:
            raise StorageUnavailable(str(late)) from None

    def forget(self, memory_id: str, *, digest: str) -> None:
        self._call("forget", {"id": memory_id, "digest": digest})

    def restore(self, memory_id: str) -> Stored:
        return self._answer("restore", {"id": memory_id}, wire.stored_of)

    def confirm(self, memory_id: str, *, digest: str) -> Stored:
        return self._answer("confirm", {"id": memory_id, "digest": digest}, wire.stored_of)

    def history(self, memory_id: str) -> Sequence[ChangeRecord]:
        changes: list[ChangeRecord] = []
        more = True
        while more:
            arguments = {"id": memory_id, "skip": len(changes)}
            part, more = self._answer(
                "history", arguments, lambda value: _part(value, "changes", wire.change_of)
            )
            changes += part
            if len(changes) > MOST_CHANGES:
                raise self._unreadable(f"more than {MOST_CHANGES:,} changes of one memory.")
        return tuple(changes)

    def page(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        return self._page("list", after, most)

    def confirmed(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        return self._page("confirmed", after, most)

    def _page(self, tool: str, after: str, most: int) -> tuple[Stored, ...]:
        """Return a page, which the server gives in several parts when its texts are long."""
        page: list[Stored] = []
        more = True
        while more and len(page) < most:
            last = page[-1].memory.id if page else after
            arguments = {"after": last, "most": min(most - len(page), PAGE)}
            part, more = self._answer(tool, arguments, lambda value: _part(value, "memories", wire.stored_of))
            if any(stored.memory.id <= last for stored in part[:1]):
                raise self._unreadable("its pages do not go on.")
            page += part
        return tuple(page[:most])

    def _answer(self, tool: str, arguments: dict[str, Any], read: Callable[[object], T]) -> T:
        answer = self._call(tool, arguments)
        try:
            return read(answer)
        except Rejected as error:
            raise self._unreadable(str(error)) from None

    def _unreadable(self, why: str) -> StorageUnavailable:
        return StorageUnavailable(
            f"{self._who} gave an answer that cannot be used: {why}",
            "Daybook may be newer there than here: update it.",
        )

    def _call(self, tool: str, arguments: dict[str, Any]) -> object:
        """Return the answer of *tool*; raise the error that the server gives, or StorageUnavailable."""
        number = next(self._ids)
        request = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": META},
        }
        body = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
        if len(body) > wire.MOST_REQUEST:
            raise Rejected(
                f"That has {len(body):,} bytes; {wire.MOST_REQUEST:,} is the most for a team.",
                "Split it into several memories, each about one thing.",
            )
        headers = {
            "accept": "application/json, text/event-stream",
            "authorization": f"Bearer {self._token}",
            "mcp-protocol-version": PROTOCOL,
            "mcp-method": "tools/call",
            "mcp-name": tool,
            "user-agent": f"daybook/{__version__}",
        }
        try:
            answer = self._post(body, headers, repeatable=tool in READING)
        except NoAnswer as failed:
            raise self._failed(f"{self._who} {failed}") from None
        result = _result(answer.body, number)
        if result is None:
            raise self._refusal(answer)
        content = result.get("structuredContent")
        error = self._error_of(content) if result.get("isError") else None
        if isinstance(error, StorageUnavailable):  # the server is there, and its database is not
            raise self._failed(str(error), error.hint)
        self._availability.note_answer()
        if error:
            raise error
        return content

    def _error_of(self, value: object) -> DaybookError:
        try:
            return wire.error_of(value)
        except Rejected as error:
            return self._unreadable(str(error))

    def _failed(
        self, sentence: str, hint: str | None = None, *, retry_after: float = 0.0
    ) -> StorageUnavailable:
        """Return the error of a failure; searches do not call the server for a while after it."""
        self._availability.note_failure(sentence, retry_after=retry_after)
        return StorageUnavailable(sentence, hint)

    def _refusal(self, answer: Answered) -> DaybookError:
        """Return the error for an HTTP answer that has no result of a tool."""
        status = answer.status
        if status == 401:
            return TokenUnknown(
                f"{self._who} does not know this token (HTTP 401).",
                "It may be mistyped or withdrawn: ask the team's administrator for another, then run"
                f" 'daybook team join {self.url}'.",
            )
        if status == 413:
            return Rejected(f"{self._who} does not take that much at once (HTTP 413).", "Split it.")
        if status == 429:
            return self._failed(
                f"{self._who} was asked too often (HTTP 429).", retry_after=answer.retry_after
            )
        if 300 <= status < 400:
            return self._failed(
                f"{self._who} redirects to another address, which Daybook does not follow (HTTP {status})."
            )
        if status in (404, 405):
            return self._failed(f"{self._who} is not a Daybook team server (HTTP {status}).")
        if status == 503 and isinstance(error := _error(answer.body), StorageUnavailable):
            return self._failed(f"{self._who} says: {error}", error.hint, retry_after=answer.retry_after)
        if answer.is_success:
            return self._failed(f"{self._who} gave an answer that is none of a team's server.")
        return self._failed(f"{self._who} answered with HTTP {status}.", retry_after=answer.retry_after)


def checked_url(url: str) -> str:
    """Return the address of a team's server without a '/' at its end; raise Rejected for no such address."""
    address = url.strip()
    parts = urlsplit(address if is_http(address) else "")
    if not parts.scheme or len(url) > 1000 or parts.query or parts.fragment or parts.username is not None:
        raise Rejected(
            "That is not the address of a team's server.",
            "Give it as in https://team.example.org, without a token.",
        )
    if travels_readable(address):
        raise Rejected(
            f"The token would go to {parts.hostname} unencrypted.",
            "Give an address that begins with https://.",
        )
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/").removesuffix("/mcp"), "", ""))


def checked_token(token: str) -> str:
    """Return *token* without blanks around it; raise Rejected for what cannot be one."""
    bare = token.strip()
    if not bare or len(bare) > LONGEST_TOKEN or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise Rejected("That is not a team's token.", "Copy the whole token that the administrator gave you.")
    return bare


def _part(value: object, key: str, read: Callable[[object], T]) -> tuple[list[T], bool]:
    """Return one part of a list, and whether there is more; raise Rejected."""
    if not isinstance(value, dict) or not isinstance(value.get(key), list):
        raise Rejected(f"it has no list '{key}'.")
    part = [read(item) for item in value[key]]
    return part, bool(part) and value.get("more") is True


def _result(body: bytes, number: int) -> dict[str, Any] | None:
    """Return the result that *body* holds for the request of that *number*, None for anything else."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("id") != number:
        return None
    result = message.get("result")
    return result if isinstance(result, dict) else None


def _error(body: bytes) -> DaybookError | None:
    """Return the error in the *body* of an answer outside MCP, None for any other body."""
    try:
        return wire.error_of(json.loads(body))
    except (ValueError, RecursionError, Rejected):
        return None
