"""The picture of the graph: whole and escaped."""

import re

from mcp_server.core.graph.graph import Graph, GraphEdge, Node
from mcp_server.core.graph.mermaid import MOST_DRAWN, as_mermaid
from mcp_server.core.memory_parts import Level, Status

EVIL = 'a "quoted" <script>alert(1)</script> & ]] | end\n%% x'


def graph(count: int = 3, gist: str = "says") -> Graph:
    nodes = tuple(Node(f"n{at}", f"{gist} {at}", "decision", at, size=at) for at in range(count))
    edges = tuple(GraphEdge(f"n{at}", "depends-on", f"n{at + 1}") for at in range(count - 1))
    return Graph(Level.PROJECT, nodes, edges)


def test_mermaid_names_nodes_by_handles_of_its_own() -> None:
    lines = as_mermaid([graph()]).splitlines()

    assert lines[0] == "flowchart LR"
    assert '    n0_0["n0: says 0"]' in lines
    assert '  n0_0 -->|"depends-on"| n0_1' in lines
    assert all(re.fullmatch(r'\s+(subgraph level\d\[".*"\]|end|n\d_\d+.*)', line) for line in lines[1:])


def test_files_and_what_was_put_away_are_drawn_in_their_own_way() -> None:
    old = GraphEdge("n0", "used", "old", end_status=Status.ARCHIVED)
    file = GraphEdge("n1", "reads", "src/a.ts")

    diagram = as_mermaid([Graph(Level.PROJECT, graph().nodes, (old, file))])

    assert '(["old"])' in diagram
    assert '(["src/a.ts"])' in diagram
    assert '-.->|"used"|' in diagram


def test_labels_are_escaped() -> None:
    evil = Graph(Level.USER, (Node("n", EVIL, "note", 0),), (GraphEdge("n", EVIL, "src/a.ts", (EVIL,)),))

    diagram = as_mermaid([evil])

    assert "<script" not in diagram
    for line in diagram.splitlines()[1:]:
        assert line.count('"') in (0, 2), line


def test_a_large_graph_is_drawn_up_to_a_limit_and_says_what_is_missing() -> None:
    diagram = as_mermaid([graph(MOST_DRAWN + 50)])

    assert diagram.count('["n') == MOST_DRAWN
    assert "%% 50 more are not drawn" in diagram
    assert '"n348: ' in diagram, "new, large and linked twice is worth most"
