"""Moving a memory to another level in the browser: what it will do, what it did, and taking it back."""

from pathlib import Path

from playwright.sync_api import expect

from mcp_server.actions.memory.repository import init, share
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.actions.test_change_level import LONGER, level, of_project, of_user
from tests.conftest import Open
from tests.opened import run_daybook
from tests.viewer.conftest import Look, at, findings, go, serious_findings
from tests.viewer.test_many import ask, tick


def test_a_memory_moves_the_page_follows_and_undo_brings_it_back(look: Look, store: Store) -> None:
    memory_id = of_project(store)
    page = look()
    at(page, f"/memories/{memory_id}")
    button = page.get_by_role("button", name="Move to user level")
    expect(button).to_have_attribute("title", "Move to user level: makes it apply in every project")

    button.click()

    expect(page.get_by_text("moved to user level: it applies in every project.")).to_be_visible()
    expect(page.locator(".kind")).to_contain_text("user level")
    expect(page.get_by_role("button", name="Move to this project")).to_be_visible()
    assert findings(page) == []
    assert level(store, memory_id) is Level.USER
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: 1 memory.")).to_be_visible()
    expect(page.locator(".kind")).to_contain_text("project level")
    assert level(store, memory_id) is Level.PROJECT


def test_what_a_terminal_moves_shows_on_the_open_page_and_in_the_list(
    look: Look, store: Store, memory_dir: Path, project: Path
) -> None:
    memory_id = of_project(store)
    page = look()
    at(page, f"/memories/{memory_id}")
    expect(page.locator(".kind")).to_contain_text("project level")
    other = page.context.new_page()
    other.goto(page.url.replace(f"/{memory_id}", ""))
    expect(other.locator("#found .about")).to_contain_text("project")

    process = run_daybook(memory_dir, "revise", memory_id, "--level", "user", cwd=project)

    assert process.returncode == 0
    expect(page.locator(".kind")).to_contain_text("user level")
    expect(other.locator("#found .about")).to_contain_text("user")


def test_many_move_at_once_what_cannot_is_named_and_all_goes_back(look: Look, store: Store) -> None:
    ids = [of_project(store, name, f"{name} says this.") for name in ("Alpha", "Beta")]
    of_person = of_user(store, "Gamma", LONGER)
    page = look()
    go(page, "Memories")
    page.get_by_label("all on this page").check()

    question = ask(page, "Move to user level")

    expect(question).to_contain_text("For each of them, this makes it apply in every project.")
    assert serious_findings(page) == []
    question.get_by_role("button", name="Move to user level").click()
    expect(page.get_by_text("Move to user level: 2 of 3 done.")).to_be_visible()
    expect(page.locator("#message li")).to_contain_text(f"'{of_person}' is at user level already.")
    assert {level(store, memory_id) for memory_id in ids} == {Level.USER}
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: 2 memories.")).to_be_visible()
    assert {level(store, memory_id) for memory_id in ids} == {Level.PROJECT}


def test_a_memory_of_another_project_moves_from_the_list_of_all(
    look: Look, store: Store, elsewhere: Store
) -> None:
    theirs = of_project(elsewhere)
    page = look()
    at(page, "/memories?project=all")
    tick(page, "Uploads").check()

    ask(page, "Move to user level").get_by_role("button", name="Move to user level").click()

    expect(page.get_by_text("Move to user level: 1 of 1 done.")).to_be_visible()
    assert level(store, theirs) is Level.USER
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: 1 memory.")).to_be_visible()
    assert level(elsewhere, theirs) is Level.PROJECT


def test_what_leaves_with_the_repository_is_told_before(look: Look, open_here: Open) -> None:
    init(open_here().store())
    share(open_here().store())
    opened = open_here()
    memory_id = of_user(opened.store())
    page = look(opened)
    at(page, f"/memories/{memory_id}")
    button = page.get_by_role("button", name="Move to this project")
    sentence = "its file goes into the repository, where git sees it"
    expect(button).to_have_attribute(
        "title", f"Move to this project: makes it apply in this project only; {sentence}"
    )
    go(page, "Memories")
    tick(page, "Uploads").check()
    expect(ask(page, "Move to this project")).to_contain_text(sentence)


def test_taking_back_is_shown_before_with_the_level(look: Look, store: Store) -> None:
    memory_id = of_project(store)
    page = look()
    at(page, f"/memories/{memory_id}")
    page.get_by_role("button", name="Move to user level").click()
    expect(page.get_by_text("moved to user level")).to_be_visible()
    go(page, "Changes")
    deed = page.locator(".deed").first
    expect(deed).to_contain_text("moved to user level")
    deed.get_by_text("What it did").click()
    expect(deed.get_by_text("Moved to user level.")).to_be_visible()

    page.get_by_role("link", name="Undo the last change").click()

    expect(page.get_by_text("Moves to project level.")).to_be_visible()
    expect(page.get_by_text("Its words stay the same.")).to_be_visible()
    assert serious_findings(page) == []
    page.get_by_role("button", name="Undo it", exact=True).click()
    expect(page.get_by_text("Taken back: 1 memory.")).to_be_visible()
    assert level(store, memory_id) is Level.PROJECT


def test_without_a_project_there_is_nothing_to_move_to(
    look: Look, open_here: Open, store: Store, scratch_home: Path
) -> None:
    memory_id = of_user(store)
    alone = look(open_here(scratch_home))
    at(alone, f"/memories/{memory_id}")
    expect(alone.get_by_role("button", name="Archive")).to_be_visible()
    expect(alone.get_by_role("button", name="Move")).to_have_count(0)
    at(alone, "/memories")
    expect(alone.get_by_role("button", name="Move to user level")).to_be_visible()
    expect(alone.get_by_role("button", name="Move to this project")).to_have_count(0)
