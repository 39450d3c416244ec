"""What an import did, and a state file to import from."""

import json
from pathlib import Path

from mcp_server.actions.exchange.imports.batch import Imported, Item, Outcome
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.list import list_memories
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Status
from mcp_server.core.search.query import Filter
from mcp_server.store import Store

EVERYTHING = Filter(statuses=tuple(Status))


def state(path: Path, *memories: dict[str, object]) -> Path:
    """Write a state.json of memory-mcp."""
    path.parent.mkdir(parents=True, exist_ok=True)
    state_json = {"version": 2, "project": "shop", "memories": list(memories), "extractionCount": 3}
    path.write_text(json.dumps(state_json), encoding="utf-8")
    return path


def mem(number: int, content: str, **more: object) -> dict[str, object]:
    return {
        "id": f"mem_17000000000{number}_abc{number}",
        "type": "decision",
        "content": content,
        "tags": ["billing"],
        "created": "2026-01-02T03:04:05.678Z",
        "updated": "2026-02-03T04:05:06.789Z",
        "confidence": 0.4,
        "accessCount": 7,
        **more,
    }


def only_import(imports: list[Imported]) -> Imported:
    (imported,) = imports
    return imported


def items(imports: list[Imported]) -> dict[str, Item]:
    return {item.key: item for item in only_import(imports).items}


def outcomes(imports: list[Imported]) -> dict[str, Outcome]:
    return {item.key: item.outcome for item in only_import(imports).items}


def memories(store: Store) -> dict[str, Memory]:
    """Return all memories of *store* by their titles."""
    listing = list_memories(store, EVERYTHING, limit=1000)
    return {row.title: read(store, row.id).memory for row in listing.rows}


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below *folder* with its bytes, without the index."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith((".", "memory.db"))
    }


def index_rows(store: Store) -> list[object]:
    with store.database.read() as db:
        return db.execute("SELECT path, digest FROM memories").fetchall()
