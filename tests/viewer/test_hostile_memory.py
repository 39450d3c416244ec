"""A memory that somebody hostile wrote: nothing of it runs, fetches or breaks the page, wherever shown."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from mcp_server.actions.capture.note import note_session
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.candidate import propose
from mcp_server.actions.memory.forget import forget
from mcp_server.adapters.vault import make_vault_folders
from mcp_server.core.memory import Draft
from mcp_server.doors.viewer.page import markdown
from mcp_server.store import Store
from tests.viewer.conftest import Look, at, go

MEMORY_ID = "hostile"
TITLE = '<img src=x onerror="window.ran=1"><b>bold</b> [[x]] "quoted\' \u202egnp.exe\u0007 &amp; ../../etc'
LONG = "w" * 5000
TEXT = """needle <script>window.ran = 1</script> <style>body {{ display: none }}</style>

<img src="{server}/html.png" onerror="window.ran = 1"> ![an image]({server}/image.png)

<iframe src="{server}/frame"></iframe> <svg onload="window.ran = 1"><script>window.ran = 1</script></svg>

[run](javascript:window.ran=1) [run](JaVaScRiPt&colon;window.ran=1) [data](data:text/html,<script>1</script>)
<javascript:window.ran=1> [ref] [a](<{server}/a" onmouseover="window.ran=1> "t") ![x]({server}/b.png "t")

[ref]: javascript:window.ran=1

<!-- a comment --> --> ]]> </main></article></div></body> {{{{ 7 * 7 }}}} {{% raw %}} `</code><b id="out">`

<a href="{server}/link" ping="{server}/ping" style="position:fixed;inset:0">over everything</a>
<form action="{server}/form"><button id="hx" hx-get="{server}/hx" hx-trigger="load">x</button></form>
<link rel="stylesheet" href="{server}/style.css"><base href="{server}/">
<meta http-equiv="refresh" content="0;{server}">

| a | b |
|---|---|
| <b>c</b> | {long} |

[[<img src=x onerror=window.ran=1>]] [[../changes|go]] \u202ereversed\u202c \u0008\u200b\u001b[31m {long}

the end
"""


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A server on this machine that must not be asked."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.fixture
def hostile(store: Store, server: socket.socket) -> Store:
    """A store with a memory whose file says all of that, as a repository may bring it."""
    vault = store.vaults[-1]
    make_vault_folders(vault)
    url = f"http://127.0.0.1:{server.getsockname()[1]}"
    text = TEXT.format(server=url, long=LONG)
    head = (
        f"id: {MEMORY_ID}\ntitle: '{TITLE.replace(chr(39), chr(39) * 2).replace(chr(7), '')}'\ntype: note\n"
        "tags: ['<b>tag</b>', '\u202etag']\nsource: '<i>manual</i>'\ntouches: ['<u>a.py</u>']\n"
        "notes: ['<script>window.ran=1</script>']\nsession: '<s>'\n"
        f"links:\n  - {{rel: '<b>rel', to: '<img src={url}/link.png>'}}\n"
    )
    vault.path_for(MEMORY_ID, next(iter(vault.kinds))).write_text(
        f"---\n{head}---\n{text}", encoding="utf-8", errors="surrogateescape"
    )
    return store


def is_whole(page: Page) -> None:
    """Assert that nothing ran and nothing of the page is broken, covered or wider than the window."""
    page.wait_for_load_state()  # with its style sheets
    assert page.evaluate("window.ran") is None
    page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth")
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    inside = (
        "#main :is(script, style, iframe, svg, img, object, base, meta, link, [style], [onerror], b, i, u)"
    )
    expect(page.locator(inside)).to_have_count(0)
    expect(page.locator("#out, #hx")).to_have_count(0)
    assert "\u202e" not in page.inner_text("body")
    assert "\u0007" not in page.inner_text("body")


@pytest.mark.parametrize("width", [1200, 360])
def test_nothing_of_it_runs_fetches_or_breaks_the_page(
    look: Look, hostile: Store, server: socket.socket, width: int
) -> None:
    page = look()
    page.set_viewport_size({"width": width, "height": 800})
    go(page, "Memories")
    heading = page.get_by_role("heading", level=2)
    expect(heading).to_contain_text('<img src=x onerror="window.ran=1"><b>bold</b> [[x]]')
    is_whole(page)

    page.get_by_label("Search", exact=True).fill("needle")
    expect(page.locator("#found mark").first).to_have_text("needle")
    is_whole(page)

    heading.get_by_role("link").click()
    expect(page.locator(".text")).to_contain_text("the end")
    expect(page.locator(".text")).to_contain_text("an image")
    is_whole(page)
    page.get_by_role("link", name="Memories", exact=True).click(trial=True)  # nothing lies over it
    hrefs = page.locator("#main a").evaluate_all("all => all.map(each => each.protocol)")
    assert set(hrefs) == {"http:"}
    with pytest.raises(BlockingIOError):
        server.accept()


def test_choosing_and_doing_something_with_it_shows_its_title_as_text(look: Look, hostile: Store) -> None:
    page = look()
    go(page, "Memories")
    page.get_by_label("all on this page").check()
    page.get_by_role("toolbar").get_by_role("button", name="Unpin").click()
    expect(page.get_by_role("dialog").get_by_role("listitem")).to_contain_text("<b>bold</b>")
    is_whole(page)


@pytest.mark.parametrize("width", [1200, 360])
def test_in_the_trash_and_as_a_candidate_it_is_as_harmless(
    look: Look, hostile: Store, server: socket.socket, width: int
) -> None:
    text = read(hostile, MEMORY_ID).memory.text
    propose(hostile, Draft(TITLE[:80], text, source="extracted"), key=16 * "a", confidence=0.9, why=TITLE)
    forget(hostile, MEMORY_ID)
    page = look()
    page.set_viewport_size({"width": width, "height": 800})
    at(page, "/memories?status=trash&q=needle")
    expect(page.locator("#found mark").first).to_have_text("needle")
    is_whole(page)
    page.locator("#found h2 a").click()
    expect(page.locator(".text")).to_contain_text("an image")
    is_whole(page)
    at(page, "/")
    expect(page.locator(".entry .text")).to_contain_text("an image")
    is_whole(page)
    with pytest.raises(BlockingIOError):
        server.accept()


@pytest.mark.parametrize("path", ["/", "/graph", "/graph/links", "/changes/forget"])
def test_no_title_has_characters_that_nobody_sees(
    look: Look, hostile: Store, project: Path, path: str
) -> None:
    session = hostile.in_session("8d7cabcd-1111-2222-3333-444455556666")
    note_session(session, folder=str(project))
    session.record("session_titled", session=session.session, topic=TITLE)  # as a ledger that was copied here
    page = look()
    at(page, path)

    expect(page.get_by_text("onerror").first).to_be_attached()
    assert not {"\u202e", "\u0007", "\u001b"} & set(page.content())


def test_the_form_has_the_very_characters_of_the_file(look: Look, hostile: Store) -> None:
    memory = read(hostile, MEMORY_ID).memory
    page = look()
    at(page, f"/memories/{MEMORY_ID}/edit")

    expect(page.get_by_label("Title")).to_have_value(memory.title)
    assert "\u202ereversed" in page.get_by_label("Text, in markdown").input_value()


def test_a_question_is_shown_as_text(look: Look, hostile: Store) -> None:
    page = look()
    page.goto(f"{page.url}memories?q=%3Cimg+src%3Dx+onerror%3Dwindow.ran%3D1%3E%22+needle+%E2%80%AE")
    expect(page.get_by_label("Search", exact=True)).to_have_value(
        '<img src=x onerror=window.ran=1>" needle \u202e'
    )
    expect(page.locator("#found mark").first).to_be_visible()
    assert page.evaluate("window.ran") is None


@pytest.mark.parametrize("deep", ["> ", "- ", "1. "])
def test_what_stands_too_deep_for_a_page_is_shown_as_it_is_written(deep: str) -> None:
    assert str(markdown(f"{deep * 300}<b>hidden</b>")).endswith("&lt;b&gt;hidden&lt;/b&gt;</pre>")
    assert "<pre>" not in markdown(f"{deep * 10}seen")
