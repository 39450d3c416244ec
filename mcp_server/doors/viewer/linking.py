"""linking: what a memory is linked with; link it, take a link away, let another memory take its place."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.files.read import find, read
from mcp_server.actions.judge.compare_and_store import let_replace, looked_up
from mcp_server.actions.judge.contradiction import tell_apart
from mcp_server.actions.memory.link import link, unlink
from mcp_server.actions.memory.list import named_like
from mcp_server.actions.memory.related import get_related, is_written
from mcp_server.core.errors import Rejected
from mcp_server.core.links import RESERVED, SUPERSEDES
from mcp_server.core.memory import type_or_kind
from mcp_server.core.render import state_of
from mcp_server.doors.shown import links as shown
from mcp_server.doors.shown.draft_outcome import beside as told_apart
from mcp_server.doors.shown.draft_outcome import note
from mcp_server.doors.viewer.asked import Where, store_for
from mcp_server.doors.viewer.editing import linked_words
from mcp_server.doors.viewer.page import Fields, form, page
from mcp_server.store import Store

CHOICES = 8  # memories, at most, that a list to choose from has


def links(request: Request) -> Response:
    """Return the page of a memory's links."""
    return _links(request, store_for(request))


def choices(request: Request) -> Response:
    """Return the memories whose title or id has the words typed so far, to choose from."""
    store, said = store_for(request), request.query_params.get("said", "")
    own = find(store, request.path_params["memory_id"])
    found = [row for row in named_like(store, said, limit=CHOICES + 1) if row.ref != own.ref][:CHOICES]
    told = [(row, type_or_kind(row.kind, row.type), state_of(row.status)) for row in found]
    return page(request, "link_choices.html", choices=told, said=said)


def add(request: Request, given: Fields) -> Response:
    """Link the memory to another one or to a file, or let another one supersede it."""
    store, memory_id = store_for(request), request.path_params["memory_id"]
    other = given.get("to") or given.get("said", "")
    if not other.strip():
        raise Rejected("It is not said what to link to.", "Type words of a title and choose one.")
    if given.get("how") == "superseded":
        done = link(store, other, memory_id, SUPERSEDES)
    else:
        done = link(store, memory_id, other, given.get("rel", ""))
    return _links(request, store, done=shown.linked(done).head)


def take_away(request: Request, given: Fields) -> Response:
    """Take a link from or to the memory away."""
    store, memory_id = store_for(request), request.path_params["memory_id"]
    ends = (memory_id, given.get("target", ""))
    if given.get("incoming"):
        ends = (given["incoming"], memory_id)
    return _links(request, store, done=shown.unlinked(unlink(store, *ends, given.get("rel", ""))).head)


def beside(request: Request, given: Fields) -> Response:
    """Settle how a memory stands to one that may be about the same thing: it replaces that, or both hold."""
    store, memory_id, other = store_for(request), request.path_params["memory_id"], given.get("other", "")
    if given.get("how") == "replaces":
        done = looked_up(store, let_replace(store, memory_id, [other]))
        told = note(done, settling=lambda *_: "") or f"{memory_id} had taken its place already."
    else:
        told = told_apart(tell_apart(store, memory_id, [other]))
    where = Where(request, store)
    return page(request, "told.html", told=linked_words(request, where, told, {memory_id, other}))


def _links(request: Request, store: Store, *, done: str = "") -> Response:
    """Return the page of links, after a change only the list of them with what was *done*."""
    found = read(store, request.path_params["memory_id"])
    memory, where = found.memory, Where(request, store)
    related = get_related(store, memory.id)
    rows = [
        {
            "edge": edge,
            "written": is_written(edge),
            "state": state_of(edge.other.status) if edge.other else "",
        }
        for _, edge in related.edges
    ]
    ids = {edge.other.id for _, edge in related.edges if edge.other}
    answer = page(
        request,
        "links_list.html" if "hx-request" in request.headers else "links.html",
        id=memory.id,
        title=memory.title,
        where=where,
        rows=rows,
        left_out=related.left_out,
        labels=RESERVED,
        done=linked_words(request, where, done, ids),
    )
    if done:
        answer.headers["HX-Trigger-After-Swap"] = "linked"
    return answer


MEMORY = "/memories/{memory_id}"
ROUTES = (
    Route(f"{MEMORY}/links", links),
    Route(f"{MEMORY}/links/choices", choices),
    Route(f"{MEMORY}/links", form(add), methods=["POST"]),
    Route(f"{MEMORY}/links/away", form(take_away), methods=["POST"]),
    Route(f"{MEMORY}/beside", form(beside), methods=["POST"]),
)
