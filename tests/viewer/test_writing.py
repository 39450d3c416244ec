"""A memory is written in the browser, and the page tells which others it met."""

import re

import pytest
from playwright.sync_api import Page, expect

from mcp_server.actions.files.read import read
from mcp_server.core.memory_parts import Level, Status
from mcp_server.store import Store
from tests.conftest import Open
from tests.memories import status, stored
from tests.viewer.conftest import Look, at, serious_findings

KEYS = "Stripe keys are rotated on the first of each month."


@pytest.fixture
def page(look: Look, open_here: Open) -> Page:
    """The page on which a memory is written."""
    page = look(open_here())
    at(page, "/memories-new")
    return page


def write(page: Page, text: str, **more: str) -> None:
    for label, value in more.items():
        page.get_by_label(label).fill(value)
    page.get_by_label("Text, in markdown").fill(text)
    page.keyboard.press("Control+s")


def id_on_page(page: Page) -> str:
    """Return the id of the memory that was just remembered, and go to it."""
    page.get_by_role("link", name="Read it").click()
    expect(page).to_have_url(re.compile("/memories/"))
    return page.url.rpartition("/")[2]


def test_a_memory_is_remembered_with_all_that_was_said(page: Page, store: Store) -> None:
    page.get_by_role("combobox", name="Type", exact=True).select_option("preference")
    page.get_by_label("Level").select_option("user")
    page.get_by_label("Files it is about").fill("src/a.ts\nsrc/b.ts:7")
    page.get_by_label("Use when").fill("answer me, now\n\n  talk  to <me>\n")
    write(page, "Answer in <b>English</b>.", Title="Language of answers", Tags="style, Answers")
    expect(page.get_by_role("heading", name="Remembered")).to_be_visible()
    assert serious_findings(page) == []
    file = read(store, id_on_page(page))
    memory = file.memory
    assert file.vault.level is Level.USER
    assert (memory.title, memory.text) == ("Language of answers", "Answer in <b>English</b>.")
    assert (memory.type, memory.tags) == ("preference", ("style", "answers"))
    assert memory.touches == ("src/a.ts", "src/b.ts:7")
    assert memory.use_when == ("answer me, now", "talk to <me>")
    assert memory.source == "manual"


def test_a_text_without_a_title_gets_one(page: Page, store: Store) -> None:
    write(page, "The tests need a database. Start it first.")
    expect(page.get_by_role("heading", name="Remembered")).to_be_visible()
    assert read(store, id_on_page(page)).memory.title == "The tests need a database"


def test_what_is_known_already_is_said_with_a_link_to_it(page: Page, store: Store) -> None:
    memory_id = stored(store, "Stripe keys", KEYS)
    write(page, KEYS, Title="Stripe keys")
    expect(page.get_by_role("heading", name="Known already")).to_be_visible()
    assert id_on_page(page) == memory_id


def test_a_memory_that_says_all_of_another_takes_its_place_and_links_to_it(page: Page, store: Store) -> None:
    old = stored(store, "Map tiles", "Map tiles are cached by the browser.")
    write(page, "Map tiles are cached by the browser, because drawing them is slow.", Title="Map tiles")
    expect(page.get_by_role("link", name=old)).to_be_visible()
    assert status(store, old) is Status.SUPERSEDED


@pytest.mark.parametrize(
    ("answer", "became"), [("This replaces it", Status.SUPERSEDED), ("Both hold", Status.ACTIVE)]
)
def test_a_near_memory_is_shown_and_settled(page: Page, store: Store, answer: str, became: Status) -> None:
    near = stored(store, "Stripe keys", KEYS)
    write(page, "Stripe keys are rotated on the last day of each month.", Title="Stripe key rotation")
    others = page.get_by_role("region", name="It may be about the same thing as")
    expect(others.get_by_role("link", name="Stripe keys")).to_be_visible()
    others.get_by_role("button", name=answer).click()
    expect(others.get_by_role("link", name=near)).to_be_visible()
    assert status(store, near) is became


def test_a_secret_is_refused_with_all_words_kept(page: Page, store: Store) -> None:
    write(page, "It is AKIAIOSFODNN7EXAMPLQ.", Title="Key of the shop")
    expect(page.get_by_role("alert")).to_contain_text("AWS access key")
    expect(page.get_by_label("Text, in markdown")).to_have_value("It is AKIAIOSFODNN7EXAMPLQ.")
    assert not list(store.home.rglob("key-of-the-shop*.md"))
    page.get_by_role("button", name="It is not a secret: save it").click()
    expect(page.get_by_role("heading", name="Remembered")).to_be_visible()
    assert len(list(store.home.rglob("key-of-the-shop*.md"))) == 1


def test_leaving_asks_before_words_are_remembered_but_not_after(page: Page) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.dismiss()))
    page.get_by_label("Text, in markdown").fill("Half a thought.")
    page.get_by_role("link", name="Today").click(no_wait_after=True)
    expect(page.get_by_label("Text, in markdown")).to_have_value("Half a thought.")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("heading", name="Remembered")).to_be_visible()
    page.get_by_role("link", name="Today").click()
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    assert dialogs == ["beforeunload"]
