"""One memory of the index as a row, and as JSON."""

from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.memory import type_or_kind
from mcp_server.core.render import state_of

ROW = ("id", "type", "updated", "status", "title", "tags")


def row_cells(row: Row, *, shadowed_by: str = "") -> tuple[str, ...]:
    """Return the cells of ROW for a memory; its status only where it is not simply told."""
    state = state_of(row.status, here=shadowed_by)
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
        "updated": row.updated_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
