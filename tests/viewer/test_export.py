"""`daybook view --export`: the pages as one file, for looking at only."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.related import at_level
from mcp_server.core.memory_parts import Level
from mcp_server.doors.viewer.export import FIRST, leads_to
from mcp_server.store import Store
from tests.memories import stored
from tests.opened import run_daybook

HOSTILE = (
    '<script>document.title = "ran"</script> ![x](http://127.0.0.1:1/x.png) [click](javascript:alert(1)) {0}'
)


@pytest.fixture
def ids(store: Store) -> list[str]:
    """More memories than one page of the list has; the last is hostile, and leads to the first."""
    ids = [
        stored(store, f"Fact {number} of the shop", f"The shop's value {number} is kept.")
        for number in range(30)
    ]
    for level, title in ((Level.PROJECT, "Nearer"), (Level.USER, "Farther")):
        stored(at_level(store, level), title, f"It is {title.lower()}.", id="same", level=level)
    ids.append(stored(store, "A <b>hostile</b> memory", f"{HOSTILE}\n\nSee [[{ids[0]}]]."))
    link(store, ids[1], ids[2], rel="depends-on")
    return ids


@pytest.fixture
def file(ids: list[str], memory_dir: Path, project: Path, tmp_path: Path) -> Path:
    path = tmp_path / "memory.html"
    process = run_daybook(memory_dir, "view", "--export", str(path), cwd=project)
    assert process.returncode == 0, process.stderr
    return path


@pytest.fixture
def exported(chromium: Browser, file: Path) -> Iterator[Page]:
    requests: list[str] = []
    context = chromium.new_context()
    context.on("request", lambda request: requests.append(request.url))
    page = context.new_page()
    page.on("pageerror", lambda error: requests.append(str(error)))
    page.on("console", lambda line: requests.append(line.text) if line.type == "error" else None)
    page.goto(file.as_uri())
    yield page
    context.close()
    assert {url.partition("#")[0] for url in requests} == {file.as_uri()}


def test_every_page_is_in_the_file(exported: Page) -> None:
    for label in ("Today", "Memories", "Graph", "What Claude is shown", "Insight", "Changes"):
        exported.get_by_role("navigation", name="Pages").get_by_role("link", name=label).click()
        expect(exported.get_by_role("heading", level=1)).to_be_visible()


def test_the_list_is_paged_and_leads_to_each_memory(exported: Page) -> None:
    exported.get_by_role("link", name="Memories").click()
    exported.get_by_role("link", name="Older").click()
    title = exported.get_by_role("link", name="of the shop").last.inner_text()
    exported.get_by_role("link", name=title, exact=True).click()

    expect(exported.get_by_role("heading", name=title, exact=True)).to_be_visible()


def test_words_are_found_in_all_memories(exported: Page) -> None:
    exported.get_by_role("link", name="Memories").click()
    exported.get_by_label("Find words in the memories").fill("VALUE 17")
    exported.get_by_role("link", name="Fact 17 of the shop").click()

    expect(exported.get_by_role("heading", name="Fact 17 of the shop")).to_be_visible()


def test_with_one_id_at_both_levels_each_is_in_the_file(exported: Page) -> None:
    for title in ("Nearer", "Farther"):
        exported.get_by_role("link", name="Memories").click()
        exported.get_by_label("Find words in the memories").fill(f"it is {title}")
        exported.get_by_role("link", name=title, exact=True).click()
        expect(exported.get_by_role("heading", name=title, exact=True)).to_be_visible()


def test_back_from_an_address_that_is_not_in_the_file_the_page_is_there(exported: Page) -> None:
    exported.get_by_role("link", name="Memories").click()
    exported.evaluate("location.hash = '#/nowhere'")
    expect(exported.get_by_text("This page is not in the file.")).to_be_visible()

    exported.go_back()

    expect(exported.get_by_role("heading", name="Memories", exact=True)).to_be_visible()


def test_nothing_in_it_can_change_or_run_anything(exported: Page, ids: list[str]) -> None:
    exported.goto(f"{exported.url.partition('#')[0]}#/memories/{ids[-1]}")
    expect(exported.get_by_role("heading", name="A <b>hostile</b> memory")).to_be_visible()

    assert exported.title() != "ran"
    assert exported.locator("main img, main script, main [href^=javascript]").count() == 0
    exported.get_by_role("link", name=re.compile("Fact 0|fact-0")).first.click()
    expect(exported.get_by_role("heading", name="Fact 0 of the shop")).to_be_visible()


def test_the_file_is_the_persons_and_a_second_export_is_the_same(
    file: Path, memory_dir: Path, project: Path
) -> None:
    as_of = re.compile(r"as of [^<]+")
    before = as_of.sub("", file.read_text(encoding="utf-8"))
    run_daybook(memory_dir, "view", "--export", str(file), cwd=project)

    assert as_of.sub("", file.read_text(encoding="utf-8")) == before


def test_a_folder_that_is_not_there_is_named(ids: list[str], memory_dir: Path, tmp_path: Path) -> None:
    refused = run_daybook(memory_dir, "view", "--export", str(tmp_path / "nowhere" / "memory.html"))

    assert refused.returncode != 0
    assert "nowhere" in refused.stderr


def test_it_leads_to_pages_for_looking_alone() -> None:
    assert all(map(leads_to, FIRST))
    assert leads_to("/memories/a-fact-k3f9?project=shop-1")
    assert leads_to("/memories?offset=25")
    for address in ("/memories-new", "/memories/a-fact-k3f9/edit", "/memories?q=words", "/static/style.css"):
        assert not leads_to(address)
