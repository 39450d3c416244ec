"""What happens in a terminal shows on open pages by itself; nothing that the person does there is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from mcp_server.actions.capture.note import note_session
from mcp_server.bootstrap import Opened
from mcp_server.store import Store
from tests.conftest import Open
from tests.memories import stored
from tests.opened import run_daybook
from tests.viewer.conftest import Look, Viewing, at

ONE, OTHER = "8d7cabcd-1111-2222-3333-444455556666", "9e8dbcde-9999-8888-7777-666655554444"


def started(opened: Opened, session: str) -> Store:
    store = opened.store()
    note_session(store.in_session(session), folder=str(opened.folder))
    return store


def nothing_new(page: Page) -> None:
    """Wait until the page has shown all that happened."""
    with page.expect_response(lambda answer: answer.status == 204):
        pass


def titled(memory_dir: Path, project: Path, session: str, topic: str) -> None:
    """Note in a process of its own what a session is about."""
    assert run_daybook(memory_dir, "sessions", session, "--topic", topic, cwd=project).returncode == 0


def test_what_a_terminal_does_shows_in_two_tabs(
    context: BrowserContext, viewing: Callable[..., Viewing], opened: Opened, memory_dir: Path, project: Path
) -> None:
    started(opened, ONE)
    tabs = [context.new_page(), context.new_page()]
    tabs[0].goto(viewing(opened).link)
    tabs[1].goto(tabs[0].url)
    for tab in tabs:
        expect(tab.get_by_text("No topic was noted")).to_be_visible()

    titled(memory_dir, project, ONE, "Timeouts of the gateway")

    for tab in tabs:
        expect(tab.get_by_text("Timeouts of the gateway")).to_be_visible()


def test_an_open_session_stays_open_with_the_focus_when_others_change(
    look: Look, opened: Opened, memory_dir: Path, project: Path
) -> None:
    started(opened, ONE)
    titled(memory_dir, project, ONE, "Timeouts of the gateway")
    page = look()
    page.get_by_text("Timeouts of the gateway").click()
    expect(page.get_by_text("Nothing was stored in it.")).to_be_visible()
    page.evaluate("document.querySelector('.session').dataset.seen = 'yes'")

    started(opened, OTHER)

    expect(page.locator(".session")).to_have_count(2)
    mine = page.locator(f"#session-{ONE}")
    expect(mine).to_have_attribute("data-seen", "yes")
    expect(mine.get_by_text("Nothing was stored in it.")).to_be_visible()
    expect(mine.locator("summary")).to_be_focused()

    titled(memory_dir, project, ONE, "Retries of the gateway")

    expect(mine.locator("summary")).to_contain_text("Retries of the gateway")
    expect(mine.locator("summary")).to_be_focused()
    expect(mine.get_by_text("Nothing was stored in it.")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "link", "words"),
    [("memories/{0}", "History", ".text"), ("memories", "Raw body", ".excerpt")],
    ids=["a memory", "the list"],
)
def test_the_focus_and_marked_words_stay_when_something_else_changes(
    look: Look, store: Store, opened: Opened, path: str, link: str, words: str
) -> None:
    memory_id = stored(store, "Raw body", "The webhook needs it.")
    page = look()
    at(page, f"/{path.format(memory_id)}")
    nothing_new(page)
    page.get_by_role("link", name=link).focus()
    page.evaluate("(words) => getSelection().selectAllChildren(document.querySelector(words))", words)

    with page.expect_response(lambda answer: "/memories" in answer.url):
        started(opened, ONE)
    nothing_new(page)

    expect(page.get_by_role("link", name=link)).to_be_focused()
    assert page.evaluate("String(getSelection()).trim()") == "The webhook needs it."


def test_the_focus_goes_on_in_a_list_that_gets_longer(look: Look, store: Store) -> None:
    stored(store, "Raw body", "The webhook needs it.")
    page = look()
    at(page, "/memories")
    page.get_by_role("link", name="Raw body").focus()

    stored(store, "Map tiles", "They are kept for a day.")

    expect(page.locator("#found h2")).to_have_count(2)
    expect(page.get_by_role("link", name="Raw body")).to_be_focused()


def test_while_nothing_happens_the_page_asks_for_nothing_but_the_mark(look: Look, opened: Opened) -> None:
    started(opened, ONE)
    page = look()
    nothing_new(page)  # what the page itself took in is shown
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("?")[0][-5:]))

    for _ in range(4):
        nothing_new(page)

    assert set(asked) == {"/live"}


def test_a_page_says_that_the_viewer_has_ended(
    context: BrowserContext, viewing: Callable[..., Viewing], open_here: Open
) -> None:
    running = viewing(open_here())
    page = context.new_page()
    page.goto(running.link)
    running.end()
    expect(page.get_by_text("The viewer has ended.")).to_be_visible()


@pytest.mark.parametrize("failure", ["no answer", "an error"])
def test_a_page_goes_on_looking_when_one_look_fails(
    look: Look, opened: Opened, memory_dir: Path, project: Path, failure: str
) -> None:
    started(opened, ONE)
    page = look()
    failed: list[str] = []

    def fail(look: Route) -> None:
        failed.append(failure)
        look.fulfill(status=500) if failure == "an error" else look.abort()

    page.route("**/live?*", fail, times=1)
    nothing_new(page)
    assert failed

    titled(memory_dir, project, ONE, "Timeouts of the gateway")

    expect(page.get_by_text("Timeouts of the gateway")).to_be_visible()
    expect(page.locator("#message")).to_be_empty()
