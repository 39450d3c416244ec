"""Out of sight by a word, and back in one step; the file says the truth."""

from pathlib import Path

import pytest

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.files.read import is_accepted, read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.memory.archive import archive, still_superseded
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level, Status
from mcp_server.core.search.query import Filter, Query
from mcp_server.doors.shown.memory import archived as archived_shown
from mcp_server.store import Store
from tests.conftest import Clock


def ids(store: Store, *, archived: bool = False) -> list[str]:
    statuses = tuple(Status) if archived else (Status.ACTIVE,)
    return [hit.id for hit in recall(store, Query("deploy", filter=Filter(statuses=statuses))).hits]


@pytest.fixture
def deploys(store: Store) -> str:
    return remember(store, Draft("Deploys", "We deploy on Fridays.")).memory.id


@pytest.mark.feature("D-19")
def test_what_is_archived_is_found_only_when_asked_for_and_comes_back_as_it_was(
    store: Store, deploys: str
) -> None:
    before = read(store, deploys)

    (archived,) = archive(store, [deploys])
    gone = archived.file

    assert ids(store) == []
    assert ids(store, archived=True) == [deploys]
    assert gone.path == before.path.parent.parent / "archive" / before.path.name
    assert b"status: archived\narchived_reason: by hand\n" in gone.path.read_bytes()
    assert is_accepted(store, gone)
    rebuild(store)
    assert ids(store) == []

    back = restore(store, deploys)

    assert (back.data, back.path) == (before.data, before.path)
    assert is_accepted(store, back)
    assert ids(store) == [deploys]
    assert [row.deed.event for row in list_deeds(store, deploys)][::-1][:2] == ["remembered", "archived"]


def test_none_is_archived_when_one_cannot_be(store: Store, deploys: str) -> None:
    with pytest.raises(NotFound):
        archive(store, [deploys, "nothing-like-it"])
    gone = remember(store, Draft("Old", "We deploy by hand.")).memory.id
    remember(store, Draft("New", "A robot deploys.", supersedes=(gone,)))
    with pytest.raises(Rejected, match=f"'{gone}' is superseded; only active memories"):
        archive(store, [deploys, gone])

    assert read(store, deploys).memory.status is Status.ACTIVE


def test_given_again_after_a_kill_the_rest_is_archived(store: Store, deploys: str) -> None:
    first = remember(store, Draft("Old", "We deploy by hand.")).memory.id
    (alone,) = archive(store, [first])

    outcomes = archive(store, [first, deploys])

    assert [outcome.before for outcome in outcomes] == [True, False]
    assert read(store, deploys).memory.status is Status.ARCHIVED
    shown = archived_shown(outcomes)
    assert shown.head.startswith("Archived: 1 memory;")
    assert str(shown.rows[0]) == str((first, f"{alone.file.path} (was there already)"))


@pytest.mark.parametrize("kind", list(Kind))
def test_each_kind_goes_and_comes_back_under_its_own_name(store: Store, kind: Kind) -> None:
    folder = store.user_vault.root / kind.folder
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "Über uns.md"
    path.write_text("We deploy on Fridays.\n", encoding="utf-8")
    sync(store)

    assert archive(store, ["uber-uns"])[0].file.path.name == "Über uns.md"
    back = restore(store, "uber-uns")

    assert (back.path, back.memory.kind, back.memory.status) == (path, kind, Status.ACTIVE)


def age(store: Store, clock: Clock) -> None:
    clock.pass_days(1000)
    tidy(store)


@pytest.mark.parametrize("way", ["by hand", "by age", "and forgotten"])
def test_a_file_keeps_the_subfolder_that_the_person_chose(
    store: Store, steady_use: None, clock: Clock, way: str
) -> None:
    top = store.user_vault.root
    path = top / "knowledge" / "billing" / "2026" / "Refunds.md"
    path.parent.mkdir(parents=True)
    head = "id: refunds\ntype: note\nsource: extracted\n"
    path.write_text(f"---\n{head}---\nWe refund by hand.\n", encoding="utf-8")
    sync(store)

    age(store, clock) if way == "by age" else archive(store, ["refunds"])

    assert read(store, "refunds").path == top / "archive" / "billing" / "2026" / "Refunds.md"
    if way == "and forgotten":
        forget(store, "refunds")
    assert restore(store, "refunds").path == path


def test_two_of_one_name_share_no_file_in_the_archive(store: Store) -> None:
    folder = store.user_vault.root / "knowledge" / "billing"
    folder.mkdir(parents=True)
    for memory_id in ("first", "second"):
        (folder / "Refunds.md").write_text(f"---\nid: {memory_id}\n---\nThe {memory_id}.\n", encoding="utf-8")
        sync(store)
        archive(store, [memory_id])

    places = [read(store, memory_id).place for memory_id in ("first", "second")]

    assert places == ["archive/billing/Refunds.md", "archive/billing/second.md"]


def test_archived_and_forgotten_it_comes_back_in_one_step(store: Store, deploys: str) -> None:
    before = read(store, deploys).data
    archive(store, [deploys])
    forget(store, deploys)

    back = restore(store, deploys)

    assert (back.memory.status, back.data, back.path.parent.name) == (Status.ACTIVE, before, "knowledge")
    assert ids(store) == [deploys]


def test_superseded_and_forgotten_it_comes_back_beside_its_successor(store: Store, deploys: str) -> None:
    newer = remember(store, Draft("Releases", "We deploy on Mondays.", supersedes=(deploys,))).memory.id
    forget(store, deploys)

    back = restore(store, deploys).memory

    assert (back.status, back.superseded_by) == (Status.ACTIVE, "")
    assert set(ids(store)) == {deploys, newer}


def test_a_file_without_an_id_that_was_forgotten_twice_comes_back_under_its_own(store: Store) -> None:
    folder = store.user_vault.root / "knowledge"
    folder.mkdir(parents=True, exist_ok=True)
    for text in ("We deploy by hand.\n", "We deploy on Fridays.\n"):
        (folder / "deploys.md").write_text(text, encoding="utf-8")
        sync(store)
        forget(store, "deploys")

    back = restore(store, "deploys")

    assert (back.memory.id, back.memory.text) == ("deploys", "We deploy on Fridays.")
    assert ids(store) == ["deploys"]


def write_by_hand(store: Store, head: str) -> Path:
    folder = store.user_vault.root / "knowledge"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "deploys.md"
    path.write_text(f"---\n{head}---\nWe deploy on Fridays.\n", encoding="utf-8")
    sync(store)
    return path


def test_what_the_person_writes_into_the_file_is_heeded_and_taken_back(store: Store) -> None:
    path = write_by_hand(store, "status: archived\n")
    assert ids(store) == []
    assert ids(store, archived=True) == ["deploys"]

    back = restore(store, "deploys")

    assert back.path == path
    assert "status" not in path.read_text(encoding="utf-8")
    assert ids(store) == ["deploys"]


@pytest.mark.parametrize(
    "status", ["archived\narchived_reason: aged", "archived\narchived_reason: dropped", "orphaned"]
)
def test_what_an_earlier_restore_left_in_the_file_is_not_heeded(store: Store, status: str) -> None:
    write_by_hand(store, f"status: {status}\n")

    assert ids(store) == ["deploys"]


def test_upkeep_leaves_what_was_archived_by_hand(
    store: Store, deploys: str, steady_use: None, clock: Clock
) -> None:
    archive(store, [deploys])
    clock.pass_days(1000)

    assert tidy(store).counts == {}
    assert read(store, deploys).memory.status is Status.ARCHIVED


def test_what_the_archived_one_had_replaced_is_named(store: Store) -> None:
    old = remember(store, Draft("Port", "The port is 5433.", level=Level.USER)).memory.id
    draft = Draft("Port", "The port is 5434.", level=Level.USER, supersedes=(old,))
    new = remember(store, draft).memory.id

    (gone,) = archive(store, [new])

    assert gone.superseded == (old,)
    assert read(store, old).memory.status is Status.SUPERSEDED
    restore(store, old)
    assert still_superseded(store, gone.file) == ()


def test_what_the_archived_one_had_shadowed_is_named(store: Store) -> None:
    everywhere = remember(store, Draft("Port", "The port is 5433.", level=Level.USER)).memory.id
    draft = Draft("Port", "The port is 5434.", level=Level.PROJECT, supersedes=(everywhere,))
    here = remember(store, draft).memory.id
    other = remember(store, Draft("Deploys", "We deploy on Mondays.")).memory.id

    first, second = archive(store, [other, here])

    assert (first.uncovered, second.uncovered) == ((), (everywhere,))
    assert f"No longer shadowed in this project: {everywhere}." in archived_shown([first, second]).notes
