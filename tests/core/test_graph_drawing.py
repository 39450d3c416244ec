"""The pictures of the graph: whole, escaped, the same each time."""

import re
from xml.etree import ElementTree

from mcp_server.core.graph.drawing import MOST_DRAWN, as_mermaid, as_svg, layout
from mcp_server.core.graph.graph import Edge, Graph, Node
from mcp_server.core.memory import Level, Status

EVIL = 'a "quoted" <script>alert(1)</script> & ]] | end\n%% x'
SVG = "{http://www.w3.org/2000/svg}"


def graph(count: int = 3, gist: str = "says") -> Graph:
    nodes = tuple(Node(f"n{at}", f"{gist} {at}", "decision", at, size=at) for at in range(count))
    edges = tuple(Edge(f"n{at}", "depends-on", f"n{at + 1}") for at in range(count - 1))
    return Graph(Level.PROJECT, nodes, edges)


def test_every_node_and_edge_is_drawn_with_a_tooltip_and_a_legend() -> None:
    old = Edge("n0", "used", "old", end_status=Status.ARCHIVED)
    file = Edge("n1", "reads", "src/a.ts")
    one = graph()
    drawing = as_svg([Graph(one.level, one.nodes, (*one.edges, old, file))])

    groups = list(ElementTree.fromstring(drawing).iter(f"{SVG}g"))
    titles = [group.findtext(f"{SVG}title") for group in groups if group.get("class")]

    assert "n0 (decision): says 0" in titles
    assert "n0 — depends-on → n1" in titles
    assert {"old (archived)", "src/a.ts (file)"} <= set(titles)
    assert [group.get("class") for group in groups].count("edge trace") == 1
    assert re.findall(r'class="key"[^>]*>([^<]+)', drawing) == ["decision", "file", "archived"]
    assert "prefers-color-scheme: dark" in drawing


def test_labels_are_escaped_in_both_pictures() -> None:
    evil = Graph(Level.USER, (Node("n", EVIL, "note", 0),), (Edge("n", EVIL, "src/a.ts", (EVIL,)),))

    svg, mermaid = as_svg([evil]), as_mermaid([evil])

    assert ElementTree.fromstring(svg).find(f".//{SVG}script") is None
    assert "<script" not in svg + mermaid
    for line in mermaid.splitlines()[1:]:
        assert line.count('"') in (0, 2), line


def test_mermaid_names_nodes_by_handles_of_its_own() -> None:
    said = as_mermaid([graph()]).splitlines()

    assert said[0] == "flowchart LR"
    assert '    n0_0["n0: says 0"]' in said
    assert '  n0_0 -->|"depends-on"| n0_1' in said
    assert all(re.fullmatch(r'\s+(subgraph level\d\[".*"\]|end|n\d_\d+.*)', line) for line in said[1:])


def test_the_same_graph_gives_the_same_picture() -> None:
    assert as_svg([graph(12)]) == as_svg([graph(12)])


def test_no_two_nodes_lie_on_each_other() -> None:
    names = [f"n{at}" for at in range(40)]
    places, width, height = layout(names, [(names[0], name) for name in names[1:]])

    spots = list(places.values())
    for at, (x, y) in enumerate(spots):
        assert 0 < x < width
        assert 0 < y < height
        assert all(abs(x - a) + abs(y - b) > 25 for a, b in spots[at + 1 :])


def test_a_large_graph_is_drawn_up_to_a_limit_and_says_what_is_missing() -> None:
    drawing = as_svg([graph(MOST_DRAWN + 50)])

    assert drawing.count('class="node"') == MOST_DRAWN
    assert "50 more not drawn" in drawing
    assert "n348 (" in drawing, "new, large and linked twice is worth most"


def test_an_empty_graph_says_so() -> None:
    assert "The graph is empty." in as_svg([graph(0)])
    ElementTree.fromstring(as_svg([]))
