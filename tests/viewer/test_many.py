"""Many memories at once: chosen with ticks, asked about first, done as one change and undone as one."""

from playwright.sync_api import Locator, Page, expect

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.promote import pin
from mcp_server.core.memory_parts import Status
from mcp_server.store import Store
from tests.conftest import Open
from tests.memories import status, stored
from tests.viewer.conftest import Look, serious_findings

NAMES = ("Alpha", "Beta", "Gamma")


def three(store: Store) -> list[str]:
    return [stored(store, name, f"{name} says something of its own.") for name in NAMES]


def tick(page: Page, name: str) -> Locator:
    return page.get_by_role("checkbox", name=f"Choose {name}")


def ask(page: Page, label: str) -> Locator:
    """Press the button of the list, and return the question that comes."""
    page.get_by_role("toolbar").get_by_role("button", name=label, exact=True).click()
    return page.get_by_role("dialog")


def test_all_on_the_page_are_archived_after_a_question_and_undone_as_one(look: Look, store: Store) -> None:
    ids = three(store)
    page = look()
    page.goto(f"{page.url}memories")
    expect(page.get_by_role("button", name="Archive")).to_be_disabled()
    page.get_by_label("all on this page").check()
    expect(page.get_by_text("3 chosen")).to_be_visible()

    question = ask(page, "Archive")

    expect(question.get_by_role("heading")).to_have_text("Archive: 3 memories")
    expect(question.get_by_role("listitem")).to_have_text(list(NAMES), use_inner_text=True)
    assert serious_findings(page) == []
    assert {status(store, memory_id) for memory_id in ids} == {Status.ACTIVE}
    question.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("Archive: 3 of 3 done.")).to_be_visible()
    expect(page.locator("#found h2")).to_have_count(0)
    assert {status(store, memory_id) for memory_id in ids} == {Status.ARCHIVED}

    page.get_by_role("button", name="Undo").click()

    expect(page.locator("#found h2")).to_have_count(3)
    assert {status(store, memory_id) for memory_id in ids} == {Status.ACTIVE}


def test_with_the_keyboard_alone_two_are_forgotten(look: Look, store: Store) -> None:
    three(store)
    page = look()
    page.goto(f"{page.url}memories")
    tick(page, "Alpha").focus()
    page.keyboard.press("Space")
    tick(page, "Gamma").focus()
    page.keyboard.press("Space")
    page.get_by_role("toolbar").get_by_role("button", name="Forget").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text("Forget: 2 memories")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#found h2")).to_have_count(3)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Forget")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#found h2")).to_have_text(["Beta"])
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#found h2")).to_have_count(3)


def test_what_cannot_be_done_is_named_and_the_others_are_done(look: Look, open_here: Open) -> None:
    opened = open_here(HOT_CACHE_MAX_ITEMS="2")
    store = opened.store()
    ids = three(store)
    pin(store, ids[0], pinned=True)
    page = look(opened)
    page.goto(f"{page.url}memories")
    page.get_by_label("all on this page").check()
    ask(page, "Pin").get_by_role("button", name="Pin").click()
    expect(page.get_by_text("Pin: 2 of 3 done.")).to_be_visible()
    expect(page.locator("#message li")).to_contain_text("all 2 places are taken")
    assert sum(read(store, memory_id).memory.pinned for memory_id in ids) == 2


def test_hits_of_a_search_get_a_tag(look: Look, store: Store) -> None:
    ids = three(store)
    page = look()
    page.goto(f"{page.url}memories?q=beta")
    tick(page, "Beta").check()
    question = ask(page, "Add a tag")
    question.get_by_label("Tag").fill("greek, Letters")
    question.get_by_role("button", name="Add a tag").click()
    expect(page.get_by_text("Add a tag: 1 of 1 done.")).to_be_visible()
    assert read(store, ids[1]).memory.tags == ("greek", "letters")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: 1 memory.")).to_be_visible()
    assert read(store, ids[1]).memory.tags == ()


def test_memories_of_several_projects_are_restored_together(
    look: Look, store: Store, elsewhere: Store
) -> None:
    in_shop, in_office = stored(store, "Here", "In the shop."), stored(elsewhere, "There", "In the office.")
    page = look()
    page.goto(f"{page.url}memories?project=all")
    page.get_by_label("all on this page").check()
    ask(page, "Archive").get_by_role("button", name="Archive").click()
    expect(page.locator("#found h2")).to_have_count(0)
    assert [status(store, in_shop), status(elsewhere, in_office)] == [Status.ARCHIVED] * 2
    page.get_by_role("combobox", name="Status").select_option("archived")
    expect(page.locator("#found h2")).to_have_count(2)
    page.get_by_label("all on this page").check()
    ask(page, "Restore").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Restore: 2 of 2 done.")).to_be_visible()
    assert [status(store, in_shop), status(elsewhere, in_office)] == [Status.ACTIVE] * 2
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: 2 memories.")).to_be_visible()
    assert [status(store, in_shop), status(elsewhere, in_office)] == [Status.ARCHIVED] * 2
