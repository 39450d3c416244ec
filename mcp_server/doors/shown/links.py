"""How memories are linked, and what became of a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.actions.memory.link import Linked, Related, is_written
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.rows import ROW, row_cells, row_json

if TYPE_CHECKING:
    from mcp_server.adapters.index.memories.relations import Edge

NOTHING = "Nothing is related yet; a link says what belongs together (link_memories, 'daybook link FROM TO')."


def linked(done: Linked) -> Shown:
    """Return what became of a new link."""
    became = "linked." if done.changed else "linked already."
    return Shown(f"{done.source} {done.rel} {done.target}: {became} {done.note}".rstrip())


def unlinked(done: Linked) -> Shown:
    """Return what became of a link that was taken back."""
    if not done.changed:
        return Shown(f"{done.source} {done.rel} {done.target}: there is no such link; nothing was changed.")
    return Shown(f"{done.source} {done.rel} {done.target}: unlinked. {done.note}".rstrip())


def related(found: Related) -> Shown:
    """Return what a memory is linked with, and the memories with any of some tags."""
    links = counted(len(found.edges) + found.left_out, "link")
    nothing = () if found.edges or found.tagged else (NOTHING,)
    more = (f"{found.left_out} more; ask with less depth.",) if found.left_out else ()
    tagged = Shown(
        f"With such a tag: {counted(len(found.tagged), 'memory')}",
        ROW,
        [row_cells(row) for row in found.tagged],
    )
    return Shown(
        f"{found.about.id} · {found.about.title}: {links}" if found.about else "",
        ("memory", "link", "with", "type", "updated", "status", "", "title"),
        [_edge(edge) for _, edge in found.edges],
        below=(tagged,) if found.tagged else (),
        notes=(*more, *nothing),
        json={
            "links": [_edge_json(edge, depth) for depth, edge in found.edges],
            "tagged": [row_json(row) for row in found.tagged],
        },
    )


def _edge(edge: Edge) -> tuple[object, ...]:
    arrow = f"{edge.rel} →" if edge.outgoing else f"← {edge.rel}"
    other = edge.other
    written = "written as [[...]] in its text" if is_written(edge) else ""
    if other is None:
        return (edge.near.id, arrow, edge.target, "", "", "no memory", written, "")
    _, *about, title, _ = row_cells(other)
    return (edge.near.id, arrow, other.id, *about, written, title)


def _edge_json(edge: Edge, depth: int) -> dict[str, object]:
    ends = (edge.near.id, edge.other.id if edge.other else edge.target)
    source, target = ends if edge.outgoing else ends[::-1]
    return {
        "depth": depth,
        "from": source,
        "rel": edge.rel,
        "to": target,
        "status": edge.other and edge.other.status.value,
        "written": is_written(edge),
    }
