"""A project whose folder was renamed or moved is offered its memory, and takes it over when told to."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mcp_server.actions.changes.history import history_of
from mcp_server.actions.context import claude_md
from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.in_context_already import chosen
from mcp_server.actions.context.notice import notice, offered
from mcp_server.actions.exchange.export import export_folder, export_json, write_document
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init, trust
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.session import save_session
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.status import status
from mcp_server.actions.upkeep.adopt import adopt
from mcp_server.adapters import places
from mcp_server.adapters.index.events import usage
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Filter, Query
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.doors.shown.taken_in import taken_in
from mcp_server.store import Store
from tests.adapters.project.repositories import git, needs_git, repository
from tests.conftest import Open
from tests.importing import import_from

WEBHOOK = Draft("Webhook", "The webhook needs the raw body.", type="gotcha")


def key_of(store: Store) -> str:
    assert store.project
    return store.project.key


def keep_block(store: Store) -> None:
    claude_md.choose(store, "CLAUDE.md")


def offers(store: Store) -> list[str]:
    """Return what the start of a session and `status` say of another folder's memory."""
    sync(store)
    lines = [sentence(notice(store, identity="")), *needs_of(status(store, has_key=False))]
    return [line for line in lines if "adopt" in line]


@pytest.mark.parametrize("place", ["renamed", "elsewhere/shop", "elsewhere/renamed"])
def test_a_project_that_was_moved_is_offered_its_memory_and_takes_it(
    open_here: Open, project: Path, place: str
) -> None:
    before = open_here().store()
    remembered = remember(before, WEBHOOK)
    save_session(before, "Half done", "Going on.", folder=project)
    recall(before, Query("webhook raw body"), given_to="s")
    moved = project.parent / place
    moved.parent.mkdir(exist_ok=True)
    project.rename(moved)
    store = open_here(moved).store()

    lines = offers(store)

    assert len(lines) == 2
    assert all(f"'daybook adopt {key_of(before)}'" in line and str(project) in line for line in lines)
    assert list_memories(store, Filter()).total == 0
    report = adopt(store)
    assert (report.moved, report.not_moved) == (2, ())
    after = open_here(moved).store()
    file = read(after, remembered.memory.id)
    assert (file.memory, file.vault.key) == (remembered.memory, key_of(after))
    assert list_memories(after, Filter()).total == 2
    assert "Webhook" in brief(after).text
    with after.database.read() as db:
        assert usage.usage_of(db, [file.ref])[file.ref].accesses == 1
    assert offers(after) == []


def test_nothing_is_offered_where_nothing_is_gone(open_here: Open, elsewhere: Store) -> None:
    remember(open_here().store(), WEBHOOK)

    assert offers(elsewhere) == []
    assert offers(open_here().store()) == []
    with pytest.raises(Rejected, match="No other project may be"):
        adopt(elsewhere)
    with pytest.raises(NotFound, match="No project has the key 'nope'"):
        adopt(elsewhere, "nope")


def test_another_project_beside_one_that_was_deleted_is_offered_nothing(
    open_here: Open, project: Path, elsewhere: Store
) -> None:
    remember(open_here().store(), WEBHOOK)
    project.rmdir()

    assert offers(elsewhere) == []


def test_a_copy_of_the_same_name_and_a_folder_without_a_number_are_offered(
    open_here: Open, project: Path, tmp_path: Path
) -> None:
    before = open_here().store()
    remember(before, WEBHOOK)
    copied = shutil.copytree(project, tmp_path / "elsewhere" / "shop")
    project.rmdir()
    assert len(offers(open_here(copied).store())) == 2
    noted = before.home / "projects" / key_of(before) / places.PROJECT_FILE
    noted_project = json.loads(noted.read_text())
    del noted_project[places.NUMBER]
    noted.write_text(json.dumps(noted_project))
    renamed = tmp_path / "renamed"
    renamed.mkdir()
    assert len(offers(open_here(renamed).store())) == 2


def test_a_project_with_memories_of_its_own_is_told_only_when_it_asks(open_here: Open, project: Path) -> None:
    before = open_here().store()
    remember(before, WEBHOOK)
    moved = project.rename(project.with_name("renamed"))
    store = open_here(moved).store()
    own = remember(store, Draft("Carts", "Carts live for a day."))
    taken_path = (
        store.vaults[-1].root / "knowledge" / f"{next((before.vaults[-1].root / 'knowledge').iterdir()).name}"
    )
    taken_path.write_text("in the way")

    assert sentence(notice(store, identity="")) == ""
    assert [former.key for former in offered(store)] == [key_of(before)]
    report = adopt(store)
    assert (report.moved, len(report.not_moved)) == (0, 1)
    assert read(store, own.memory.id).memory == own.memory
    assert taken_path.read_text() == "in the way"


@needs_git
def test_a_folder_that_belongs_to_a_repository_now_is_offered_to_it(open_here: Open, project: Path) -> None:
    remember(open_here().store(), Draft("Carts", "Carts live for a day."))
    inner = project / "inner"
    inner.mkdir()
    before = open_here(inner).store()
    remember(before, WEBHOOK)
    assert offers(open_here().store()) == []
    repository(project)
    repository(inner)
    assert offers(open_here().store()) == []
    shutil.rmtree(inner / ".git")

    (line,) = offers(open_here().store())
    assert line.startswith(f"{inner} was another project, {key_of(before)}, before")
    assert adopt(open_here().store()).moved == 1
    assert list_memories(open_here(inner).store(), Filter()).total == 2
    assert offers(open_here().store()) == []


def test_what_the_person_chose_for_the_folder_comes_along(open_here: Open, project: Path) -> None:
    remembered = remember(open_here().store(), WEBHOOK)
    init(open_here().store())
    before = open_here().store()
    claude_md.choose(before, "CLAUDE.md")
    note = save_session(before, "Half done", "Going on.", folder=project)
    moved = project.rename(project.with_name("renamed"))

    adopt(open_here(moved).store())

    store = open_here(moved).store()
    sync(store)
    file = read(store, remembered.memory.id)
    assert file.vault.adopted and file.path.is_relative_to(moved)
    assert chosen(store) == "CLAUDE.md"
    assert read(store, note.memory.id)


def test_a_folder_that_is_still_there_keeps_what_was_chosen_for_it(
    open_here: Open, project: Path, tmp_path: Path
) -> None:
    private = remember(open_here().store(), WEBHOOK)
    init(open_here().store())
    kept = remember(open_here().store(), Draft("Carts", "Carts live for a day."))
    revise(open_here().store(), kept.memory.id, Revision(text="They live for a week."))
    save_session(open_here().store(), "Half done", "Going on.", folder=project)
    other = tmp_path / "other"
    other.mkdir()

    assert adopt(open_here(other).store(), key_of(open_here().store())).moved == 1

    store = open_here().store()
    assert {row.id for row in list_memories(store, Filter()).rows} == {private.memory.id, kept.memory.id}
    assert store.vaults[-1].adopted
    assert len(history_of(store, kept.memory.id).versions) == 1


@needs_git
def test_a_worktree_that_was_cut_off_for_a_time_is_offered_to_its_repository(
    open_here: Open, project: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    repository(project)
    git(project, "worktree", "add", "-q", str(second))
    moved = project.rename(project.with_name("renamed"))
    cut_off = open_here(second).store()
    remember(cut_off, WEBHOOK)
    git(moved, "worktree", "repair", str(second))

    for folder in (moved, second):
        assert [former.key for former in offered(open_here(folder).store())] == [key_of(cut_off)]


@needs_git
def test_what_moved_to_another_disk_and_got_a_remote_is_offered_what_it_had(
    open_here: Open, project: Path, tmp_path: Path
) -> None:
    before = open_here().store()
    remember(before, WEBHOOK)
    project.rmdir()
    moved = repository(tmp_path / "disk" / "shop", "https://github.com/acme/shop.git")

    assert [former.key for former in offered(open_here(moved).store())] == [key_of(before)]
    remember(open_here(moved).store(), Draft("Carts", "Carts live for a day."))
    assert offered(open_here(moved).store()) == []


@needs_git
def test_a_clone_that_was_deleted_is_not_offered_to_another(
    open_here: Open, project: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    for folder in (project, clone):
        repository(folder, "https://github.com/acme/shop.git")
        remember(open_here(folder).store(), WEBHOOK)
        init(open_here(folder).store())
    shutil.rmtree(clone)

    assert offers(open_here().store()) == []


@needs_git
@pytest.mark.parametrize("choice", [init, keep_block, trust], ids=lambda choice: choice.__name__)
@pytest.mark.parametrize("which", ["first", "second"])
@pytest.mark.parametrize("by_key", [False, True])
def test_each_clone_that_is_moved_is_offered_what_was_chosen_for_it(
    open_here: Open, project: Path, choice: Callable[[Store], object], which: str, by_key: bool
) -> None:
    clones = {"first": project, "second": project.with_name("second")}
    for folder in clones.values():
        repository(folder, "https://github.com/acme/shop.git")
        remember(open_here(folder).store(), WEBHOOK)
        choice(open_here(folder).store())
    with pytest.raises(NotFound):
        adopt(open_here(clones["first"]).store(), key_of(open_here().store()))
    was = clones.pop(which)
    moved = was.rename(was.with_name("moved"))
    (stays,) = clones.values()

    assert [former.root for former in offered(open_here(moved).store())] == [was]
    lines = offers(open_here(moved).store())  # a session's start says what would be lost sight of
    assert len(lines) == (2 if choice is init else 1) and all(str(was) in line for line in lines)
    assert offers(open_here(stays).store()) == []
    adopt(open_here(moved).store(), key_of(open_here(stays).store()) if by_key else "")

    after = places.project_notes(open_here(moved).store().home, key_of(open_here(moved).store()))
    for folder in (moved, stays):
        assert places.has_choices(after, folder)
        assert offers(open_here(folder).store()) == []


def test_what_is_taken_over_is_not_gone(open_here: Open, project: Path, tmp_path: Path) -> None:
    store = open_here().store()
    for number in range(8):
        remember(store, Draft(f"Lighthouse {number}", f"It has {number} lamps."))
    moved = project.rename(tmp_path / "renamed")
    opened = open_here(moved)

    assert adopt(opened.store()).moved == 8

    assert opened.remarks() == []


@pytest.mark.parametrize("form", ["folder", "document"])
def test_what_a_project_without_a_remote_exported_is_shown_in_its_folder_on_another_machine(
    open_here: Open, tmp_path: Path, form: str
) -> None:
    before = open_here().store()
    assert before.project
    remember(before, WEBHOOK)
    exported = tmp_path / "out"
    if form == "folder":
        export_folder(before, exported)
    else:
        write_document(before, exported, json.dumps(export_json(before)[0]).encode())
    folder = tmp_path / "other machine" / before.project.root.name
    folder.mkdir(parents=True)
    another = partial(open_here, folder, MEMORY_DIR=str(tmp_path / "memory there"))

    imported = import_from(another().store(), "daybook", exported, own_export=True)

    told = taken_in(imported, format_name="daybook", dry_run=False).notes
    assert any(f"{key_of(before)}, which has no folder here yet: 1 memory" in line for line in told)
    assert [former.key for former in offered(another().store())] == [key_of(before)]
    remember(another().store(), Draft("Carts", "Carts live for a day."))
    adopt(another().store(), key_of(before))
    store = another().store()
    assert {row.title for row in list_memories(store, Filter()).rows} == {"Carts", WEBHOOK.title}
    assert import_from(store, "daybook", exported, own_export=True)[0].elsewhere == ()
