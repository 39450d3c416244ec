"""An import from another tool's store, as the command `daybook import` does it."""

from pathlib import Path

from mcp_server.actions.exchange.imports.batch import Imported
from mcp_server.actions.exchange.imports.formats import readings_of
from mcp_server.actions.exchange.imports.take import take
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store


def import_from(
    store: Store,
    source_name: str,
    path: Path | None = None,
    *,
    level: Level | None = None,
    dry_run: bool = False,
    own_export: bool = False,
) -> list[Imported]:
    """Take in what the source of that name holds at *path*, by default where that tool keeps it."""
    readings = readings_of(store, source_name, path, level=level, own_export=own_export)
    return take(store, readings, source_name=source_name, level=level, dry_run=dry_run, own_export=own_export)
