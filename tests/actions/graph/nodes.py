"""Nodes to begin with, the sessions that put them, and the graph of a level."""

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.graph.kg import put_node
from mcp_server.actions.memory.repository import trust
from mcp_server.core.graph.graph import Graph
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store

PROJECT, USER = Level.PROJECT, Level.USER
A, B = "aaaaaaaa-1111", "bbbbbbbb-2222"


def node(store: Store, name: str, gist: str = "", level: Level = PROJECT, **more: object) -> str:
    put_node(store, level, name, gist or f"what {name} says", **more)  # type: ignore[arg-type]
    return name


def accepted(store: Store, *names: str) -> None:
    """Accept nodes as they are, as a look at the session does where nothing speaks against them."""
    trust(store, names)


def graph_shown(store: Store, level: Level = PROJECT, **more: str) -> Graph:
    return next(graph for graph in read_graph(store, **more) if graph.level is level)


def archive(store: Store, name: str) -> None:
    file = read(store, name)
    file.path.rename(file.vault.root / "archive" / file.path.name)
    sync(store)
