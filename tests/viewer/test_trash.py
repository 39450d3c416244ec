"""What lies in the trash is listed among the memories, found by its words, and brought back from there."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.list_trash import find_trashed
from mcp_server.core.errors import NotFound
from mcp_server.core.memory_parts import Level, Status
from mcp_server.store import Store
from tests.conftest import Clock, Open
from tests.memories import status, stored
from tests.viewer.conftest import Look, at, go


def away(store: Store, title: str, text: str, **more: object) -> str:
    memory_id = stored(store, title, text, **more)
    forget(store, memory_id)
    return memory_id


def titles(page: Page) -> Locator:
    return page.locator("#found h2 a")


def restore_ticked(page: Page) -> None:
    page.get_by_role("toolbar").get_by_role("button", name="Restore").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()


def test_the_trash_is_a_status_and_the_last_forgotten_stands_first(
    look: Look, store: Store, clock: Clock
) -> None:
    away(store, "Old webhook", "It was so.")
    clock.pass_days(1)
    away(store, "Old deploys", "They went out on Mondays.")
    stored(store, "Deploys", "They go out on Tuesdays.")
    page = look()
    go(page, "Memories")
    expect(titles(page)).to_have_text(["Deploys"])

    page.get_by_role("combobox", name="Status").select_option("in the trash")

    expect(titles(page)).to_have_text(["Old deploys", "Old webhook"])
    expect(page.get_by_text("2 memories, last forgotten first")).to_be_visible()
    expect(page.get_by_role("toolbar").get_by_role("button")).to_have_text(["Restore"])
    expect(page.locator("#found .about").first).to_contain_text("forgotten 2026-11-21")
    expect(page).to_have_url(re.compile(r"/memories\?status=trash$"))


def test_one_is_read_and_restored_on_its_page(look: Look, store: Store) -> None:
    memory_id = away(store, "Old webhook", "It needed the *raw* body.")
    page = look()
    at(page, "/memories?status=trash")
    titles(page).click()
    expect(page.get_by_role("heading", name="In the trash")).to_be_visible()
    expect(page.locator(".text em")).to_have_text("raw")

    page.get_by_role("button", name="Restore").click()

    expect(page.get_by_role("heading", name="Old webhook", level=1)).to_be_visible()
    assert status(store, memory_id) is Status.ACTIVE


def test_many_of_several_projects_are_restored_and_undone_as_one(
    look: Look, store: Store, elsewhere: Store
) -> None:
    in_shop, own = away(store, "Here", "In the shop."), away(store, "Own", "Mine.", level=Level.USER)
    in_office = away(elsewhere, "There", "In the office.")
    page = look()
    at(page, "/memories?status=trash")
    expect(titles(page)).to_have_count(2)
    at(page, "/memories?status=trash&project=all")
    page.get_by_label("all on this page").check()
    restore_ticked(page)

    expect(page.get_by_text("Restore: 3 of 3 done.")).to_be_visible()
    expect(page.get_by_text("Nothing in the trash matches.")).to_be_visible()
    stores = {in_shop: store, own: store, in_office: elsewhere}
    assert {status(of, memory_id) for memory_id, of in stores.items()} == {Status.ACTIVE}
    page.get_by_role("button", name="Undo").click()
    expect(titles(page)).to_have_count(3)
    for memory_id, of in stores.items():
        with pytest.raises(NotFound):
            read(of, memory_id)


def test_words_and_filters_hold_in_the_trash(look: Look, store: Store, clock: Clock) -> None:
    away(store, "Webhook", "Stripe needs the RAW body.", type="gotcha", tags=("billing",))
    clock.pass_days(2)
    away(store, "Invoices", "Stripe sends them on Mondays.", type="decision", level=Level.USER)
    page = look()
    at(page, "/memories?status=trash")
    search = page.get_by_label("Search", exact=True)
    search.press_sequentially("raw bod", delay=20)
    expect(titles(page)).to_have_text(["Webhook"])
    expect(page.locator("#found mark")).to_have_text(["RAW", "body"])
    search.fill("nowhere")
    expect(page.get_by_text("Nothing in the trash matches.")).to_be_visible()
    for query, expected in (
        ("type=gotcha", ["Webhook"]),
        ("level=user", ["Invoices"]),
        ("tag=billing", ["Webhook"]),
        ("since=2026-11-21", ["Invoices"]),
        ("until=2026-11-21", ["Webhook"]),
        ("kind=session", []),
        ("q=stripe", ["Invoices", "Webhook"]),
    ):
        at(page, f"/memories?status=trash&{query}")
        expect(titles(page)).to_have_text(expected)


def test_a_file_without_a_memory_is_listed_and_comes_back(look: Look, store: Store) -> None:
    memory_id = away(store, "Old webhook", "It was so.")
    trashed = find_trashed(store, memory_id)
    assert trashed
    trashed.path.write_bytes(b"---\ntitle: [\n---\n")
    page = look()
    at(page, "/memories?status=trash")
    expect(page.get_by_text("its file contains no readable memory")).to_be_visible()
    titles(page).click()
    expect(page.get_by_text("Its file contains no readable memory.")).to_be_visible()


def test_what_is_restored_in_a_terminal_leaves_the_list_by_itself(look: Look, open_here: Open) -> None:
    from mcp_server.actions.memory.forget import restore

    opened = open_here()
    store = opened.store()
    memory_id = away(store, "Old webhook", "It was so.")
    page = look(opened)
    at(page, "/memories?status=trash")
    expect(titles(page)).to_have_count(1)
    restore(store, memory_id)
    expect(page.get_by_text("The trash is empty.")).to_be_visible()
