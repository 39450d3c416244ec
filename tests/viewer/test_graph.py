"""The page of the graph: a picture that one moves in and chooses from, and the same links as a table."""

import re
from typing import Any

import pytest
from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from mcp_server.actions.graph.kg import put_edge
from mcp_server.actions.graph.picture import read_network
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.actions.graph.nodes import PROJECT, node
from tests.durability.served import eventually
from tests.opened import run_daybook
from tests.viewer.conftest import Look, go
from tests.viewer.linked import at_graph, fill

EVIL = "<img src=x onerror=alert(1)></title><script>alert(2)</script>"


@pytest.fixture
def small(store: Store) -> Store:
    """Four memories and a file: a uses b twice, b contradicts c, c leads to d and to the file."""
    for name in "abcd":
        node(store, name, f"Title of {name}")
    put_edge(store, PROJECT, "a", "b", "uses")
    put_edge(store, PROJECT, "a", "b", "refines")
    put_edge(store, PROJECT, "b", "c", "contradicts")
    put_edge(store, PROJECT, "c", "d", "uses")
    put_edge(store, PROJECT, "c", "src/a.ts", "explains")
    return store


def node_of(page: Page, title: str) -> Locator:
    return page.locator(".canvas a.node").filter(has=page.locator("title", has_text=title))


def shown_nodes(page: Page) -> Locator:
    return page.locator(".canvas .node")


def place(page: Page, before: str = "") -> str:
    """Return how the picture is moved and zoomed, once that is not as *before*."""
    world = page.locator(".canvas .world")
    expect(world).not_to_have_attribute("transform", before)
    return world.get_attribute("transform") or ""


def scale(place: str) -> float:
    return float(re.findall(r"scale\(([\d.e-]+)\)", place)[0])


@pytest.mark.parametrize(
    ("field", "choice", "titles"),
    [
        ("Link", "uses (2)", "abcd"),
        ("Link", "contradicts (1)", "bc"),
        ("Type", "file", "c"),
        ("Level", "project", "abcd"),
    ],
)
def test_links_are_chosen_in_the_fields(
    look: Look, small: Store, field: str, choice: str, titles: str
) -> None:
    page = look()
    at_graph(page)
    expect(shown_nodes(page)).to_have_count(5)

    page.get_by_role("combobox", name=field, exact=True).select_option(choice)

    expect(page).to_have_url(re.compile(r"\?.*="))
    files = 1 if field in ("Type", "Level") else 0
    expect(shown_nodes(page)).to_have_count(len(titles) + files)
    for title in titles:
        expect(node_of(page, f"Title of {title}")).to_have_count(1)
    page.reload()
    expect(shown_nodes(page)).to_have_count(len(titles) + files)
    page.go_back()
    expect(shown_nodes(page)).to_have_count(5)


def test_the_surroundings_of_a_memory_are_chosen_by_title_and_steps(look: Look, small: Store) -> None:
    page = look()
    at_graph(page)

    page.get_by_label("Around a memory").fill("title of a")
    page.get_by_label("Around a memory").press("Enter")
    expect(shown_nodes(page)).to_have_count(2)
    page.get_by_role("combobox", name="Steps").select_option("2")
    expect(shown_nodes(page)).to_have_count(3)
    page.get_by_label("Around a memory").fill("nobody at all")
    page.get_by_label("Around a memory").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("No memory has the id 'nobody at all'")
    page.get_by_role("link", name="Reset").click()
    expect(shown_nodes(page)).to_have_count(5)


def test_a_click_opens_the_memory_and_a_drag_does_not(look: Look, small: Store) -> None:
    page = look()
    at_graph(page)
    before = place(page)
    mark = node_of(page, "Title of b").locator(".mark").bounding_box()
    assert mark
    x, y = mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2

    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=5)
    page.mouse.up()
    place(page, before)
    expect(page.get_by_role("heading", name="Graph", level=1)).to_be_visible()
    node_of(page, "Title of b").locator(".mark").click()

    expect(page.get_by_role("heading", name="Title of b", level=1)).to_be_visible()


def test_pointing_at_a_node_lights_what_is_linked_with_it(look: Look, small: Store) -> None:
    page = look()
    canvas = at_graph(page)

    node_of(page, "Title of b").locator(".mark").hover()
    expect(canvas.locator(".node.lit")).to_have_count(3)
    expect(canvas.locator(".line.lit")).to_have_count(2)
    expect(canvas.locator(".lit .relation").first).to_be_visible()

    page.mouse.move(0, 0)
    expect(canvas.locator(".lit")).to_have_count(0)


def test_the_keyboard_reaches_every_node_zooms_moves_and_opens(look: Look, small: Store) -> None:
    page = look()
    canvas = at_graph(page)
    canvas.focus()
    reached = set()
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.querySelector('title').textContent"))
    assert len(reached) == 5
    expect(canvas.locator(".line.lit")).not_to_have_count(0)

    canvas.focus()
    first = place(page)
    page.keyboard.press("+")
    larger = place(page, first)
    assert scale(larger) > scale(first)
    page.keyboard.press("-")
    smaller = place(page, larger)
    assert scale(smaller) == pytest.approx(scale(first))
    page.keyboard.press("ArrowLeft")
    place(page, smaller)
    page.keyboard.press("0")
    expect(canvas.locator(".world")).to_have_attribute("transform", first)
    node_of(page, "Title of c").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Title of c", level=1)).to_be_visible()


def test_the_buttons_and_the_wheel_with_a_key_zoom(look: Look, small: Store) -> None:
    page = look()
    canvas = at_graph(page)
    first = place(page)

    page.get_by_role("button", name="Larger").click()
    larger = place(page, first)
    assert scale(larger) > scale(first)
    page.get_by_role("button", name="Smaller").click()
    assert scale(place(page, larger)) == pytest.approx(scale(first))
    page.get_by_role("button", name="Whole picture").click()
    expect(canvas.locator(".world")).to_have_attribute("transform", first)
    canvas.hover()
    page.mouse.wheel(0, -200)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    assert scale(place(page, first)) > scale(first)


def test_a_title_is_found_in_the_picture_as_one_types(look: Look, small: Store) -> None:
    page = look()
    canvas = at_graph(page)

    page.get_by_label("Find a title").press_sequentially("of c titl")
    expect(canvas.locator(".node.match")).to_have_count(1)
    expect(page.locator("#matches")).to_contain_text("1 match")
    page.get_by_label("Find a title").press("Enter")
    expect(canvas.locator(".node.lit")).to_have_count(4)
    page.get_by_label("Find a title").fill("")
    expect(canvas.locator(".match")).to_have_count(0)


def test_the_same_links_stand_in_a_table_by_pages(look: Look, store: Store) -> None:
    fill(store, 100, 150)
    total = len(read_network(store).links)
    page = look()
    at_graph(page)
    page.locator("#table summary").click()
    rows = page.locator("#links tbody tr")
    expect(rows).to_have_count(100)
    page.get_by_role("link", name="Later").click()
    expect(rows).to_have_count(total - 100)
    expect(page.locator("#links")).to_contain_text(f"101 to {total} of {total} links")
    page.get_by_role("link", name=re.compile("^Only what is around")).first.click()
    expect(page.get_by_label("Around a memory")).not_to_have_value("")


def test_titles_of_strangers_are_words(look: Look, store: Store) -> None:
    first = remember(store, Draft(EVIL, "Text.")).memory.id
    second = remember(store, Draft(f"Other {EVIL}", "Text.")).memory.id
    link(store, first, second)
    page = look()
    canvas = at_graph(page)

    expect(shown_nodes(page)).to_have_count(2)
    assert canvas.locator("img, script, image").count() == 0
    page.locator("#table summary").click()
    expect(page.locator("#links").get_by_role("link", name=EVIL, exact=True)).to_be_visible()


def test_a_store_without_links_says_how_to_make_one(look: Look) -> None:
    page = look()
    go(page, "Graph")
    expect(page.get_by_text("No memory is linked with another yet.")).to_be_visible()
    expect(page.get_by_text("daybook link FROM TO")).to_be_visible()


def test_a_link_that_a_terminal_makes_shows_by_itself_and_the_place_stays(
    look: Look, small: Store, memory_dir: Any, project: Any
) -> None:
    page = look()
    at_graph(page)
    first = place(page)
    page.get_by_role("button", name="Larger").click()
    zoomed = scale(place(page, first))

    assert run_daybook(memory_dir, "link", "a", "d", "--rel", "explains", cwd=project).returncode == 0

    expect(page.locator(".canvas .line")).to_have_count(5)
    assert scale(place(page)) == pytest.approx(zoomed)


def test_a_choice_is_not_undone_by_the_answer_to_an_earlier_look(
    look: Look, small: Store, memory_dir: Any, project: Any
) -> None:
    page = look()
    at_graph(page)
    early: list[tuple[Route, APIResponse]] = []
    page.route("**/graph?*known*", lambda route: early.append((route, route.fetch())), times=1)
    assert run_daybook(memory_dir, "link", "a", "d", "--rel", "explains", cwd=project).returncode == 0
    eventually(lambda: page.evaluate("1") and early != [], "the picture is asked for, and answered")

    page.get_by_role("combobox", name="Link", exact=True).select_option("contradicts (1)")
    expect(shown_nodes(page)).to_have_count(2)
    for route, answer in early:
        route.fulfill(response=answer)
    page.evaluate("() => new Promise(requestAnimationFrame)")

    expect(shown_nodes(page)).to_have_count(2)


def test_the_words_to_find_stay_when_the_picture_is_drawn_anew(
    look: Look, small: Store, memory_dir: Any, project: Any
) -> None:
    page = look()
    at_graph(page)
    page.get_by_label("Find a title in the picture").fill("title of c")
    expect(page.locator(".canvas .node.match")).to_have_count(1)

    assert run_daybook(memory_dir, "link", "a", "d", "--rel", "explains", cwd=project).returncode == 0

    expect(page.locator(".canvas .line")).to_have_count(5)
    expect(page.get_by_label("Find a title in the picture")).to_have_value("title of c")
    expect(page.locator(".canvas .node.match")).to_have_count(1)
