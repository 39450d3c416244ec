"""Memories that contradict each other, or may, and how that was settled."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.links import note
from mcp_server.doors.shown.rows import row_cells, row_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.actions.judge.contradiction import Contradiction, Resolved
    from mcp_server.adapters.index.memories.memories import Row

EXCERPT = 400  # characters of each memory of a pair
NONE_FOUND = "No two memories seem to contradict each other."
NONE_OPEN = "No contradiction is marked; a search may find some that nobody marked."
SETTLED = {
    "supersede": "'{0.other}' is superseded by '{0.id}' and kept, because it was valid before.",
    "delete": "'{0.other}' is in the trash; restore brings it back.",
    "weaken": "Both stay active, and '{0.other}' is trusted less.",
    "keep_both": "Both stay active; the pair is proposed again only if one of them changes.",
}
MAY = "These pairs may contradict each other; nothing was marked. Ask the person which memory is right."


def found(pairs: Sequence[Contradiction]) -> Shown:
    """Return pairs that may contradict each other."""
    return _pairs(MAY if pairs else NONE_FOUND, pairs)


def marked(pairs: Sequence[Contradiction]) -> Shown:
    """Return pairs that are marked as contradictory."""
    how = "resolve_contradiction or 'daybook contradictions --resolve' settles one"
    return _pairs(f"Open: {counted(len(pairs), 'contradiction')}; {how}." if pairs else NONE_OPEN, pairs)


def resolved(outcome: Resolved) -> Shown:
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
