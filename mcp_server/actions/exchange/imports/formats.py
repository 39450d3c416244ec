"""Which formats can be imported, where their sources are by default, and what these hold."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcp_server.adapters.foreign import (
    claude_memory,
    daybook_export,
    knowledge_graph,
    memories_json,
    memory_jsonl,
    memory_mcp,
    memory_mcp_database,
    notes,
)
from mcp_server.core.errors import Rejected
from mcp_server.core.exchange.foreign import Reading
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store

DATABASE = "memory-mcp-db"


@dataclass(frozen=True, slots=True)
class Source:
    """A format: how it is read, and its default places (below the project, or ~)."""

    read: Callable[[Path], Reading]
    defaults: tuple[str, ...] = ()


def sources(store: Store, *, own_export: bool = False) -> dict[str, Source]:
    """Return the formats by name; *own_export* concerns only what Daybook exported itself."""
    return {
        "memory-mcp": Source(memory_mcp.read, memory_mcp.NAMES[:1]),
        DATABASE: Source(memory_mcp_database.read, (memory_mcp_database.DEFAULT,)),
        "knowledge-graph": Source(knowledge_graph.read, knowledge_graph.DEFAULTS),
        "claude-memory": Source(
            lambda path: claude_memory.read(path, own=store.home), (claude_memory.DEFAULT,)
        ),
        "memory-jsonl": Source(memory_jsonl.read),
        "memories-json": Source(memories_json.read),
        "notes": Source(notes.read),
        "daybook": Source(lambda path: daybook_export.read(path, mine=own_export)),
    }


def readings_of(
    store: Store, source_name: str, path: Path | None, *, level: Level | None, own_export: bool
) -> list[Reading]:
    """
    Return the content of the sources of that name at *path*, or where that tool keeps it, for `take`.

    *own_export* is as for `sources`. Raises Rejected when there is no source or it is broken, or when *level*
    is not here.
    """
    source = sources(store, own_export=own_export)[source_name]
    if level is Level.PROJECT and not store.project:
        raise Rejected(
            "There is no project here to import into.", "Use --level user, or work inside a project's folder."
        )
    readings = []
    for place in _places(store, source_name, source, path):
        if source_name == DATABASE:
            _not_our_index(store, place)
        readings.append(source.read(place))
    return readings


def _not_our_index(store: Store, place: Path) -> None:
    """Raise Rejected when *place* is our index, whose file is never opened but by SQLite."""
    expanded = Path(os.path.expanduser(place))
    index = store.database.path
    for path in (expanded, expanded / index.name):
        if path.is_file() and index.exists() and path.samefile(index):
            raise Rejected(f"{path} is Daybook's own index.", "Name the database of the other tool.")


def _places(store: Store, source_name: str, source: Source, path: Path | None) -> list[Path]:
    """Return where to look: *path*, else the default places that exist; raises Rejected for none."""
    if path is not None:
        return [path]
    if not source.defaults:
        raise Rejected(
            f"'{source_name}' has no usual place.", f"Name it, as in: daybook import {source_name} PATH"
        )
    candidates = [Path(os.path.expanduser(name)) for name in source.defaults if name.startswith("~")]
    if store.project:
        root = store.project.root
        candidates = [*(root / name for name in source.defaults if not name.startswith("~")), *candidates]
    paths = [place for place in candidates if place.exists()]
    if not paths:
        where = " or ".join(map(str, candidates)) or "a project's folder"
        raise Rejected(f"There is no {where}.", f"Name it, as in: daybook import {source_name} PATH")
    return paths
