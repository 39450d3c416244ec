"""No address of a page is taken for another's, whatever the id of a memory is."""

import re

import pytest
from playwright.sync_api import expect
from starlette.routing import Match, Route

from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import ID
from mcp_server.doors.viewer.application import PAGES
from mcp_server.store import Store
from tests.viewer.conftest import Look, at

ROUTES = [route for routes in PAGES for route in routes if isinstance(route, Route)]
WORDS = sorted({word for route in ROUTES for word in re.split(r"[/.]", route.path) if ID.fullmatch(word)})


def led_to(path: str, method: str) -> Route | None:
    scope = {"type": "http", "path": path, "method": method, "root_path": ""}
    return next((route for route in ROUTES if route.matches(scope)[0] is Match.FULL), None)


@pytest.mark.parametrize("word", [*WORDS, "new", "static", "open"])
def test_an_id_that_is_a_word_of_an_address_leads_to_the_pages_of_that_memory(word: str) -> None:
    for route in ROUTES:
        for name in route.param_convertors:
            path = route.path.replace(f"{{{name}}}", word)
            for method in route.methods or ():
                assert led_to(path, method) is route, path


@pytest.mark.parametrize("memory_id", ["new", "links", "edit"])
def test_a_memory_with_such_an_id_is_read_edited_linked_and_archived(
    look: Look, store: Store, memory_id: str
) -> None:
    remember(store, Draft("Odd", "It has an odd id.", id=memory_id))
    page = look()
    at(page, "/memories")
    page.get_by_role("link", name="Odd").click()
    expect(page.get_by_text("It has an odd id.")).to_be_visible()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Title").fill("Odder")
    page.get_by_role("button", name="Save Ctrl S").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    tabs = page.get_by_role("navigation", name="This memory")
    for label in ("Links", "History", "Edit"):
        tabs.get_by_role("link", name=label).click()
        expect(tabs.locator("[aria-current]")).to_have_text([label])
    tabs.get_by_role("link", name="Read").click()
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
