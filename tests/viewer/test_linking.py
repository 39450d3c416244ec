"""Links of a memory are added and taken away in the browser, by the keyboard alone."""

from contextlib import AbstractContextManager
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.link import link
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import Status
from mcp_server.store import Store
from tests.conftest import Open
from tests.memories import status, stored
from tests.viewer.conftest import Look, at, serious_findings


@pytest.fixture
def memory(store: Store) -> str:
    return stored(store, "Stripe webhook", "It needs the raw body, see [[Stripe keys]].")


@pytest.fixture
def keys(store: Store) -> str:
    return stored(store, "Stripe keys", "They are rotated.")


@pytest.fixture
def page(look: Look, open_here: Open, memory: str, keys: str, store: Store) -> Page:
    """The page of the memory's links."""
    stored(store, "Billing <b>keys</b>", "Others.")
    page = look(open_here())
    at(page, f"/memories/{memory}/links")
    return page


def search(page: Page, words: str) -> None:
    """Type *words*, and wait for what is found: a pause between two letters asks for their beginning, too."""
    with answered(page, words):
        page.get_by_label("To: words of its title").press_sequentially(words)
    expect(page.locator(".htmx-request")).to_have_count(0)


def answered(page: Page, words: str) -> AbstractContextManager[object]:
    """Wait at the end for the answer to a search for *words*."""
    return page.expect_response(lambda answer: parse_qs(urlsplit(answer.url).query).get("said") == [words])


def links(store: Store, memory: str) -> tuple[Link, ...]:
    return read(store, memory).memory.links


def test_a_link_is_added_and_taken_away_by_the_keyboard_alone(
    page: Page, store: Store, memory: str, keys: str
) -> None:
    page.get_by_label("Label").focus()
    page.keyboard.type("depends-on")
    page.keyboard.press("Tab")
    with answered(page, "KEYS strip"):
        page.keyboard.type("KEYS strip")
    expect(page.locator(".htmx-request")).to_have_count(0)
    expect(page.get_by_role("radio")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    row = page.get_by_role("row").filter(has_text="depends-on")
    expect(row.get_by_role("link", name="Stripe keys")).to_be_visible()
    assert links(store, memory) == (Link("depends-on", keys),)
    expect(page.get_by_label("To: words of its title")).to_be_focused()
    expect(page.get_by_role("radio")).to_have_count(0)
    away = row.get_by_role("button", name="Remove depends-on Stripe keys")
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if away.evaluate("it => it === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(row).to_have_count(0)
    assert links(store, memory) == ()


def test_the_arrows_choose_among_several_that_are_found(page: Page, store: Store, memory: str) -> None:
    search(page, "keys")
    expect(page.get_by_role("radio")).to_have_count(2)
    expect(page.locator("#choices")).to_contain_text("Billing <b>keys</b>")
    assert serious_findings(page) == []
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    chosen = page.get_by_role("radio").nth(1).get_attribute("value")
    page.keyboard.press("Enter")
    expect(page.locator("#links").get_by_role("status")).to_contain_text("linked")
    assert [link_of.to for link_of in links(store, memory)] == [chosen]


def test_a_file_is_linked_by_its_path(page: Page, store: Store, memory: str) -> None:
    page.get_by_label("Label").fill("implemented in")
    search(page, "src/stripe.ts:42")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row").filter(has_text="src/stripe.ts:42")).to_be_visible()
    assert links(store, memory) == (Link("implemented-in", "src/stripe.ts:42"),)


def test_what_leads_nowhere_is_refused_in_a_sentence(page: Page, store: Store, memory: str) -> None:
    search(page, "nothing like it")
    expect(page.get_by_text("No memory has this name.")).to_be_visible()
    page.get_by_role("button", name="Link", exact=True).click()
    expect(page.locator("#message")).to_contain_text("No memory has the id 'nothing like it'.")
    assert links(store, memory) == ()


def test_a_link_that_stands_in_the_text_leads_to_the_text(page: Page, memory: str) -> None:
    page.get_by_role("row").filter(has_text="Stripe keys").get_by_role(
        "link", name="written in its text"
    ).click()
    expect(page.get_by_label("Text, in markdown")).to_have_value(
        "It needs the raw body, see [[Stripe keys]]."
    )


def test_a_link_from_another_memory_is_taken_away_there(
    page: Page, store: Store, memory: str, keys: str
) -> None:
    link(store, keys, memory, "refines")
    page.reload()
    page.get_by_role("button", name="Remove refines Stripe keys").click()
    expect(page.locator("#links").get_by_role("status")).to_contain_text("unlinked")
    assert links(store, keys) == ()


def test_another_takes_the_place_of_the_memory_and_gives_it_back(
    page: Page, store: Store, memory: str, keys: str
) -> None:
    search(page, "stripe keys")
    page.get_by_role("radio").check()
    page.get_by_role("button", name="That one replaces this one").click()
    expect(page.locator("#links").get_by_role("status")).to_contain_text("superseded now")
    assert status(store, memory) is Status.SUPERSEDED
    page.get_by_role("button", name="Remove supersedes Stripe keys").click()
    expect(page.locator("#links").get_by_role("status")).to_contain_text("active again")
    assert status(store, memory) is Status.ACTIVE
