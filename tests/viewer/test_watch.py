"""What an editor saves while no session runs shows on open pages, and nothing goes on watching after them."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from mcp_server.actions.files.read import read
from mcp_server.bootstrap import Opened
from mcp_server.doors.viewer import serve
from mcp_server.doors.viewer.serve import Following
from mcp_server.store import Store
from tests.conftest import Open
from tests.memories import stored
from tests.patience import PATIENCE
from tests.viewer.conftest import Look, Viewing, at


def saved(path: Path, old: str, new: str) -> None:
    """Save a file as many editors do: beside it, then over it."""
    beside = path.with_name(f".{path.name}.tmp-1234")
    text = path.read_text(encoding="utf-8")
    assert old in text
    beside.write_text(text.replace(old, new), encoding="utf-8")
    beside.replace(path)


def watching() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == serve.NAME]


@pytest.fixture
def path(store: Store) -> Path:
    return read(store, stored(store, "Birds", "It is a heron.")).path


def test_an_editors_saves_show_on_the_list_and_on_the_memorys_page(
    context: BrowserContext, viewing: Callable[..., Viewing], open_here: Open, path: Path
) -> None:
    running = viewing(open_here())
    listed, memory = context.new_page(), context.new_page()
    listed.goto(running.link)
    memory.goto(listed.url)
    at(listed, "/memories")
    at(memory, f"/memories/{path.stem}")
    before = "heron"
    for now in ("falcon", "dipper", "grebe"):  # the first may have been seen before anybody watched
        saved(path, before, now)
        expect(listed.get_by_text(f"It is a {now}.")).to_be_visible()
        expect(memory.locator(".text")).to_have_text(f"It is a {now}.")
        before = now

    path.with_name("by-hand.md").write_text("# Written by hand\n\nIn an editor.\n", encoding="utf-8")
    expect(listed.get_by_role("link", name="Written by hand")).to_be_visible()
    path.unlink()
    expect(listed.get_by_role("link", name="Birds")).to_have_count(0)


def test_nothing_watches_before_the_first_page_and_after_the_end(
    context: BrowserContext, viewing: Callable[..., Viewing], open_here: Open
) -> None:
    handles = Path("/proc/self/fd")

    def inotify() -> int:
        return sum("inotify" in os.readlink(handle) for handle in handles.iterdir() if handle.is_symlink())

    before = inotify() if handles.is_dir() else 0
    running = viewing(open_here())
    assert watching() == []
    page = context.new_page()
    page.goto(running.link)
    with page.expect_response("**/live?*"):
        pass
    (thread,) = watching()

    running.end()

    thread.join(PATIENCE)
    assert watching() == []
    assert not handles.is_dir() or inotify() == before


def test_it_ends_when_nobody_looks_any_more_and_begins_again(opened: Opened, path: Path) -> None:
    follows = Following(opened, lasts=0)
    for _ in range(2):
        follows.look()
        (thread,) = watching()
        thread.join(PATIENCE)
        assert not thread.is_alive()
    follows.end()
    follows.look()
    assert watching() == []


def test_looking_alone_notes_nothing(look: Look, store: Store, path: Path) -> None:
    ledger = store.ledger
    before = [path.read_bytes() for path in ledger.paths()]
    page = look()
    with page.expect_response(lambda answer: answer.status == 204):
        pass
    for _ in range(3):
        with page.expect_response("**/live?*"):
            pass
    assert [path.read_bytes() for path in ledger.paths()] == before
