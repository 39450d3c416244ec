"""memory_page: one memory whole, with its state, its links and the sessions that were shown it."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import is_shown, read
from mcp_server.actions.memory.list_trash import find_trashed
from mcp_server.actions.memory.promote import is_held
from mcp_server.actions.memory.related import Related, get_related, is_written
from mcp_server.actions.memory.trust import Standing, trust_history
from mcp_server.actions.sessions.quality import why
from mcp_server.actions.team.memories import read_anywhere
from mcp_server.core.errors import NotFound
from mcp_server.core.links import as_name
from mcp_server.core.memory import WORDS
from mcp_server.core.memory_parts import Status, check_id, type_or_kind
from mcp_server.core.render import state_of
from mcp_server.core.storage.port import Stored
from mcp_server.doors.shown.trust import history
from mcp_server.doors.viewer.acts import ACTS, BRINGS_BACK, judged, offered
from mcp_server.doors.viewer.page import page, viewer
from mcp_server.doors.viewer.page_query import MEMORY, Where, store_for
from mcp_server.store import Store

TOLD = 20  # receipts of one memory that are shown
SOURCES = {
    "manual": "you said or wrote it",
    "assistant": "Claude stored it by itself",
    "extracted": "a model took it from a session",
    "mined": "a pattern found it in a session",
    "imported": "it came from another tool or document of yours",
    "output": "a program printed it",
    "seeded": "it came from a document that anyone may have written",
    "transcript": "it was said in a session",
}
"""What each source of a memory means; another word is shown as it is."""


def reading(request: Request) -> Response:
    """Return the page of one memory, for a request of htmx the memory alone; raise NotFound, Rejected."""
    store, memory_id = store_for(request), check_id(request.path_params["memory_id"])
    where = Where(request, store)
    try:
        file = read(store, memory_id)
    except NotFound:
        if in_trash := find_trashed(store, memory_id):
            acts = {BRINGS_BACK: ACTS[BRINGS_BACK]}
            trashed: dict[str, Any] = {"trashed": in_trash, "where": where, "acts": acts}
            return page(request, "memory_trashed.html", **trashed)
        stored = read_anywhere(store, memory_id)
        if isinstance(stored, Stored):
            return page(request, "memory_of_team.html", stored=stored)
        file = stored
    values = _values(request, store, where, file)
    return page(request, "memory.html", **values)


def _values(request: Request, store: Store, where: Where, file: MemoryFile) -> dict[str, Any]:
    memory = file.memory
    related = get_related(store, memory.id)
    trust = trust_history(store, memory.id)
    edges = related.edges
    return {
        "memory": memory,
        "file": file,
        "where": where,
        "kind": type_or_kind(memory.kind, memory.type),
        "state": state_of(memory.status, by=memory.superseded_by, shadowed_by=trust.standing.shadowed_by),
        "source": SOURCES.get(memory.source, ""),
        "shown_unasked": memory.status is Status.ACTIVE and is_shown(store, file),
        "is_hot": is_held(store, file.ref),
        "standing": trust.standing,
        "trusted": history(trust),
        "touches": [(touch, _state_of(touch, trust.standing)) for touch in memory.touches],
        "links": {
            "Links to": [(edge, is_written(edge)) for edge in edges if edge.outgoing],
            "Linked from": [(edge, is_written(edge)) for edge in edges if not edge.outgoing],
        },
        "links_left_out": related.left_out,
        "linked": _linked(request, where, related),
        "receipts": why(store, ref=file.ref, limit=TOLD),
        "words": [(name, value) for name in WORDS if (value := getattr(memory, name))],
        "acts": offered(store, file),
        "judged": judged() if memory.status is Status.ACTIVE else {},
    }


def _state_of(touch: str, standing: Standing) -> str:
    """Return what became of a file that a memory is about, '' for nothing that is known."""
    named = {touch, touch.rpartition(":")[0]}
    if named.intersection(standing.stale.missing):
        return "is gone"
    return "changed since" if named.intersection(standing.stale.changed) else ""


def _linked(request: Request, where: Where, related: Related) -> dict[str, str]:
    """Return each name that the text may use for a linked memory → the address of that memory."""
    base = viewer(request).base
    names: dict[str, str] = {}
    for edge in related.edges:
        if edge.outgoing and edge.other:
            to = base + where.to(edge.other.vault, edge.other.id)
            names |= {as_name(name): to for name in (edge.target, edge.other.id, edge.other.title)}
    return names


ROUTES = (Route(MEMORY, reading),)
