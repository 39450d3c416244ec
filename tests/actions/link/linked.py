"""Memories to link, and the links that are told of one."""

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.related import get_related
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.store import Store


def remembered(store: Store, title: str, text: str = "", **more: object) -> str:
    return remember(store, Draft(title, text or f"About {title}.", **more)).memory.id  # type: ignore[arg-type]


def links_of(store: Store, memory_id: str) -> list[tuple[str, bool, str]]:
    related = get_related(store, memory_id)
    return [(edge.rel, edge.outgoing, edge.other.id if edge.other else edge.target) for edge in related.edges]


def add_by_hand(store: Store, memory_id: str, lines: str) -> None:
    path = read(store, memory_id).path
    edited = path.read_text(encoding="utf-8").replace("tags: []", f"{lines}\ntags: []")
    path.write_text(edited, encoding="utf-8")
    sync(store)
