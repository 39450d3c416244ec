"""Every page of the viewer can be used on a phone, by the keyboard alone and by those who hear it."""

import re
from http import HTTPStatus

import pytest
from playwright.sync_api import Page, expect
from starlette.routing import Route
from starlette.testclient import TestClient

from mcp_server.actions.files.read import find
from mcp_server.actions.judge.candidate import SEEN_SELDOM, propose
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind
from mcp_server.doors.viewer.application import application
from mcp_server.doors.viewer.page import Viewer
from mcp_server.store import Store
from tests.conftest import Clock, Open
from tests.memories import stored
from tests.viewer.conftest import Look, at, findings
from tests.viewer.shop import furnished

LONG = "a_word_that_nobody_would_break_" * 6
EMPTY = ("/", "/memories", "/memories?status=trash", "/memories?q=nothing")
EMPTY += ("/graph", "/shown", "/insight", "/changes", "/changes/forget", "/nowhere", "/memories/nowhere")
FULL = (
    *EMPTY[:-2],
    "/memories?q=webhook",
    "/memories-new",
    "/changes/undo",
    "/changes/forget?session={session}",
)
OF_ONE = tuple(f"/memories/{{long}}{tail}" for tail in ("", "/edit", "/links", "/history"))
OF_ONE += ("/memories/{long}/history?one=1&two=now&beside=yes", "/memories/{talk}", "/memories/{gone}")
CHANGES = re.compile("^(Edit|New memory|Undo|Forget|Restore)")
READING = {
    "/changes": ["Show"],
    "/changes/forget": ["Look at it"],
    "/graph": ["+", "−", "Whole picture"],
    "/memories/{long}/history": ["Compare"],
    "/memories/{long}/history?one=1&two=now&beside=yes": ["Compare"],
}
"""What a viewer for looking offers on its pages beside links."""
COMES_LATER = re.compile("^(Loading|Comparing) …$")
PHONE = {"width": 360, "height": 740}
TOO_WIDE = """() => {
    const most = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= most) {
        return "";
    }
    const wide = [...document.querySelectorAll("main *")].filter(
        (each) => each.getBoundingClientRect().right > most && !each.closest(".wide, svg, pre"));
    return wide.map((each) => each.outerHTML.slice(0, 80)).slice(0, 5).join(" | ") || "something";
}"""
HEBREW = "כותרת"
RUNNING_ON = """(word) => {
    const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const wrong = [];
    while (texts.nextNode()) {
        const { data, parentElement } = texts.currentNode;
        if (data.includes(word) && !parentElement.closest("bdi, [dir=auto], svg, option, textarea, pre")) {
            wrong.push(parentElement.outerHTML.slice(0, 120));
        }
    }
    return wrong;
}"""
UNREACHED = """() => {
    const seen = new Set(window.reached);
    const all = "a[href], button:enabled, input:not([type=hidden]), select, textarea, summary";
    return [...document.querySelectorAll(all)]
        .filter((each) => each.checkVisibility() && !seen.has(each) && each.type !== "radio")
        .map((each) => each.outerHTML.slice(0, 120));
}"""
FOCUSED = """() => {
    const on = document.activeElement;
    window.same = on === window.reached.at(-1) ? window.same + 1 : 0; // a date has parts
    const known = window.reached.includes(on) && (window.same === 0 || window.same > 8);
    const again = known || on === document.body; // behind the last
    window.reached.push(on);
    const { outlineStyle, outlineWidth } = getComputedStyle(on);
    const marked = outlineStyle !== "none" && outlineWidth !== "0px";
    const drawn = on.closest("svg") !== null;
    return [again, marked || drawn ? "" : on.outerHTML.slice(0, 120)];
}"""


@pytest.fixture
def empty(look: Look, open_here: Open) -> Page:
    return look(open_here())


@pytest.fixture
def names(store: Store, clock: Clock) -> dict[str, str]:
    """Where addresses lead to in a shop's memory, with what is long, what is in the trash, and what waits."""
    furnished(store, clock)
    text = f"{LONG}\n\n```\n{LONG}\n```\n\n| a | {LONG} |\n|---|---|\n| {LONG} | b |\n\nhttps://example.org/{LONG}"
    long = stored(store, f"Title {LONG}", "Short at first.", tags=(LONG[:60],), touches=(f"src/{LONG}.py:1",))
    revise(store, long, Revision(text=text))
    gone = stored(store, f"Gone {LONG}", text)
    for memory_id in (gone, stored(store, f"Gone too {LONG}", text)):
        forget(store, memory_id)
    talk = stored(store, f"Talk {LONG}", f"**You:** {text}", kind=Kind.CONVERSATION)
    propose(store, Draft(f"Candidate {LONG}", text), key=16 * "a", confidence=0.9, why=SEEN_SELDOM)
    return {"long": long, "talk": talk, "gone": gone, "session": "000000a1-5e55-4000-8000-000000000000"}


@pytest.fixture
def full(look: Look, opened: Opened, names: dict[str, str]) -> Page:
    return look(opened)


def settled(page: Page) -> None:
    """Wait until what a page asks for by itself is there, and open all that opens."""
    expect(page.get_by_text(COMES_LATER).filter(visible=True)).to_have_count(0)
    for summary in page.locator("summary:visible").all():
        if summary.locator("xpath=..").get_attribute("open") is None:
            summary.click()
    expect(page.get_by_text(COMES_LATER).filter(visible=True)).to_have_count(0)
    expect(page.locator(".htmx-request")).to_have_count(0)


def check(page: Page) -> list[str]:
    """Return what is wrong with the page on a phone and for those who hear it."""
    page.set_viewport_size(PHONE)
    settled(page)
    wide = page.evaluate(TOO_WIDE)
    return [*([f"too wide: {wide}"] if wide else []), *findings(page)]


def test_without_a_memory_each_page_says_so_and_fits(empty: Page) -> None:
    wrong = {}
    for path in EMPTY:
        at(empty, path)
        expect(empty.locator("main")).not_to_have_text("")
        wrong[path] = check(empty)
    assert {path: findings_of_page for path, findings_of_page in wrong.items() if findings_of_page} == {}


def test_each_page_fits_a_phone_and_is_heard(full: Page, names: dict[str, str]) -> None:
    wrong = {}
    for path in (*FULL, *OF_ONE):
        at(full, path.format(**names))
        wrong[path] = check(full)
    assert {path: findings_of_page for path, findings_of_page in wrong.items() if findings_of_page} == {}


def test_words_from_right_to_left_turn_nothing_round_beside_them(
    look: Look, opened: Opened, store: Store, clock: Clock
) -> None:
    furnished(store, clock)
    title = f"{HEBREW} (5432)"
    memory_id = stored(store, title, HEBREW, tags=("billing",), use_when=(f"{HEBREW} (1)",))
    other = stored(store, f"{title} 2", f"{HEBREW} 2 [[{memory_id}]]")
    gone = stored(store, f"{title} 3", f"{HEBREW} 3")
    forget(store, gone)
    propose(store, Draft(f"{title} 4", f"{HEBREW} 4"), key=16 * "a", confidence=0.9, why=SEEN_SELDOM)
    session = "000000a1-5e55-4000-8000-000000000000"
    for event, more in (("injected", {"prompt": title, "tokens": [9]}), ("remembered", {"refs": []})):
        refs = more.pop("refs", [find(store, memory_id).ref])
        store.ledger.append(event, clock.now, session=session, refs=refs, **more)
    store.ledger.append("session_titled", clock.now, session=session, topic=title, digests=[])
    page, wrong = look(opened), {}
    for path in (*FULL, *(f"/memories/{one}" for one in (memory_id, other, gone)), *OF_ONE[1:5]):
        at(page, path.format(long=memory_id, session=session))
        settled(page)
        wrong[path] = page.evaluate(RUNNING_ON, HEBREW)
    assert {path: elements for path, elements in wrong.items() if elements} == {}


def test_with_tab_alone_all_is_reached_and_seen_to_be(full: Page, names: dict[str, str]) -> None:
    page, wrong = full, {}
    for path in (*FULL, *OF_ONE):
        at(page, path.format(**names))
        expect(page.get_by_text(COMES_LATER).filter(visible=True)).to_have_count(0)
        page.evaluate("window.reached = [document.querySelector('.skip')]; window.reached[0].focus()")
        unmarked = []
        while True:
            page.keyboard.press("Tab")
            again, unmarked_element = page.evaluate(FOCUSED)
            if again:
                break
            unmarked += [unmarked_element] if unmarked_element else []
        wrong[path] = [*unmarked, *page.evaluate(UNREACHED)]
    assert {path: elements for path, elements in wrong.items() if elements} == {}


def test_for_looking_only_no_page_offers_a_change(look: Look, opened: Opened, names: dict[str, str]) -> None:
    page = look(opened, read_only=True)
    offered, refused = {}, []
    for path in (*FULL, *OF_ONE):
        at(page, path.format(**names))
        settled(page)
        main = page.locator("main")
        acts = main.get_by_role("link", name=CHANGES).or_(main.locator("button, [type=checkbox]"))
        offered[path] = [*acts.all_inner_texts(), *main.locator("[method=post], [hx-post]").all_inner_texts()]
        refused += [path] if main.get_by_role("alert", name="").filter(has_text="read-only").count() else []
    assert {path: words for path, words in offered.items() if words} == READING
    assert refused == ["/memories-new", "/memories/{long}/edit"]


def test_an_address_that_is_none_is_said_on_a_page(empty: Page) -> None:
    for path, sentence in (
        ("/waiting/settled", "takes what a form sends"),
        ("/nowhere", "There is no such page."),
    ):
        at(empty, path)
        expect(empty.get_by_role("alert")).to_contain_text(sentence)
        expect(empty.get_by_role("navigation", name="Pages")).to_be_visible()


def test_an_error_of_ours_is_said_on_a_page(open_here: Open) -> None:
    pages = application(Viewer(open_here(), "/base", read_only=False))
    pages.router.routes.insert(0, Route("/broken", lambda _: 1 // 0))
    answer = TestClient(pages, raise_server_exceptions=False).get("/broken")
    assert answer.status_code == HTTPStatus.INTERNAL_SERVER_ERROR
    assert "Daybook failed here: ZeroDivisionError." in answer.text
    assert 'aria-label="Pages"' in answer.text
