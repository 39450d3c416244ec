"""
One memory of the index as a row and as JSON, a page of them, and how many rows an answer has.

A list imports nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.core.memory_parts import timestamp, type_or_kind
from mcp_server.core.render import counted, elsewhere, state_of
from mcp_server.doors.shown import Shown

if TYPE_CHECKING:
    from mcp_server.actions.memory.list import Listing
    from mcp_server.adapters.index.memories.memories import Row

MOST_ROWS = 100
"""Rows of an answer that tells what became of each memory; a list has pages instead."""
OF_COPY = "Of the team's memories only the confirmed ones are listed, as last copied here; recall finds all."
ROW = ("id", "type", "updated", "status", "title", "tags")


def row_cells(row: Row, *, shadowed_by: str = "", project: str = "") -> tuple[str, ...]:
    """Return the cells of ROW for a memory; its status and its *project* only where they are not as usual."""
    state = ", ".join(filter(None, (state_of(row.status, shadowed_by=shadowed_by), elsewhere(project))))
    tags = f"[{', '.join(row.tags)}]" if row.tags else ""
    return (row.id, type_or_kind(row.kind, row.type), f"{row.updated_at:%Y-%m-%d}", state, row.title, tags)


def row_json(row: Row) -> dict[str, object]:
    """Return a memory as every list prints it as JSON."""
    return {
        "id": row.id,
        "title": row.title,
        "kind": row.kind.value,
        "type": row.type,
        "status": row.status.value,
        "tags": list(row.tags),
        "pinned": row.pinned,
        "path": row.path,
        "updated": timestamp(row.updated_at),
    }


def listed(listing: Listing, offset: int) -> Shown:
    """Return a page of memories that begins at *offset*."""
    nothing = f"No memories from {offset} on; there are {listing.total}." if listing.total else "No memories."
    shadowed = [listing.shadowed.get(row.row, "") for row in listing.rows]
    projects = [row.vault if row.vault in listing.elsewhere else "" for row in listing.rows]
    rows = list(zip(listing.rows, shadowed, projects, strict=True))
    return Shown(
        counted(listing.total, "memory") if listing.rows else nothing,
        ROW,
        [row_cells(row, shadowed_by=by, project=project) for row, by, project in rows],
        notes=[OF_COPY if listing.of_copy else ""],
        json={
            "total": listing.total,
            "memories": [
                row_json(row) | {"shadowed_by": by, "project": project} for row, by, project in rows
            ],
        },
        offset=offset,
        total=listing.total if listing.rows else 0,
    )


def not_shown(number: int) -> str:
    """Return how many of *number* rows are not shown, '' where all are."""
    return f"{number - MOST_ROWS:,} more: the command with --json lists all." if number > MOST_ROWS else ""
