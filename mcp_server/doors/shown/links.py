"""How memories are linked, and what became of a link."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.actions.memory.link import Linked
from mcp_server.actions.memory.related import Related, is_written
from mcp_server.core.links import After
from mcp_server.core.render import counted, state_of
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.rows import ROW, row_cells, row_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.adapters.index.memories.relations import Edge
    from mcp_server.core.links import LinkOutcome

AFTER = {
    After.SUPERSEDED: "'{id}' is superseded now; it is found with include_archived.",
    After.WAITS: "'{source}' waits for the person's word, and takes the place of '{id}' with it.",
    After.SHADOWED: "'{source}' stands in for '{id}' in this project; elsewhere that holds as before.",
    After.AWAY: "'{id}' was {state} before and stays so.",
    After.MARKED: "Both are told, the older one with a mark, until that is resolved.",
    After.TRACE: "'{id}' is {state}: the link is a trace of it.",
    After.ACTIVE: "'{id}' is active again.",
    After.HOLDS_HERE: "'{id}' holds in this project, too.",
    After.STAYS: "'{id}' stays {state}.",
    After.GONE: "'{id}' is gone.",
    After.SAYS_SO_TOO: "'{id}' says so too: unlink '{id}' and '{source}' as well.",
}
NOTHING = "Nothing is related yet; a link says what belongs together (link_memories, 'daybook link FROM TO')."


def linked(done: Linked) -> Shown:
    """Return what became of a new link."""
    return _became(done, "linked." if done.changed else "linked already.")


def unlinked(done: Linked) -> Shown:
    """Return what became of a link that was taken back."""
    return _became(done, "unlinked." if done.changed else "there is no such link; nothing was changed.")


def _became(done: Linked, told: str) -> Shown:
    head = f"{done.source} {done.rel} {done.target}: {told} {note(done.source, done.became)}"
    return Shown(head.rstrip(), json=asdict(done))


def note(source: str, became: Sequence[LinkOutcome]) -> str:
    """Return what became of the memories that a link from *source* leads to, '' for nothing."""
    return " ".join(
        AFTER[each.after].format(
            source=source, id=each.id, state=state_of(each.status, by=each.by) or each.status.value
        )
        for each in became
    )


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
