"""The page of memories: listed newest first, found as one types, with filters that stand in the address."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.archive import archive
from mcp_server.bootstrap import Opened
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.ranking import Score
from mcp_server.doors.viewer.memories import LISTED, PARTS
from mcp_server.store import Store
from tests.conftest import Clock, Open
from tests.durability.served import eventually
from tests.memories import stored
from tests.viewer.conftest import Look, go


def titles(page: Page) -> Locator:
    return page.locator("#found h2 a")


def chooser(page: Page, label: str) -> Locator:
    return page.get_by_role("combobox", name=label, exact=True)


def back(page: Page) -> None:
    """Go back as the browser's button does, after which htmx may load the page again."""
    page.evaluate("setTimeout(() => history.back())")


def test_memories_are_listed_newest_first_in_pages(look: Look, store: Store, clock: Clock) -> None:
    for number in range(LISTED + 2):
        clock.pass_days(1)
        stored(store, f"Thing number {number}", f"It says {number}.")
    page = look()
    go(page, "Memories")
    expect(titles(page)).to_have_count(LISTED)
    expect(titles(page).first).to_have_text(f"Thing number {LISTED + 1}")

    page.get_by_role("link", name="Older").click()

    expect(titles(page)).to_have_text(["Thing number 1", "Thing number 0"])
    page.get_by_role("link", name="Newer").click()
    expect(titles(page)).to_have_count(LISTED)


def test_what_comes_meanwhile_shows_on_the_page_of_the_list_that_is_open(
    look: Look, store: Store, clock: Clock
) -> None:
    for number in range(LISTED + 1):
        clock.pass_days(1)
        stored(store, f"Thing number {number}", f"It says {number}.")
    page = look()
    page.goto(f"{page.url}memories?offset={LISTED}")
    expect(titles(page)).to_have_text(["Thing number 0"])
    stored(store, "The newest thing", "It is new.")
    expect(titles(page)).to_have_text(["Thing number 1", "Thing number 0"])
    expect(page).to_have_url(re.compile(rf"/memories\?offset={LISTED}$"))


def test_typing_finds_the_memory_and_marks_its_words(look: Look, store: Store) -> None:
    stored(store, "Stripe webhook", "Signatures are verified over the raw request body.")
    stored(store, "Deploys", "They go out on Tuesdays.")
    page = look()
    go(page, "Memories")

    page.get_by_label("Search", exact=True).press_sequentially("raw bodies", delay=20)

    expect(titles(page)).to_have_text(["Stripe webhook"])
    expect(page.locator("#found mark")).to_have_text(["raw", "body"])
    part = page.locator(".part", has_text="words")
    expect(part.locator("meter")).to_have_js_property("value", 1)
    expect(part).to_contain_text("1.000")
    page.get_by_label("Search", exact=True).fill("")
    expect(titles(page)).to_have_count(2)


def test_an_answer_that_comes_late_overwrites_no_newer_one(look: Look, store: Store) -> None:
    stored(store, "Stripe webhook", "Signatures are verified.")
    stored(store, "Deploys", "They go out on Tuesdays.")
    page = look()
    go(page, "Memories")
    routes: list[Route] = []

    def hold(route: Route) -> None:
        routes.append(route)

    page.route("**/memories?q=stripe", hold)
    page.get_by_label("Search", exact=True).fill("stripe")
    eventually(lambda: page.evaluate("1") and routes != [], "the first search is held")
    page.get_by_label("Search", exact=True).fill("deploys")
    expect(titles(page)).to_have_text(["Deploys"])

    for route in routes:
        route.continue_()
    page.evaluate(
        "fetch(document.body.dataset.base + '/memories?q=late')"
    )  # a round trip behind the late one

    expect(titles(page)).to_have_text(["Deploys"])
    assert len(routes) == 1


def test_filters_stand_in_the_address_through_back_and_reload(look: Look, store: Store) -> None:
    stored(store, "Stripe webhook", "Needs the raw body.", type="gotcha", tags=("billing",))
    stored(store, "Stripe invoices", "They are sent on Mondays.", type="decision", tags=("billing",))
    stored(store, "Editor", "Tabs have two blanks.", type="preference")
    page = look()
    go(page, "Memories")
    page.get_by_label("Tag").fill("billing")
    page.get_by_label("Tag").press("Tab")
    expect(titles(page)).to_have_count(2)
    chooser(page, "Type").select_option("gotcha")
    expect(titles(page)).to_have_text(["Stripe webhook"])
    expect(page).to_have_url(re.compile(r"/memories\?type=gotcha&tag=billing$"))

    page.reload()
    expect(titles(page)).to_have_text(["Stripe webhook"])
    expect(chooser(page, "Type")).to_have_value("gotcha")
    back(page)
    expect(titles(page)).to_have_count(2)
    expect(chooser(page, "Type")).to_have_value("")
    page.get_by_role("link", name="Reset").click()
    expect(titles(page)).to_have_count(3)


def test_filters_hold_for_a_search_and_typing_makes_one_entry_of_the_history(
    look: Look, store: Store
) -> None:
    stored(store, "Stripe webhook", "Needs the raw body.", type="gotcha")
    stored(store, "Stripe invoices", "They are sent on Mondays.", type="decision")
    page = look()
    go(page, "Memories")
    chooser(page, "Type").select_option("decision")
    expect(titles(page)).to_have_count(1)
    for words in ("str", "stripe"):
        page.get_by_label("Search", exact=True).fill(words)
        page.wait_for_url(f"**/memories?q={words}&type=decision")
    expect(titles(page)).to_have_text(["Stripe invoices"])
    page.get_by_label("meaning").check()
    page.wait_for_url("**/memories?q=stripe&mode=meaning&type=decision")
    back(page)
    page.wait_for_url("**/memories?q=stripe&type=decision")
    expect(page.get_by_label("meaning")).not_to_be_checked()
    back(page)
    page.wait_for_url("**/memories")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("level=user", ["Tabs"]),
        ("kind=session", []),
        ("since=2026-11-21", ["Webhook", "Tabs"]),
        ("until=2026-11-21", ["Deploys"]),
        ("status=archived", ["Old"]),
        ("status=any", ["Webhook", "Tabs", "Old", "Deploys"]),
        ("category=ops", []),
    ],
)
def test_each_filter_lets_through_what_it_says(
    look: Look, store: Store, clock: Clock, query: str, expected: list[str]
) -> None:
    stored(store, "Deploys", "On Tuesdays.")
    clock.pass_days(1)
    archive(store, [stored(store, "Old", "It was so once.")])
    clock.pass_days(1)
    stored(store, "Tabs", "Two blanks.", level=Level.USER)
    clock.pass_days(1)
    stored(store, "Webhook", "Raw body.")
    page = look()
    page.goto(f"{page.url}memories?{query}")
    expect(titles(page)).to_have_text(expected)


def test_a_memory_of_another_project_is_found_and_opened_there(
    look: Look, store: Store, elsewhere: Store
) -> None:
    stored(store, "Here", "In the shop.")
    stored(elsewhere, "There", "In the office.")
    page = look()
    go(page, "Memories")
    expect(titles(page)).to_have_text(["Here"])
    chooser(page, "Project").select_option("all projects")
    expect(titles(page)).to_have_count(2)
    page.get_by_role("link", name="There").click()
    expect(page.get_by_text("In the office.")).to_be_visible()
    back(page)
    expect(titles(page)).to_have_count(2)
    chooser(page, "Project").select_option("office")
    expect(titles(page)).to_have_text(["There"])


def test_looking_and_searching_note_nothing(look: Look, store: Store, memory_dir: Path) -> None:
    memory_id = stored(store, "Stripe webhook", "Needs the raw body.")
    before = [path.read_bytes() for path in sorted((memory_dir / "ledger").iterdir())]
    page = look()
    page.goto(f"{page.url}memories?q=stripe")
    titles(page).click()
    expect(page.get_by_role("heading", name="Stripe webhook")).to_be_visible()
    expect(page).to_have_url(re.compile(memory_id))
    assert before == [path.read_bytes() for path in sorted((memory_dir / "ledger").iterdir())]


def test_what_was_edited_by_hand_shows_by_itself(look: Look, store: Store) -> None:
    path = read(store, stored(store, "Stripe webhook", "Needs the raw body.")).path
    page = look()
    path.write_text("# Written by hand\n\nIn an editor.\n", encoding="utf-8")
    go(page, "Memories")
    expect(titles(page)).to_have_text(["Written by hand"])


def test_an_empty_store_and_a_search_without_hits_say_what_to_do(look: Look) -> None:
    page = look()
    go(page, "Memories")
    expect(page.get_by_text("There are no memories yet.")).to_be_visible()
    page.get_by_label("Search", exact=True).fill("anything")
    expect(page.get_by_text("No memory matches.")).to_be_visible()


@pytest.mark.parametrize("query", ["type=poem", "level=x", "status=x", "mode=x", "offset=-1", "since=soon"])
def test_a_filter_that_is_none_is_refused_in_a_sentence(look: Look, query: str) -> None:
    page = look()
    page.goto(f"{page.url}memories?{query}")
    expect(page.get_by_role("alert")).to_be_visible()


def test_the_page_says_when_words_alone_are_searched(look: Look, store: Store) -> None:
    stored(store, "Stripe webhook", "Needs the raw body.")
    page = look()
    page.goto(f"{page.url}memories?q=stripe")
    expect(page.get_by_text("The search uses words only.")).to_be_visible()
    page.get_by_label("words", exact=True).first.check()
    expect(page.get_by_text("The search uses words only.")).to_have_count(0)


def test_while_the_model_loads_the_page_says_so_and_then_searches_again(look: Look, open_here: Open) -> None:
    opened = open_here(EMBEDDING_MODEL="minilm-l6")
    stored(opened.store(), "Stripe webhook", "Needs the raw body.")
    loading = Opened({**opened.environment}, folder=opened.folder, wait_for_model=False)
    with loading.meaning._lock:  # it loads for as long as somebody holds this
        page = look(loading)
        page.goto(f"{page.url}memories?q=stripe")
        expect(page.get_by_text("The search uses words only. The embedding model is loading")).to_be_visible()
        expect(titles(page)).to_have_text(["Stripe webhook"])
    expect(page.get_by_text("The search uses words only.")).to_have_count(0)
    expect(titles(page)).to_have_text(["Stripe webhook"])


def test_every_part_of_a_score_is_explained() -> None:
    assert set(PARTS) == set(Score.__slots__) - {"total"}
