"""What was done is shown, and a change, a batch or a session's learning is taken back after it was seen."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from mcp_server.actions.capture.note import note_session
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.authors import CLAUDE
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Status
from mcp_server.store import Store
from tests.actions.test_answers import remembered
from tests.actions.tidy.knowledge import twins
from tests.conftest import Clock
from tests.opened import run_daybook
from tests.viewer.conftest import Look, at, go

OLD, NEW = "The port of the database is 5432.", "The port of the database is 5433."
SESSION = "8d7cabcd-1111-2222-3333-444455556666"


def revised(store: Store) -> str:
    memory_id = remembered(store, OLD, title="Port")
    revise(store, memory_id, Revision(text=NEW))
    return memory_id


def text(store: Store, memory_id: str) -> str:
    return read(store, memory_id).memory.text.strip()


def test_what_was_done_is_listed_with_what_it_did(look: Look, store: Store) -> None:
    revised(store)
    page = look()
    go(page, "Changes")
    deeds = page.locator(".deed")
    expect(deeds).to_have_count(2)
    expect(deeds.first).to_contain_text("revised: Port")

    deeds.first.get_by_text("What it did").click()

    expect(deeds.first.locator("del")).to_have_text("5432.")
    expect(deeds.first.locator("ins")).to_have_text("5433.")


def test_the_list_is_filtered_by_whom(look: Look, store: Store) -> None:
    revised(store)
    remember(store.acting_as(CLAUDE), Draft("Queue", "Jobs wait in the queue."))
    page = look()
    go(page, "Changes")

    page.locator("select[name=by]").select_option("claude")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".deed")).to_have_count(1)
    expect(page.locator(".deed")).to_contain_text("Queue")


def test_a_session_of_another_project_is_looked_at_from_there(
    look: Look, store: Store, memory_dir: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run_daybook(memory_dir, "remember", "Port | 5432", cwd=other, CLAUDE_CODE_SESSION_ID=SESSION)
    page = look()
    at(page, "/changes?project=all")
    page.get_by_role("link", name=f"session {SESSION[:8]}").first.click()

    expect(page).to_have_url(re.compile(f"session={SESSION}&project=all$"))
    expect(page.locator(".deed").last).to_contain_text("remembered: Port")


def test_the_last_change_is_taken_back_after_it_was_seen_and_once_more(look: Look, store: Store) -> None:
    memory_id = revised(store)
    page = look()
    go(page, "Changes")

    page.get_by_role("link", name="Undo the last change").click()
    expect(page.locator("del")).to_have_text("5433.")
    expect(page.locator("ins")).to_have_text("5432.")
    assert text(store, memory_id) == NEW
    page.get_by_role("button", name="Undo it", exact=True).click()
    expect(page.get_by_text("Taken back: 1 memory.")).to_be_visible()
    assert text(store, memory_id) == OLD

    page.get_by_role("link", name="Undo this too").click()
    page.get_by_role("button", name="Undo it", exact=True).click()
    expect(page.get_by_text("Taken back: 1 memory.")).to_be_visible()
    assert text(store, memory_id) == NEW


def test_what_was_edited_since_is_shown_with_both_texts_and_taken_back_anyway(
    look: Look, store: Store
) -> None:
    memory_id = revised(store)
    file = read(store, memory_id).path
    file.write_text(file.read_text(encoding="utf-8").replace("5433", "6000"), encoding="utf-8")
    page = look()
    go(page, "Changes")

    page.get_by_role("link", name="Undo the last change").click()

    expect(page.get_by_text("Left alone: it was changed since")).to_be_visible()
    expect(page.locator("del")).to_have_text("6000.")
    expect(page.locator("ins")).to_have_text("5432.")
    expect(page.get_by_role("button", name="Undo it", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Undo it anyway").click()
    expect(page.get_by_text("Taken back: 1 memory.")).to_be_visible()
    assert text(store, memory_id) == OLD


def test_a_change_that_is_not_the_last_any_more_is_shown_again(
    look: Look, store: Store, memory_dir: Path, project: Path
) -> None:
    memory_id = revised(store)
    page = look()
    go(page, "Changes")
    page.get_by_role("link", name="Undo the last change").click()
    expect(page.locator("ins")).to_have_text("5432.")
    assert run_daybook(memory_dir, "remember", "Jobs wait in the queue.", cwd=project).returncode == 0

    page.get_by_role("button", name="Undo it", exact=True).click()

    expect(page.get_by_text("Something else was changed since")).to_be_visible()
    expect(page.get_by_text("Goes to the trash")).to_be_visible()
    assert text(store, memory_id) == NEW


@pytest.mark.usefixtures("steady_use")
def test_a_batch_is_taken_back_from_the_list(look: Look, store: Store, clock: Clock) -> None:
    copy, _ = twins(store)
    clock.pass_days(1)
    tidy(store)
    assert read(store, copy).memory.status is Status.SUPERSEDED
    remember(store, Draft("Queue", "Jobs wait in the queue."))
    page = look()
    go(page, "Changes")

    batch = page.locator(".deed", has_text="tidied").first
    batch.get_by_text("What it did").click()
    batch.get_by_role("link", name="Undo this").click()
    page.get_by_role("button", name="Undo it", exact=True).click()

    expect(page.get_by_text("Taken back: ")).to_be_visible()
    assert read(store, copy).memory.status is Status.ACTIVE


def test_a_session_is_forgotten_after_it_was_seen_and_brought_back(
    look: Look, store: Store, project: Path
) -> None:
    note_session(store.in_session(SESSION), folder=str(project))
    learned = remember(store, Draft("Port", OLD, session=SESSION)).memory.id
    page = look()
    go(page, "Changes")
    page.get_by_role("link", name="Forget a session").click()
    page.get_by_role("link", name="No topic was noted").click()
    expect(page.get_by_text(f"[{learned}] goes to the trash")).to_be_visible()
    assert text(store, learned) == OLD

    page.get_by_role("button", name="Forget it").click()

    expect(page.get_by_role("heading", name="Forgotten", exact=True)).to_be_visible()
    with pytest.raises(NotFound):
        read(store, learned)
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_role("heading", name="Brought back")).to_be_visible()
    assert text(store, learned) == OLD


def test_nothing_was_done_in_a_new_store_and_nothing_can_be_taken_back(look: Look) -> None:
    page = look()
    go(page, "Changes")
    expect(page.get_by_text("Nothing was done yet.")).to_be_visible()
    page.get_by_role("link", name="Undo the last change").click()
    expect(page.get_by_text("No change can be undone.")).to_be_visible()
