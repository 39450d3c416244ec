"""The picture as SVG: whole, escaped, and told apart without colours."""

import re
from collections import Counter
from xml.etree import ElementTree

from mcp_server.actions.graph.picture import draw
from mcp_server.core.graph.network import Network
from mcp_server.core.graph.svg import FEW, MARKS, SHAPES, as_file, as_part, colours, types_in
from mcp_server.core.memory_types import ROWS
from tests.core.networks import made_up, network, node
from tests.live import ROOT

SVG = "{http://www.w3.org/2000/svg}"
EVIL = """</title></text><script>alert(1)</script><image href="https://e.example/"/>'" onload="x" &amp; ]]>"""


def parsed(network: Network) -> ElementTree.Element:
    return ElementTree.fromstring(as_file(draw(network)))


def titles(picture: ElementTree.Element, kind: str) -> list[str]:
    elements = (element for element in picture.iter() if kind in element.get("class", "").split())
    return [title for element in elements if (title := element.findtext(f"{SVG}title"))]


def test_every_node_and_every_link_is_there_once() -> None:
    drawn = made_up(150, 260)
    picture = parsed(drawn)

    name = {drawn_node.key: drawn_node.title for drawn_node in drawn.nodes}
    links = Counter(f"{name[link.start]} → {link.rel} → {name[link.end]}" for link in drawn.links)
    titles_drawn = Counter(line for title in titles(picture, "line") for line in title.split("\n"))
    assert titles_drawn == links
    assert len(titles(picture, "node")) == len(drawn.nodes)


def test_words_of_a_memory_are_text_and_nothing_else() -> None:
    drawn = network([("a", EVIL, "b")], node("a", EVIL), node("b", "٭ אבג 漢字"))

    for picture_text in (
        as_file(draw(drawn)),
        as_part(draw(drawn), lambda drawn_node: f"/{drawn_node.id}?{EVIL}"),
    ):
        picture = ElementTree.fromstring(picture_text)
        names = {element.tag.removeprefix(SVG) for element in picture.iter()}
        assert names <= set("svg style title defs marker path rect g a circle polygon text tspan".split())
        assert not [name for element in picture.iter() for name in element.attrib if name.startswith("on")]
    assert any(EVIL in title for title in titles(parsed(drawn), "node"))
    assert "url(" not in as_file(draw(drawn)).replace("url(#head)", "")


def test_a_page_gets_a_link_for_each_node_and_a_file_none() -> None:
    drawn = network([("a", "uses", "b")])

    page = ElementTree.fromstring(as_part(draw(drawn), lambda drawn_node: f"/memories/{drawn_node.id}"))

    assert sorted(str(element.get("href")) for element in page.iter("a")) == ["/memories/a", "/memories/b"]
    assert "<a " not in as_file(draw(drawn))


def test_few_lines_bear_their_labels_where_there_is_room() -> None:
    few = as_file(draw(network([("a", "must-load-before", "b")])))
    many = as_file(draw(made_up(60, FEW + 30)))

    assert 'class="network few"' in few
    assert ">must-load-before</text>" in few
    assert 'class="network"' in many


def test_each_type_has_a_shape_of_its_own() -> None:
    assert len({shape for shape, _ in MARKS.values()}) == len(MARKS)
    assert {row.shape for row in ROWS} <= set(SHAPES)


def test_the_legend_names_the_types_and_sorts_that_are_drawn() -> None:
    drawn = network([("a", "contradicts", "b")], node("a", type_="gotcha"), node("b", type_="decision"))

    assert types_in(draw(drawn)) == ["decision", "gotcha"]
    legend = [element.text for element in parsed(drawn).iter(f"{SVG}text") if not element.get("class")]
    assert legend == ["decision", "gotcha", "contradicts"]


def test_a_file_has_the_colours_of_the_viewer() -> None:
    style = (ROOT / "mcp_server/doors/viewer/static/style.css").read_text("utf-8")
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w+);", part)) for part in style.split("prefers-color-scheme: dark")
    )

    for ours, theirs in zip(colours(), (light, dark), strict=True):
        assert ours.items() <= theirs.items()
