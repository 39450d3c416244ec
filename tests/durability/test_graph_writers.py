"""Two processes that put nodes and edges at once lose nothing, and each hears whom it overwrote."""

from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.graph.graph import read_graph
from mcp_server.core.memory_parts import Level
from tests.conftest import Run
from tests.opened import opened_at

PROCESSES, EACH = 2, 50  # 200 nodes put, 100 of them one and the same, and 200 edges


@pytest.mark.feature("C-04", "C-15")
def test_two_processes_put_two_hundred_nodes_and_edges_and_none_is_lost(
    run_program: Run, quick_folder: Path
) -> None:
    report = run_program("graph_writers", quick_folder, PROCESSES, EACH)

    assert report["errors"] == []
    store = opened_at(quick_folder).store()
    graph = next(level_graph for level_graph in read_graph(store) if level_graph.level is Level.USER)
    own = {f"node-{number}-{count}" for number in range(PROCESSES) for count in range(EACH)}
    assert {node.id for node in graph.nodes} == own | {"shared"}
    assert {(edge.start, edge.end) for edge in graph.edges if edge.rel == "holds"} == {
        ("shared", name) for name in own
    }
    assert {(edge.start, edge.notes) for edge in graph.edges if edge.rel == "belongs-to"} == {
        (name, (name.rpartition("-")[2],)) for name in own
    }
    gist = read(store, "shared").memory.text
    assert gist in {f"{number} {EACH - 1}" for number in range(PROCESSES)}
    assert report["told"], "nobody was in anybody's way, so this told nothing"
    store.database.close()
