"""The page of one memory: what is known of it, its links, whom it was told, and what can be done with it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.related import at_level
from mcp_server.actions.memory.trust import standing_of
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.sessions.quality import mark_used
from mcp_server.core.errors import NotFound
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.conftest import Open
from tests.memories import status, stored
from tests.viewer.conftest import Look

SESSION = "8d7cabcd-1111-2222-3333-444455556666"


@pytest.fixture
def memory_id(store: Store) -> str:
    return stored(store, "Raw body", "The webhook needs it.")


@pytest.fixture
def page(look: Look, memory_id: str) -> Page:
    """The page of that memory."""
    page = look()
    opened_at(page, memory_id)
    return page


def opened_at(page: Page, memory_id: str) -> None:
    page.goto(f"{page.url}memories/{memory_id}")


def fact(page: Page, name: str) -> str:
    """Return what the page says beside the memory under *name*."""
    return page.locator(f"xpath=//dt[normalize-space()='{name}']/following-sibling::dd[1]").inner_text()


def test_a_memory_is_shown_whole_with_what_its_file_says(look: Look, store: Store, project: Path) -> None:
    (project / "stripe.ts").write_text("before")
    text = "# Why\n\nThe *signature* needs it.\n\n```js\nraw()\n```\n"
    about = {"tags": ("billing",), "touches": ("stripe.ts:42",), "use_when": ("add <b>hooks</b>", "verify")}
    memory_id = stored(store, "Raw body", text, type="gotcha", category="ops", **about)
    (project / "stripe.ts").write_text("after, and longer")
    page = look()
    opened_at(page, memory_id)
    expect(page.get_by_role("heading", name="Raw body", level=1)).to_be_visible()
    expect(page.get_by_role("heading", name="Why", level=2)).to_be_visible()
    expect(page.locator(".text em")).to_have_text("signature")
    expect(page.locator(".text pre")).to_have_text("raw()\n")
    expect(page.get_by_text("stripe.ts:42 changed since")).to_be_visible()
    assert fact(page, "Id") == memory_id
    assert fact(page, "File") == str(read(store, memory_id).path)
    assert fact(page, "Source").startswith("manual")
    assert fact(page, "Category") == "ops"
    assert fact(page, "Use when").splitlines() == ["add <b>hooks</b>", "verify"]
    assert fact(page, "Shown unasked") == "Claude may be shown it unasked."
    page.get_by_role("link", name="billing").click()
    expect(page.locator("#found h2 a")).to_have_text(["Raw body"])


def test_links_in_and_out_and_in_the_text_lead_to_the_memories(look: Look, store: Store) -> None:
    billing = stored(store, "Billing", "It owns the invoices.")
    webhook = stored(
        store, "Webhook", f"See [[Billing]], [[{billing}|there]], `[[Billing]]` and [[Nothing]]."
    )
    link(store, webhook, billing, "depends-on")
    page = look()
    opened_at(page, webhook)
    expect(page.locator(".text a")).to_have_text(["Billing", "there"])
    expect(page.locator(".text")).to_contain_text("[[Nothing]]")
    out = page.locator("section", has=page.get_by_role("heading", name="Links to"))
    expect(out.get_by_text("depends-on")).to_be_visible()
    page.locator(".text a").first.click()
    expect(page.get_by_role("heading", name="Billing", level=1)).to_be_visible()
    back = page.locator("section", has=page.get_by_role("heading", name="Linked from"))
    back.get_by_role("link", name="Webhook").first.click()
    expect(page.get_by_role("heading", name="Webhook", level=1)).to_be_visible()


def test_it_says_which_sessions_were_told_and_whether_it_was_used(look: Look, store: Store) -> None:
    raw_body, tabs = stored(store, "Raw body", "The webhook needs it."), stored(store, "Tabs", "Two blanks.")
    recall(store, Query("raw body of the webhook"), given_to=SESSION)
    mark_used(store.in_session(SESSION), [raw_body])
    page = look()
    opened_at(page, raw_body)
    expect(page.get_by_role("row").nth(1)).to_contain_text("8d7cabcd")
    expect(page.get_by_role("row").nth(1)).to_contain_text("raw body of the webhook")
    expect(page.get_by_role("row").nth(1)).to_contain_text("yes")
    page.goto(page.url.replace(raw_body, tabs))
    expect(page.get_by_text("No session was shown this yet.")).to_be_visible()


def test_archiving_can_be_undone_and_the_page_follows(page: Page, store: Store, memory_id: str) -> None:
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("Archived: 1 memory")).to_be_visible()
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    assert status(store, memory_id) is Status.ARCHIVED
    expect(page.get_by_role("button", name="Undo")).to_be_focused()

    page.keyboard.press("Enter")

    expect(page.get_by_role("button", name="Archive")).to_be_visible()
    assert status(store, memory_id) is Status.ACTIVE


def test_what_was_forgotten_lies_in_the_trash_and_comes_back(
    page: Page, store: Store, memory_id: str
) -> None:
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("heading", name="In the trash")).to_be_visible()
    with pytest.raises(NotFound):
        read(store, memory_id)
    page.reload()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("heading", name="Raw body", level=1)).to_be_visible()
    assert status(store, memory_id) is Status.ACTIVE


def test_pinning_and_saying_that_it_is_wrong_can_be_undone(page: Page, store: Store, memory_id: str) -> None:
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    assert read(store, memory_id).memory.pinned
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_visible()
    assert not read(store, memory_id).memory.pinned

    page.get_by_role("button", name="It is wrong").click()
    expect(page.locator(".facts")).to_contain_text("0.70")
    assert standing_of(store, read(store, memory_id)).trust == pytest.approx(0.7)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".facts")).to_contain_text("1.00")
    assert standing_of(store, read(store, memory_id)).trust == pytest.approx(1.0)


def test_what_is_refused_is_said_and_the_page_stays(look: Look, open_here: Open) -> None:
    opened = open_here(HOT_CACHE_MAX_ITEMS="0")
    memory_id = stored(opened.store(), "Raw body", "The webhook needs it.")
    page = look(opened)
    opened_at(page, memory_id)
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("the hot set is switched off")
    expect(page.get_by_role("heading", name="Raw body", level=1)).to_be_visible()


def test_an_undo_that_comes_too_late_takes_back_nothing_else(
    page: Page, store: Store, memory_id: str
) -> None:
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    forget(store, memory_id)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing was undone")
    with pytest.raises(NotFound):
        read(store, memory_id)


def test_an_undo_of_what_was_edited_since_leads_to_where_both_are_shown(
    page: Page, store: Store, memory_id: str
) -> None:
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    file = read(store, memory_id)
    file.path.write_bytes(file.data + b"By hand.\n")
    page.get_by_role("button", name="Undo").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("it was changed since")
    expect(alert).not_to_contain_text("--anyway")
    alert.get_by_role("link", name="See both").click()
    expect(page.get_by_text("By hand.").first).to_be_visible()
    page.get_by_role("button", name="Undo it anyway").click()
    expect(page.get_by_role("heading", name="Taken back")).to_be_visible()
    assert not read(store, memory_id).memory.pinned


@pytest.fixture
def farther(look: Look, store: Store) -> Page:
    """The page of the person's memory whose id a memory of the project has, too."""
    for level, title, text in (
        (Level.USER, "Farther", "It is the person's."),
        (Level.PROJECT, "Nearer", "It is the project's."),
    ):
        stored(at_level(store, level), title, text, id="same", level=level)
    page = look()
    page.goto(f"{page.url}memories")
    page.get_by_role("link", name="Farther").click()
    expect(page.get_by_text("It is the person's.")).to_be_visible()
    page.wait_for_load_state()
    return page


def test_with_one_id_at_both_levels_each_is_opened(farther: Page, store: Store) -> None:
    farther.get_by_role("button", name="Archive").click()
    expect(farther.get_by_role("button", name="Restore")).to_be_visible()
    assert status(store, "same") is Status.ACTIVE
    assert status(at_level(store, Level.USER), "same") is Status.ARCHIVED


def test_with_one_id_at_both_levels_each_is_edited_compared_and_taken_back(
    farther: Page, store: Store
) -> None:
    farther.get_by_role("link", name="Edit", exact=True).click()
    farther.get_by_label("Text, in markdown").fill("It is still the person's.")
    farther.get_by_role("button", name="Save Ctrl S").click()
    expect(farther.get_by_text("Saved", exact=True)).to_be_visible()
    assert read(at_level(store, Level.USER), "same").memory.text == "It is still the person's."
    farther.get_by_role("link", name="History").click()
    farther.get_by_role("button", name="Compare").click()
    expect(farther.get_by_role("heading", name="Farther")).to_be_visible()
    for text in ("It is the person's.", "It is still the person's."):
        farther.get_by_role("link", name="Undo").click()
        farther.get_by_role("button", name="Undo it", exact=True).click()
        expect(farther.get_by_text("Taken back: 1 memory.")).to_be_visible()
        assert read(at_level(store, Level.USER), "same").memory.text == text
    assert read(store, "same").memory.text == "It is the project's."


@pytest.mark.parametrize("memory_id", ["nothing-there-a1b2", "Not%20an%20id", "..%2F..%2Fetc%2Fpasswd"])
def test_an_unknown_id_is_said_in_a_sentence(look: Look, memory_id: str) -> None:
    page = look()
    opened_at(page, memory_id)
    expect(page.get_by_role("alert").or_(page.get_by_text("There is no such page."))).not_to_have_count(0)


def twice(page: Page, label: str) -> None:
    page.get_by_role("button", name=label).dblclick()


def held(page: Page, label: str) -> None:
    page.get_by_role("button", name=label).focus()
    page.keyboard.down("Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.down("Enter")
    page.keyboard.up("Enter")


def again_before_the_answer(page: Page, label: str) -> None:
    waiting: list[Route] = []
    page.route("**/act", lambda route: waiting.append(route), times=1)  # noqa: PLW0108 - it is given a mark
    with page.expect_request("**/act"):
        page.get_by_role("button", name=label).click()
    page.get_by_role("button", name=label).click()
    waiting[0].continue_()


@pytest.mark.parametrize("press", [twice, held, again_before_the_answer])
@pytest.mark.parametrize("label", ["Pin", "Move to user level", "Archive", "Forget", "It is right"])
def test_a_button_that_is_pressed_twice_acts_once(
    page: Page, label: str, press: Callable[[Page, str], None]
) -> None:
    sent: list[str] = []
    page.on("request", lambda request: request.method == "POST" and sent.append(request.url))

    press(page, label)

    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    with page.expect_response(lambda answer: answer.status == 204):
        pass
    assert [url.rpartition("/")[2] for url in sent] == ["act"]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#message")).to_contain_text("Taken back")


def test_the_line_below_the_buttons_crosses_none(page: Page) -> None:
    buttons = page.locator(".memory > .row").locator("button, .button")
    bottoms = buttons.evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().bottom)")
    line = page.locator(".memory > .row").evaluate("(row) => row.getBoundingClientRect().bottom")
    assert max(bottoms) < line
