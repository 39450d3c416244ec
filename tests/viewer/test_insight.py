"""The page of figures says what the store was given, as plots and as tables."""

import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.viewer.conftest import Look, go

COLOURS = """canvas => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const found = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] === 255) found.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
  }
  return [...found];
}"""


def note(opened: Opened, event: str, *, back: int, **data: Any) -> None:
    opened.store().ledger.append(event, opened.clock() - timedelta(days=back), **data)


@pytest.fixture
def used(opened: Opened, store: Store) -> Opened:
    """A store of two memories that was used on three days."""
    memories = [
        remember(store, Draft(title, f"{title} holds.", type=type)).memory
        for title, type in (("Webhooks", "gotcha"), ("Lifts", "decision"))
    ]
    vault = store.vaults[-1].key
    webhooks, lifts = (f"{vault}/{memory.id}" for memory in memories)
    note(opened, "session_started", back=2, session="a", vault=vault)
    note(opened, "session_started", back=1, session="b", vault=vault)
    note(
        opened,
        "injected",
        back=2,
        why="session start",
        refs=[webhooks, lifts],
        digests=["", ""],
        tokens=[1200, 50],
        session="a",
    )
    note(opened, "injected", back=1, refs=[webhooks], digests=[""], tokens=[300], prompt="p", session="b")
    note(opened, "recalled", back=1, refs=[lifts], confident=[lifts], tokens=[70], query="q", session="b")
    note(opened, "injected", back=20, refs=[webhooks], digests=[""], tokens=[4000], prompt="p", session="z")
    note(opened, "used", back=0, refs=[webhooks], session="b")
    note(opened, "reserved", back=1, call="one", item="x", usd=9.0)
    note(opened, "spent", back=1, call="one", usd=0.25, outcome="ok", input=10, output=1)
    note(opened, "judged", back=1, candidates=["x"], verdict="rejected")
    note(opened, "judged", back=1, candidates=["y"], verdict="approved")
    sync(store)
    return opened


def cells(table: Locator) -> list[list[str]]:
    rows = table.locator("tbody tr").all()
    return [[cell.strip() for cell in row.locator("th, td:not(.bars)").all_inner_texts()] for row in rows]


def figure(page: Page, title: str) -> Locator:
    return page.get_by_role("figure").filter(has=page.get_by_role("heading", name=title)).locator("details")


def test_the_numbers_on_the_page_are_those_of_the_events(used: Opened, look: Look) -> None:
    page = look(used, read_only=True)
    go(page, "Insight")
    page.get_by_role("combobox", name="Days").select_option("7")
    expect(page.locator("#shown")).to_have_text("1,620")

    assert page.locator("#memories").inner_text() == "2"
    assert page.locator("#sessions").inner_text() == "2"
    assert page.locator("#used").inner_text() == "50 %"
    assert page.locator("#spent").inner_text() == "$0.25"
    for summary in page.locator("summary").all():
        summary.click()
    shown_on, yesterday = "2026-11-18", "2026-11-19"
    tokens_figure = figure(page, "Tokens shown to Claude")
    assert cells(tokens_figure) == [[yesterday, "0", "300", "70"], [shown_on, "1,250", "0", "0"]]
    assert cells(figure(page, "Share of it that was used")) == [[yesterday, "2", "1"]]
    assert cells(figure(page, "Sessions that began")) == [[yesterday, "1"], [shown_on, "1"]]
    assert cells(figure(page, "Cost of model calls")) == [[yesterday, "0.2500", "1", "0"]]
    assert [row[1:] for row in cells(page.locator("#rates"))] == [
        ["1", "2", "50 %"],
        ["0", "2", "0 %"],
        ["0", "2", "0 %"],
    ]
    assert cells(page.locator("#types")) == [["decision", "1"], ["gotcha", "1"]]
    assert cells(page.locator("#ages"))[0] == ["under 7 days", "2"]
    assert cells(page.locator("#folders"))[0][:2] == ["knowledge", "2"]

    page.get_by_role("combobox", name="Days").select_option("30")
    expect(page.locator("#shown")).to_have_text("5,620")
    expect(page).to_have_url(re.compile("days=30"))


def test_plots_are_drawn_in_the_colours_of_light_and_of_dark(used: Opened, look: Look) -> None:
    page = look(used)
    page.emulate_media(color_scheme="light")
    go(page, "Insight")
    drawn = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("canvas")).to_have_count(4)
        page.evaluate("new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(end)))")
        drawn[scheme] = [set(canvas.evaluate(COLOURS)) for canvas in page.locator("canvas").all()]

    accent = {"light": "31,86,136", "dark": "143,193,238"}
    for scheme, plots in drawn.items():
        assert all(accent[scheme] in colours for colours in plots)

    page.get_by_role("combobox", name="Days").select_option("365")
    expect(page).to_have_url(re.compile("days=365"))
    expect(page.locator("canvas")).to_have_count(4)


def test_a_project_shows_its_own_figures_and_all_show_all(used: Opened, look: Look, elsewhere: Any) -> None:
    remember(elsewhere, Draft("Coffee", "The machine is on floor two.", type="reference"))
    page = look(used)
    go(page, "Insight")
    page.get_by_role("combobox", name="Project").select_option("all projects")
    expect(page.locator("#memories")).to_have_text("3")
    page.get_by_role("combobox", name="Project").select_option("office")
    expect(page.locator("#memories")).to_have_text("1")
    expect(page.get_by_text("Claude was shown nothing in these days.")).to_be_visible()
    expect(page.locator("canvas")).to_have_count(1)  # the cost of all projects


def test_an_empty_store_says_what_is_missing(look: Look) -> None:
    page = look(read_only=True)
    go(page, "Insight")

    expect(page.locator("figure .empty")).to_have_count(4)
    expect(page.get_by_text("There are no memories yet.")).to_be_visible()


def test_looking_is_noted_nowhere(used: Opened, look: Look) -> None:
    before = [path.read_bytes() for path in used.store().ledger.paths()]
    page = look(used)
    go(page, "Insight")
    expect(page.locator("canvas")).to_have_count(4)

    assert [path.read_bytes() for path in used.store().ledger.paths()] == before
