"""The picture of the graph as a browser shows it: nothing covers anything, and as a file it needs nothing."""

from itertools import combinations
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, expect

from mcp_server.actions.graph.picture import draw, read_network
from mcp_server.bootstrap import Opened
from mcp_server.core.graph.network import united
from mcp_server.core.graph.svg import as_file
from mcp_server.store import Store
from tests.viewer.conftest import Look
from tests.viewer.linked import at_graph, fill


def test_hundreds_of_links_are_drawn_once_each_and_cover_nothing(look: Look, store: Store) -> None:
    fill(store, 300, 500)
    page = look()
    at_graph(page)

    network = read_network(store)
    expect(page.locator(".canvas .node")).to_have_count(len(network.nodes))
    lines = page.locator(".canvas .line")
    ends = lines.evaluate_all("all => all.map(line => line.dataset.ends)")
    assert len(ends) == len({frozenset(end_pair.split()) for end_pair in ends}) == len(united(network.links))
    titles = lines.evaluate_all(
        "all => all.flatMap(line => line.querySelector('title').textContent.split('\\n'))"
    )
    assert len(titles) == len(network.links)
    page.evaluate("document.querySelector('.world').setAttribute('transform', '')")
    page.evaluate("document.querySelector('.canvas svg').style.setProperty('--mark-scale', 1)")
    boxes: list[dict[str, Any]] = page.locator(".canvas .node .mark").evaluate_all(
        "all => all.map(mark => mark.getBoundingClientRect().toJSON())"
    )
    for left, right in combinations(boxes, 2):
        apart = max(right["left"] - left["right"], left["left"] - right["right"])
        assert max(apart, right["top"] - left["bottom"], left["top"] - right["bottom"]) > 0


def test_captions_of_the_most_linked_stay_when_the_picture_is_small(look: Look, store: Store) -> None:
    fill(store, 300, 500)
    page = look()
    canvas = at_graph(page)
    captions = canvas.locator(".caption")
    expect(canvas.locator(".caption.crowded").first).to_be_attached()
    boxes = captions.evaluate_all(
        "all => all.filter(it => !it.matches('.crowded')).map(it => it.getBoundingClientRect().toJSON())"
    )
    assert 5 < len(boxes) < captions.count()
    for left, right in combinations(boxes, 2):
        apart = max(right["left"] - left["right"], left["left"] - right["right"])
        # A pixel, for the browser rounds the boxes of letters.
        assert max(apart, right["top"] - left["bottom"], left["top"] - right["bottom"]) > -1


def test_the_picture_is_a_file_too_that_a_browser_shows_without_scripts(
    context: BrowserContext, opened: Opened, tmp_path: Path
) -> None:
    fill(opened.store(), 60, 90)
    network = read_network(opened.store())
    (tmp_path / "links.svg").write_text(as_file(draw(network)), encoding="utf-8")
    (tmp_path / "page.html").write_text('<img src="links.svg" alt="">', encoding="utf-8")
    page = context.new_page()
    page.route("**/*", lambda route: route.fulfill(path=tmp_path / route.request.url.rpartition("/")[2]))

    page.goto("http://127.0.0.1:1/page.html")

    assert page.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    page.goto("http://127.0.0.1:1/links.svg")
    expect(page.locator(".node title")).to_have_count(len(network.nodes))
    assert page.locator(".node .mark").first.evaluate("mark => getComputedStyle(mark).fill") != "rgb(0, 0, 0)"
    assert page.locator("script, a").count() == 0
