"""What waits is settled on the page by one key or a button, and taken back there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, BrowserContext, Locator, Page, Route, expect

from mcp_server.actions.review.entries import Verdict
from mcp_server.actions.review.review import AGED, QUESTION, review
from mcp_server.core.authors import CLAUDE
from mcp_server.store import Store
from tests.actions.test_answers import remembered
from tests.actions.test_settling_undone import WAYS, Place, entry_of, state
from tests.conftest import Clock
from tests.durability.served import eventually
from tests.opened import run_daybook
from tests.viewer.conftest import Look, serious_findings

pytestmark = pytest.mark.usefixtures("steady_use")

EACH = {(kind, word): prepare for kind, word, prepare in reversed(WAYS)}
EACH[AGED, Verdict.ACCEPT] = EACH[AGED, Verdict.REJECT]
SAID = {
    "Uploads": "The gateway ends large uploads after {} seconds.",
    "Invoices": "Invoices are numbered per {} years in ledgers.",
    "Backups": "Backups of databases are kept for {} weeks.",
}
LETTERS = {Verdict.KEEP_BOTH: "b"}


def entries(page: Page) -> Locator:
    return page.locator(".entry:not(.settled)")


def questions(store: Store, clock: Clock, *titles: str) -> None:
    """Store, for each of these titles, two memories of which only one may hold."""
    for title in titles or SAID:
        remembered(store, SAID[title].format(30), title=title)
        clock.pass_days(1)
        remembered(store, SAID[title].format(60), title=title)


def press(page: Page, entry: Locator, word: Verdict) -> None:
    expect(entry).to_be_visible()
    page.keyboard.press("j")
    expect(entry).to_be_focused()
    page.keyboard.press(LETTERS.get(word, word.value[0]))
    if word is Verdict.MERGE:
        expect(entry.get_by_text("This would replace both:")).to_be_visible()
        assert serious_findings(page) == []
        page.keyboard.press("m")


def click(page: Page, entry: Locator, word: Verdict) -> None:
    label = word.value.replace("-", " ").capitalize()
    entry.locator(".answers").get_by_role("button", name=label).click()
    if word is Verdict.MERGE:
        page.get_by_role("button", name="Save this text").click()


@pytest.mark.parametrize(
    ("kind", "word", "give"),
    [
        *((kind, word, press) for kind, word in EACH),
        *((kind, word, click) for kind, word in dict(EACH.keys()).items()),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_each_word_settles_its_kind_and_is_taken_back(
    look: Look,
    store: Store,
    clock: Clock,
    project: Path,
    kind: str,
    word: Verdict,
    give: Callable[[Page, Locator, Verdict], None],
) -> None:
    claudes = store._replace(by=lambda: CLAUDE)
    EACH[kind, word](Place(claudes, clock, project))
    entry = entry_of(store, kind)
    ids = () if kind == AGED else entry.ids
    before = state(store, ids)
    page = look()

    give(page, page.locator(f'.entry[aria-label^="{kind}:"]'), word)

    settled = page.locator(".entry.settled")
    expect(settled).to_be_visible()
    assert kind not in review(store).counts
    assert state(store, ids) != before
    if give is press:
        page.keyboard.press("u")
    else:
        settled.get_by_role("button", name="Undo it").click()
    expect(page.get_by_role("status").filter(has_text="Taken back")).to_be_visible()
    if (kind, word) != (AGED, Verdict.ACCEPT):  # what came back was wanted, so it ages no more
        assert state(store, ids) == before


@pytest.mark.parametrize("give", [press, click])
def test_an_entry_that_has_just_come_onto_the_page_is_settled_there(
    look: Look, store: Store, clock: Clock, give: Callable[[Page, Locator, Verdict], None]
) -> None:
    questions(store, clock, "Uploads")
    page = look()
    address = page.url
    expect(entries(page)).to_have_count(1)

    fresh = "const entry = document.querySelector('.entry'); entry.replaceWith(entry.cloneNode(true));"
    page.evaluate(fresh)  # a copy has none of the listeners: htmx has not seen it
    give(page, entries(page), Verdict.KEEP_BOTH)

    expect(page.locator(".entry.settled")).to_be_visible()
    assert page.url == address
    assert not review(store).counts


def test_a_list_that_was_asked_for_before_an_answer_takes_no_card_away(
    look: Look, store: Store, clock: Clock
) -> None:
    questions(store, clock, "Uploads")
    page = look()
    expect(entries(page)).to_have_count(1)
    before: list[tuple[Route, APIResponse]] = []
    page.route("**/waiting?*", lambda route: before.append((route, route.fetch())), times=1)
    page.evaluate("htmx.trigger(document.body, 'changed')")
    eventually(lambda: page.evaluate("1") and before != [], "the list is asked for")

    click(page, entries(page), Verdict.KEEP_BOTH)
    expect(page.locator(".entry.settled")).to_contain_text("both are kept")
    page.evaluate(
        "document.addEventListener('htmx:afterOnLoad', (event) => {"
        " if (event.target.id === 'waiting') document.body.dataset.loaded = 'yes' })"
    )
    for route, answer in before:
        route.fulfill(response=answer)

    expect(page.locator("body[data-loaded]")).to_have_count(1)
    expect(page.locator(".entry.settled").get_by_role("button", name="Undo it")).to_be_visible()


def test_the_focus_goes_to_the_next_entry_and_j_and_k_move(look: Look, store: Store, clock: Clock) -> None:
    questions(store, clock)
    page = look()
    expect(entries(page)).to_have_count(3)
    first, second, third = (entries(page).nth(number).get_attribute("id") for number in range(3))

    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(f"[id='{second}']")).to_be_focused()
    page.keyboard.press("b")

    expect(page.locator(f"[id='{second}'].settled")).to_be_visible()
    expect(page.locator(f"[id='{third}']")).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(f"[id='{first}']")).to_be_focused()


def test_what_changed_after_it_was_shown_is_not_settled(
    look: Look, store: Store, clock: Clock, context: BrowserContext
) -> None:
    questions(store, clock, "Uploads")
    entry = entry_of(store, QUESTION)
    context.route("**/live?*", lambda route: route.fulfill(status=204))  # else it is soon shown as it is now
    page = look()
    expect(entries(page)).to_have_count(1)
    file = Path(entry.path)
    file.write_text(file.read_text(encoding="utf-8") + "Since Monday.\n", encoding="utf-8")

    page.keyboard.press("j")
    page.keyboard.press("r")

    expect(page.get_by_text("not settled: its file changed after it was shown")).to_be_visible()
    context.unroute("**/live?*")
    expect(entries(page).get_by_text("Since Monday.").first).to_be_visible()
    assert review(store).counts == {QUESTION: 1}


def test_what_a_terminal_stores_is_asked_about_and_the_focus_stays(
    look: Look, store: Store, clock: Clock, memory_dir: Path, project: Path
) -> None:
    questions(store, clock, "Uploads", "Invoices")
    page = look()
    expect(entries(page)).to_have_count(2)
    page.keyboard.press("j")
    focused = page.locator(f"[id='{entries(page).first.get_attribute('id')}']")
    words = ["remember", "Backups of databases are kept for 30 weeks."]

    assert run_daybook(memory_dir, *words, cwd=project).returncode == 0
    words[1] = words[1].replace("30", "60")
    assert run_daybook(memory_dir, *words, cwd=project).returncode == 0

    expect(entries(page).filter(has_text="60 weeks")).to_be_visible()
    expect(focused).to_be_focused()


def test_nothing_waits_in_a_new_store(look: Look) -> None:
    page = look()
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    expect(page.get_by_text("No session is known here.")).to_be_visible()
