"""What happens in a terminal shows on open pages by itself; nothing that the person does there is lost."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, expect

from mcp_server.actions.capture.note import note_session
from mcp_server.bootstrap import Opened
from mcp_server.store import Store
from tests.conftest import Open
from tests.opened import run_daybook
from tests.viewer.conftest import Look, Viewing

ONE, OTHER = "8d7cabcd-1111-2222-3333-444455556666", "9e8dbcde-9999-8888-7777-666655554444"


def started(opened: Opened, session: str) -> Store:
    store = opened.store()
    note_session(store.in_session(session), folder=str(opened.folder))
    return store


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


def test_while_nothing_happens_the_page_asks_for_nothing_but_the_mark(look: Look, opened: Opened) -> None:
    started(opened, ONE)
    page = look()
    with page.expect_response(lambda answer: answer.status == 204):  # what the page itself took in is shown
        pass
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("?")[0][-5:]))

    for _ in range(4):
        with page.expect_response(lambda answer: answer.status == 204):
            pass

    assert set(asked) == {"/live"}


def test_a_page_says_that_the_viewer_has_ended(
    context: BrowserContext, viewing: Callable[..., Viewing], open_here: Open
) -> None:
    running = viewing(open_here())
    page = context.new_page()
    page.goto(running.link)
    running.end()
    expect(page.get_by_text("The viewer has ended.")).to_be_visible()
