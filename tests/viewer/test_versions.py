"""What a memory said before is compared and said again in the browser, and nothing is lost by it."""

from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, expect

from mcp_server.actions.changes.history import history_of
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters.memory_file import render
from mcp_server.core.memory import USE_WHEN
from mcp_server.store import Store
from tests.conftest import Open
from tests.memories import stored
from tests.viewer.conftest import Look, at

FIRST = "We deploy from the main branch.\n\nAda does it."
SECOND = "We deploy from the release branch.\n\nAda does it."
THIRD = "We deploy from the release branch.\n\nThe pipeline does it, on Mondays."


@pytest.fixture
def memory(store: Store) -> str:
    """A memory that said three things, one after the other."""
    memory = stored(store, "Deploying", FIRST, tags=("ops",))
    revise(store, memory, Revision(text=SECOND, tags=("ops", "release"), use_when=("ship it",)))
    revise(store, memory, Revision(text=THIRD, title="How we deploy"))
    return memory


@pytest.fixture
def page(look: Look, open_here: Open, memory: str) -> Page:
    """The page of the memory's history."""
    page = look(open_here())
    at(page, f"/memories/{memory}/history")
    return page


def text(store: Store, memory: str) -> str:
    return read(store, memory).memory.text


def version_shown(page: Page) -> Locator:
    return page.get_by_role("region", name="From version")


def test_each_version_is_listed_with_when_by_whom_by_which_verb_and_what_differs(page: Page) -> None:
    rows = page.get_by_role("row").filter(has_text="revised")
    expect(rows).to_have_count(2)
    cells = [rows.nth(number).get_by_role("cell").all_inner_texts()[2:6] for number in range(2)]
    assert cells == [[number, "2026-11-20 09:12", "person", "revised"] for number in ("2", "1")]
    expect(rows.first).to_contain_text('title "Deploying" -> "How we deploy"')
    expect(rows.last).to_contain_text("tags +release; use when +ship it")


def test_two_versions_are_compared_with_their_words_marked(page: Page) -> None:
    page.get_by_label("Compare from version 1").check()
    page.get_by_label("Compare to version 2").check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="From version 1 to version 2")).to_be_visible()
    expect(version_shown(page).locator("del")).to_have_text(["main"])
    expect(version_shown(page).locator("ins")).to_have_text(["release"])
    expect(version_shown(page)).to_contain_text("Also: tags +release; use when +ship it")
    page.get_by_role("link", name="beside each other").click()
    expect(version_shown(page).locator(".difference")).to_have_text([FIRST, SECOND], use_inner_text=True)


def test_the_order_in_which_versions_are_chosen_does_not_matter(page: Page, memory: str) -> None:
    at(page, f"/memories/{memory}/history?one=now&two=2")
    expect(page.get_by_role("heading", name="From version 2 to now")).to_be_visible()
    expect(version_shown(page).locator("ins").first).to_have_text("How we deploy")


def test_the_last_change_is_taken_back_after_it_was_seen(page: Page, store: Store, memory: str) -> None:
    stored(store, "Another memory", "Its change is the last one of all.")
    page.get_by_role("link", name="Undo it").click()
    expect(page.locator("ins").filter(has_text="Ada does it.")).to_be_visible()
    assert text(store, memory) == THIRD
    page.get_by_role("button", name="Undo it", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="Taken back: 1 memory.")).to_be_visible()
    assert text(store, memory) == SECOND


def test_an_older_version_is_said_again_as_a_new_change(page: Page, store: Store, memory: str) -> None:
    page.get_by_role("button", name="Say version 1 again").click()
    expect(page.get_by_role("status").filter(has_text="version 1")).to_be_visible()
    now = read(store, memory).memory
    assert (now.title, now.text, now.tags, now.use_when) == ("Deploying", FIRST, ("ops",), ())
    last = history_of(store, memory).versions[0].memory
    assert last and last.text == THIRD


def test_a_version_is_said_again_that_a_hand_made_longer_than_a_form_may(
    look: Look, open_here: Open, store: Store, memory: str
) -> None:
    occasions = tuple(f"ship version {number}" for number in range(USE_WHEN.most + 2))
    long = "\n".join(["It is a long story."] * 4000)
    path, data = read(store, memory).path, read(store, memory).memory
    path.write_bytes(render(replace(data, use_when=occasions, text=long, title="Deploying " * 40)))
    revise(store, memory, Revision(text=FIRST, title="Deploying", use_when=("ship it",)))
    page = look(open_here())
    at(page, f"/memories/{memory}/history")

    page.get_by_role("button", name="Say version 3 again").click()

    expect(page.get_by_role("status").filter(has_text="version 3")).to_be_visible()
    now = read(store, memory).memory
    assert (now.use_when, now.text) == (occasions, long)


def test_an_editors_save_since_is_not_replaced_by_an_older_version_unseen(
    page: Page, store: Store, memory: str
) -> None:
    path = read(store, memory).path
    path.write_text(path.read_text(encoding="utf-8").replace("on Mondays", "on Fridays"), encoding="utf-8")
    page.get_by_role("button", name="Say version 1 again").click()
    expect(page.get_by_role("alert")).to_contain_text("It was changed since this page was made.")
    assert "on Fridays" in text(store, memory)


def test_a_memory_in_the_trash_has_its_history_and_leads_to_where_it_is_restored(
    page: Page, store: Store, memory: str
) -> None:
    forget(store, memory)
    page.reload()
    expect(page.get_by_role("row").filter(has_text="revised")).to_have_count(2)
    page.get_by_role("link", name="Its page").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("button", name="Forget")).to_be_visible()
    assert text(store, memory) == THIRD


def test_a_memory_that_was_never_changed_says_so(look: Look, store: Store) -> None:
    memory = stored(store, "New", "Just said.")
    page = look()
    at(page, f"/memories/{memory}/history")
    expect(page.get_by_text("There is no earlier version")).to_be_visible()
    page.get_by_role("link", name="Undo it").click()  # that it was remembered
    expect(page.get_by_text("Goes to the trash")).to_be_visible()


def test_a_memory_that_is_not_known_is_said_to_be_none(page: Page) -> None:
    at(page, "/memories/nothing-like-it/history")
    expect(page.get_by_role("alert")).to_contain_text("No memory has the id 'nothing-like-it'.")


def test_hostile_words_of_a_version_are_shown_as_words(page: Page, store: Store, memory: str) -> None:
    revise(store, memory, Revision(text="<script>alert(1)</script> \u202eevil <img src=x onerror=alert(1)>"))
    at(page, f"/memories/{memory}/history?one=3&two=now")
    expect(version_shown(page)).to_contain_text("<img src=x onerror=alert(1)>")
    assert version_shown(page).locator("img, script").count() == 0
    assert "\u202e" not in page.content()
