"""The pictures of docs/viewer.md: a shop's memory, page by page. UPDATE=1 takes them anew."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from mcp_server.actions.model.embed import embed_pending
from tests.conftest import Clock, Open
from tests.live import ROOT
from tests.viewer.conftest import Look, go
from tests.viewer.shop import furnished

PICTURES = ROOT / "docs" / "viewer"
AS_AT_HOME = """() => {
    const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (all.nextNode()) {
        all.currentNode.data = all.currentNode.data.replace(/\\/[^ ]+\\/memory\\//g, "~/.claude-memory/");
    }
}"""
BUSY = ".htmx-request, .htmx-swapping, .htmx-settling"  # Playwright styles inputs: a swap may copy that
WIDE = {"width": 1120, "height": 760}


@pytest.fixture
def shop(look: Look, open_here: Open, clock: Clock) -> Page:
    opened = open_here(EMBEDDING_MODEL="minilm-l6")
    furnished(opened.store(), clock)
    embed_pending(opened.store())
    page = look(opened)
    page.set_viewport_size(WIDE)
    return page


def take_picture(page: Page, name: str) -> None:
    """Take the picture called *name* where that is asked for; it is there in any case."""
    path: Path = PICTURES / f"{name}.png"
    if os.environ.get("UPDATE"):
        expect(page.locator(BUSY)).to_have_count(0)
        page.evaluate(AS_AT_HOME)
        path.parent.mkdir(exist_ok=True)
        page.screenshot(path=path, animations="disabled")
    assert path.read_bytes().startswith(b"\x89PNG"), "UPDATE=1 takes it anew"
    assert f"viewer/{name}.png" in (ROOT / "docs/viewer.md").read_text(encoding="utf-8")


def test_a_picture_of_today(shop: Page) -> None:
    shop.locator("details.session summary").first.click()
    expect(shop.get_by_text("seen before").first).to_be_visible()
    expect(shop.get_by_text("At most twelve database connections").first).to_be_visible()
    take_picture(shop, "today")


def test_a_picture_of_a_search(shop: Page) -> None:
    go(shop, "Memories")
    shop.get_by_label("Search", exact=True).fill("why is the webhook signature refused")
    best = shop.locator("#found .hits .title").first
    expect(best).to_have_text("Stripe webhook needs the raw request body")
    expect(shop.get_by_text("The search uses words only")).to_have_count(0)
    take_picture(shop, "memories")


def test_a_picture_of_the_graph(shop: Page) -> None:
    go(shop, "Graph")
    expect(shop.locator("svg .node").first).to_be_visible()
    take_picture(shop, "graph")


def test_a_picture_of_what_claude_is_told(shop: Page) -> None:
    go(shop, "What Claude is shown")
    expect(shop.get_by_role("heading", level=1)).to_be_visible()
    take_picture(shop, "shown")


def test_a_picture_of_insight(shop: Page) -> None:
    go(shop, "Insight")
    expect(shop.locator("canvas").first).to_be_visible()
    take_picture(shop, "insight")
