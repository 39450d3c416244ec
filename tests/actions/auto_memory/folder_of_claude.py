"""Topic files as Claude Code writes them, and what became of them."""

from pathlib import Path

from mcp_server.actions.exchange.auto_memory import import_auto_memory
from mcp_server.actions.exchange.imports.batch import Item
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.list import list_memories
from mcp_server.core.search.query import Filter
from mcp_server.store import Store

PARQUET = "Exports of the invoices are written as parquet files."
PROMPT = "are the exports of the invoices written as parquet files"


def topic(folder: Path, name: str, text: str, *, kind: str = "project", description: str = "") -> Path:
    """Write a topic file and its line in the index, as Claude Code does."""
    path = folder / f"{name}.md"
    description = description or text[:60]
    path.write_text(
        f"---\nname: {name}\ndescription: {description}\nmetadata:\n  node_type: memory\n  type: {kind}\n"
        f"---\n\n{text}\n",
        encoding="utf-8",
    )
    index = folder / "MEMORY.md"
    index_text = index.read_text(encoding="utf-8") if index.exists() else ""
    if f"({name}.md)" not in index_text:
        index.write_text(f"{index_text}- [{name}]({name}.md) — {description}\n", encoding="utf-8")
    return path


def items_taken_in(store: Store, claude: Path) -> dict[str, Item]:
    return {item.key: item for item in import_auto_memory(store, claude).items}


def memory_of(store: Store, imported: Item) -> MemoryFile:
    return read(store, imported.id)


def total(store: Store) -> int:
    return list_memories(store, Filter()).total
