"""Candidates are listed among the memories, those too that Today does not ask about, and settled there."""

from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from mcp_server.actions.judge.candidate import SEEN_SELDOM, propose, review_candidates
from mcp_server.actions.memory.list import list_memories
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.durability.served import eventually
from tests.viewer.conftest import Look, at, go

LISTED = "**/memories?*"  # the address of the list
WHY = "waits for you: it may hold from now on"


def proposed(store: Store, letter: str, text: str, why: str = WHY, **more: object) -> None:
    draft = Draft(text[:20], text, source="extracted", **more)  # type: ignore[arg-type]
    propose(store, draft, key=16 * letter, confidence=0.9, why=why)


def entries(page: Page) -> Locator:
    return page.locator("#found .entry:not(.settled)")


def texts_known(store: Store) -> list[str]:
    return [row.text for row in list_memories(store, Filter()).rows]


def test_a_candidate_is_accepted_by_a_key_and_taken_back(look: Look, store: Store) -> None:
    proposed(store, "a", "Use pnpm, not npm.")
    proposed(store, "b", "The port is 8081.", SEEN_SELDOM)
    page = look()
    expect(page.locator("#waiting .entry")).to_have_count(1)
    go(page, "Memories")
    page.get_by_role("combobox", name="Status").select_option("waiting, as a candidate")
    expect(entries(page)).to_have_count(2)
    expect(entries(page).filter(has_text="8081")).to_contain_text(SEEN_SELDOM)
    entries(page).filter(has_text="8081").focus()

    page.keyboard.press("a")

    settled = page.locator("#found .settled")
    expect(settled).to_contain_text("accepted")
    assert texts_known(store) == ["The port is 8081."]
    settled.get_by_role("button", name="Undo it").click()
    expect(entries(page)).to_have_count(2)
    assert texts_known(store) == []
    assert len(review_candidates(store)) == 2


def test_what_came_meanwhile_shows_and_what_was_settled_stays_to_be_taken_back(
    look: Look, store: Store
) -> None:
    proposed(store, "a", "Use pnpm, not npm.")
    page = look()
    at(page, "/memories?status=waiting")
    entries(page).get_by_role("button", name="Reject").click()
    expect(page.locator("#found .settled")).to_contain_text("rejected")

    proposed(store, "b", "The port is 8081.")
    store.ledger.append("mining_run", store.clock())  # as it comes with a session that was looked through

    expect(entries(page)).to_have_count(1)
    expect(page.locator("#found .settled").get_by_role("button", name="Undo it")).to_be_visible()


def test_a_list_that_was_asked_for_before_an_answer_takes_no_card_away(look: Look, store: Store) -> None:
    proposed(store, "a", "Use pnpm, not npm.")
    page = look()
    at(page, "/memories?status=waiting")
    before: list[tuple[Route, APIResponse]] = []
    page.route(LISTED, lambda route: before.append((route, route.fetch())), times=1)
    page.evaluate("htmx.trigger(document.body, 'changed')")
    page.evaluate(
        "document.addEventListener('htmx:afterOnLoad', () => { document.body.dataset.loaded = 'yes' })"
    )
    eventually(
        lambda: page.evaluate("1") and before != [], "the list is asked for"
    )  # evaluating takes the route

    entries(page).get_by_role("button", name="Accept").click()
    expect(page.locator("#found .settled")).to_contain_text("accepted")
    page.evaluate("delete document.body.dataset.loaded")
    for route, answer in before:
        route.fulfill(response=answer)

    expect(page.locator("body[data-loaded]")).to_have_count(1)
    expect(page.locator("#found .settled").get_by_role("button", name="Undo it")).to_be_visible()


def test_words_and_filters_hold_for_candidates(look: Look, store: Store) -> None:
    proposed(store, "a", "Use pnpm, not npm.", type="preference", level=Level.USER)
    proposed(store, "b", "The port is 8081.", type="decision")
    page = look()
    for query, count in (("q=PNPM", 1), ("type=decision", 1), ("level=user", 1), ("tag=x", 0), ("", 2)):
        at(page, f"/memories?status=waiting&{query}")
        expect(entries(page)).to_have_count(count)
    at(page, "/memories?status=waiting&q=nowhere")
    expect(page.get_by_text("No candidate fits.")).to_be_visible()


def test_without_candidates_the_list_says_so(look: Look) -> None:
    page = look()
    at(page, "/memories?status=waiting")
    expect(page.get_by_text("No candidate waits.")).to_be_visible()
