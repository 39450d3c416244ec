"""How memories are linked, which contradict each other or may, and what became of a link."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from mcp_server.actions.judge.contradiction import Contradiction, Resolved
from mcp_server.actions.memory.link import Linked
from mcp_server.actions.memory.related import Related, is_written
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.index.memories.relations import Edge
from mcp_server.core.link_outcome import After, LinkOutcome
from mcp_server.core.render import counted, state_of
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.rows import ROW, row_cells, row_json

AFTER = {
    After.SUPERSEDED: "'{id}' is superseded now; it is found with include_archived.",
    After.WAITS: "'{source}' is not accepted yet, and replaces '{id}' once it is.",
    After.SHADOWED: "'{source}' shadows '{id}' in this project; elsewhere nothing changes.",
    After.AWAY: "'{id}' was {state} before and stays so.",
    After.MARKED: "Both are shown, the older one with a mark, until the contradiction is resolved.",
    After.WAITS_MARKED: "'{source}' is not accepted yet; nothing is marked before it is.",
    After.TRACE: "'{id}' is {state}: the link is kept as a trace of it.",
    After.ACTIVE: "'{id}' is active again.",
    After.HOLDS_HERE: "'{id}' holds in this project again.",
    After.STAYS: "'{id}' stays {state}.",
    After.GONE: "'{id}' is gone.",
    After.SAYS_SO_TOO: "'{id}' says so too: unlink '{id}' and '{source}' as well.",
}
NOTHING = (
    "Nothing is related yet; links connect what belongs together (link_memories, 'daybook link FROM TO')."
)
EXCERPT = 400  # characters of each memory of a pair
NONE_FOUND = "No two memories seem to contradict each other."
NONE_OPEN = "No contradiction is marked; a search may find some that nobody marked."
SETTLED = {
    "supersede": "'{0.other}' is superseded by '{0.id}' and kept, because it was valid before.",
    "delete": "'{0.other}' is in the trash; restore brings it back.",
    "weaken": "Both stay active, and '{0.other}' is trusted less.",
    "keep_both": "Both stay active; the pair is proposed again only if one of them changes.",
}
MAY = "These pairs may contradict each other; nothing was marked."
ASK = "Ask the person which memory is right."
SAY = "Where one is wrong, revise or forget it; 'daybook contradictions --mark ID OTHER' marks a pair."


def linked(link: Linked) -> Shown:
    """Return what became of a new link."""
    return _became(link, "linked." if link.changed else "linked already.")


def unlinked(link: Linked) -> Shown:
    """Return what became of a link that was taken back."""
    return _became(link, "unlinked." if link.changed else "no such link; nothing was changed.")


def _became(link: Linked, words: str) -> Shown:
    head = f"{link.source} {link.rel} {link.target}: {words} {note(link.source, link.became)}"
    return Shown(head.rstrip(), json=asdict(link))


def note(source: str, became: Sequence[LinkOutcome]) -> str:
    """Return what became of the memories that a link from *source* leads to, '' for nothing."""
    return " ".join(
        AFTER[outcome.after].format(
            source=source,
            id=outcome.id,
            state=state_of(outcome.status, by=outcome.by) or outcome.status.value,
        )
        for outcome in became
    )


def related(relations: Related) -> Shown:
    """Return what a memory is linked with, and the memories with any of some tags."""
    links = counted(len(relations.edges) + relations.left_out, "link")
    tagged = Shown(
        f"With such a tag: {counted(len(relations.tagged), 'memory')}",
        ROW,
        [row_cells(row) for row in relations.tagged],
    )
    json = {
        "links": [_edge_json(edge) for edge in relations.edges],
        "tagged": [row_json(row) for row in relations.tagged],
    }
    if relations.about is None and relations.tagged:
        return replace(tagged, json=json)
    return Shown(
        f"{relations.about.id} · {relations.about.title}: {links}" if relations.about else "",
        ("memory", "link", "with", "type", "updated", "status", "", "title"),
        [_edge(edge) for edge in relations.edges],
        below=(tagged,) if relations.tagged else (),
        notes=[
            f"{relations.left_out} more." if relations.left_out else "",
            "" if relations.edges or relations.tagged else NOTHING,
        ],
        json=json,
    )


def _edge(edge: Edge) -> tuple[object, ...]:
    arrow = f"{edge.rel} →" if edge.outgoing else f"← {edge.rel}"
    other = edge.other
    written = "written as [[...]] in its text" if is_written(edge) else ""
    if other is None:
        return (edge.near.id, arrow, edge.target, "", "", "no memory", written, "")
    _, *about, title, _ = row_cells(other)
    return (edge.near.id, arrow, other.id, *about, written, title)


def _edge_json(edge: Edge) -> dict[str, object]:
    ends = (edge.near.id, edge.other.id if edge.other else edge.target)
    source, target = ends if edge.outgoing else ends[::-1]
    return {
        "from": source,
        "rel": edge.rel,
        "to": target,
        "status": edge.other and edge.other.status.value,
        "written": is_written(edge),
    }


def proposed_pairs(pairs: Sequence[Contradiction], *, settling: str = ASK) -> Shown:
    """Return pairs that may contradict each other; *settling* says what Claude or the person does then."""
    return _pairs(f"{MAY} {settling}" if pairs else NONE_FOUND, pairs)


def marked_pairs(pairs: Sequence[Contradiction]) -> Shown:
    """Return pairs that are marked as contradictory."""
    how = "resolve_contradiction or 'daybook contradictions --resolve' settles one"
    return _pairs(f"Open: {counted(len(pairs), 'contradiction')}; {how}." if pairs else NONE_OPEN, pairs)


def settled_pair(outcome: Resolved) -> Shown:
    """Return how a contradiction was settled."""
    became = note(outcome.id, outcome.became) or SETTLED[outcome.how].format(outcome)
    return Shown(
        f"{outcome.id} against {outcome.other}: settled ({outcome.how}). {became}", json=asdict(outcome)
    )


def _pairs(head: str, pairs: Sequence[Contradiction]) -> Shown:
    ends = [(pair, row) for pair in pairs for row in (pair.first, pair.other)]
    return Shown(
        head,
        ("id", "type", "updated", "status", "", "against:", "", "title"),
        [_row(pair, row) for pair, row in ends],
        tuple(row.text if len(row.text) <= EXCERPT else f"{row.text[:EXCERPT].rstrip()}…" for _, row in ends),
        json=[
            {
                **{end: _json(row) for end, row in (("one", pair.first), ("other", pair.other))},
                "why": pair.why,
                "sure": pair.sure,
                "nearness": pair.nearness,
            }
            for pair in pairs
        ],
    )


def _row(pair: Contradiction, row: Row) -> tuple[str, ...]:
    memory_id, kind, updated, status, title, _ = row_cells(row)
    other = pair.other if row is pair.first else pair.first
    mark = "said by the person" if row.row in pair.said_by_person else ""
    why = f"differ in {pair.why}, {'sure' if pair.sure else 'perhaps'}" if pair.why else "marked"
    return (memory_id, kind, updated, status, mark, other.id, why, title)


def _json(row: Row) -> dict[str, object]:
    return {**row_json(row), "text": row.text, "source": row.source}
