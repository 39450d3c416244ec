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
from mcp_server.core.memory_parts import type_or_kind
from mcp_server.core.render import state_of
from mcp_server.doors.shown import links as shown
from mcp_server.doors.shown.draft_outcome import beside as told_apart
from mcp_server.doors.shown.draft_outcome import note
from mcp_server.doors.viewer.editing import linked_words
from mcp_server.doors.viewer.page import Fields, form, page
from mcp_server.doors.viewer.page_query import MEMORY, Where, store_for
from mcp_server.store import Store

CHOICES = 8  # memories, at most, that a list to choose from has


def links(request: Request) -> Response:
    """Return the page of a memory's links."""
    return _links(request, store_for(request))


def choices(request: Request) -> Response:
    """Return the memories whose title or id has the words typed so far, to choose from."""
    store, words = store_for(request), request.query_params.get("said", "")
    own = find(store, request.path_params["memory_id"])
    rows = [row for row in named_like(store, words, limit=CHOICES + 1) if row.ref != own.ref][:CHOICES]
    options = [(row, type_or_kind(row.kind, row.type), state_of(row.status)) for row in rows]
    return page(request, "link_choices.html", choices=options, words=words)


def add(request: Request, inputs: Fields) -> Response:
    """Link the memory to another one or to a file, or let another one supersede it."""
    store, memory_id = store_for(request), request.path_params["memory_id"]
    other = inputs.get("to") or inputs.get("said", "")
    if not other.strip():
        raise Rejected("Nothing to link to was named.", "Type words of a title and choose a memory.")
    if inputs.get("how") == "superseded":
        outcome = link(store, other, memory_id, SUPERSEDES)
    else:
        outcome = link(store, memory_id, other, inputs.get("rel", ""))
    return _links(request, store, remark=shown.linked(outcome).head)


def take_away(request: Request, inputs: Fields) -> Response:
    """Take a link from or to the memory away."""
    store, memory_id = store_for(request), request.path_params["memory_id"]
    ends = (memory_id, inputs.get("target", ""))
    if inputs.get("incoming"):
        ends = (inputs["incoming"], memory_id)
    return _links(request, store, remark=shown.unlinked(unlink(store, *ends, inputs.get("rel", ""))).head)


def beside(request: Request, inputs: Fields) -> Response:
    """Settle how a memory relates to one that may be about the same thing: it replaces that, or both hold."""
    store, memory_id, other = store_for(request), request.path_params["memory_id"], inputs.get("other", "")
    if inputs.get("how") == "replaces":
        outcome = looked_up(store, let_replace(store, memory_id, [other]))
        remark = note(outcome, settling=lambda *_: "") or f"{memory_id} had already replaced it."
    else:
        remark = told_apart(tell_apart(store, memory_id, [other]))
    where = Where(request, store)
    return page(request, "told.html", remark=linked_words(request, where, remark, {memory_id, other}))


def _links(request: Request, store: Store, *, remark: str = "") -> Response:
    """Return the page of links, after a change only the list of them with a *remark* on what was done."""
    file = read(store, request.path_params["memory_id"])
    memory, where = file.memory, Where(request, store)
    related = get_related(store, memory.id)
    rows = [
        {
            "edge": edge,
            "written": is_written(edge),
            "state": state_of(edge.other.status) if edge.other else "",
        }
        for edge in related.edges
    ]
    ids = {edge.other.id for edge in related.edges if edge.other}
    answer = page(
        request,
        "links_list.html" if "hx-request" in request.headers else "links.html",
        id=memory.id,
        title=memory.title,
        where=where,
        rows=rows,
        left_out=related.left_out,
        labels=RESERVED,
        remark=linked_words(request, where, remark, ids),
    )
    if remark:
        answer.headers["HX-Trigger-After-Swap"] = "linked"
    return answer


ROUTES = (
    Route(f"{MEMORY}/links", links),
    Route(f"{MEMORY}/links/choices", choices),
    Route(f"{MEMORY}/links", form(add), methods=["POST"]),
    Route(f"{MEMORY}/links/away", form(take_away), methods=["POST"]),
    Route(f"{MEMORY}/beside", form(beside), methods=["POST"]),
)
