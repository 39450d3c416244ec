import errno
import os
import shutil
import sys
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.status import status
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.search.query import ANY_STATUS, Filter, Query
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.store import Store
from tests.actions.recall.notes import ids_found
from tests.conftest import Open


def knowledge(store: Store) -> Path:
    folder = store.vaults[-1].root / "knowledge"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_file_written_by_hand_needs_nothing(store: Store) -> None:
    (knowledge(store) / "Deploy Notes.md").write_text(
        "# How we deploy\n\nPush the button.\n", encoding="utf-8"
    )

    report = sync(store)

    assert (report.added, report.unreadable) == (1, [])
    (hit,) = recall(store, Query("push button")).hits
    assert (hit.id, hit.title, hit.type) == ("deploy-notes", "How we deploy", "note")


def test_reading_never_rewrites_a_file_of_the_person(store: Store) -> None:
    path = knowledge(store) / "note.md"
    path.write_bytes(b"---\r\ntitle:   odd  \r\nmine: [ 1 ]\r\n---\r\n\r\nText\r\n\r\n")
    before = (path.read_bytes(), path.stat().st_mtime_ns)

    sync(store)
    read(store, "note")

    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_editing_a_file_by_hand_changes_what_is_recalled(store: Store) -> None:
    remembered = remember(store, Draft("Deploys", "We deploy from main."))
    remembered.path.write_text(
        remembered.path.read_text(encoding="utf-8").replace("main", "release"), encoding="utf-8"
    )

    assert sync(store).modified == 1

    assert ids_found(store, "release") == [remembered.memory.id]
    assert recall(store, Query("deploy")).hits[0].text == "We deploy from release."


def test_a_deleted_file_is_not_recalled(store: Store) -> None:
    remembered = remember(store, Draft("Deploys", "We deploy from main."))
    remembered.path.unlink()

    assert sync(store).removed == 1
    assert ids_found(store, "deploy") == []


def test_a_file_moved_to_the_archive_is_archived_and_back_again(store: Store) -> None:
    remembered = remember(store, Draft("Deploys", "We deploy from main."))
    archive = store.vaults[-1].root / "archive" / remembered.path.name
    remembered.path.rename(archive)
    sync(store)

    assert ids_found(store, "deploy") == []
    (hit,) = recall(store, Query("deploy", filter=Filter(statuses=ANY_STATUS))).hits
    assert hit.status is Status.ARCHIVED

    archive.rename(remembered.path)
    sync(store)
    assert ids_found(store, "deploy") == [remembered.memory.id]


def test_a_file_that_cannot_be_read_is_reported_and_stops_nothing(store: Store) -> None:
    (knowledge(store) / "bad.md").write_text("---\ntitle: a\ntitle: b\n---\nx\n", encoding="utf-8")
    (knowledge(store) / "good.md").write_text("The good one.\n", encoding="utf-8")

    report = sync(store)

    (problem,) = report.unreadable
    assert (Path(problem.path).name, problem.line) == ("bad.md", 3)
    assert ids_found(store, "good") == ["good"]


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS refuses such a name")
def test_a_folder_that_cannot_be_looked_into_is_reported_and_its_memories_stay(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = store.vaults[-1].root / "knowledge" / "mounted"
    folder.mkdir(parents=True)
    (folder / "inside.md").write_text("# Lighthouse inside", encoding="utf-8")
    sync(store)
    scandir = os.scandir

    def failing(path: str | Path) -> object:
        if os.fspath(path) == str(folder):
            raise OSError(errno.EIO, "Input/output error")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    for _ in range(2):
        (problem,) = sync(store).unreadable
        assert problem.path == str(folder)
        assert "cannot be read" in problem.reason
        assert ids_found(store, "lighthouse") == ["inside"]
    assert any("Not taken in: 1 file" in need for need in needs_of(status(store, has_key=False)))

    monkeypatch.undo()
    assert sync(store).unreadable == []
    assert ids_found(store, "lighthouse") == ["inside"]


def test_folders_may_be_as_deep_as_the_person_likes(store: Store) -> None:
    folder = (store.vaults[-1].root / "knowledge").joinpath(*["deep"] * 60)
    folder.mkdir(parents=True)
    (folder / "bottom.md").write_text("# Lighthouse at the bottom", encoding="utf-8")

    sync(store)

    assert ids_found(store, "lighthouse") == ["bottom"]


def test_a_file_whose_name_is_not_utf8_is_reported_and_stops_nothing(store: Store) -> None:
    folder = store.user_vault.root / "knowledge"
    folder.mkdir(parents=True)
    (folder / "caf\udce9.md").write_text("It opens at nine.", encoding="utf-8")
    (folder / "good.md").write_text("Flamingos are pink.", encoding="utf-8")
    report = sync(store)
    assert [(problem.path, problem.reason) for problem in report.unreadable] == [
        (f"{folder}/caf\\xe9.md", "has a name that is not UTF-8; rename it")
    ]
    assert recall(store, Query("pink flamingos")).hits[0].id == "good"
    take_in(store, store.user_vault, folder / "caf\udce9.md")
    assert sync(store).changed == 0


@pytest.mark.parametrize("seconds", [15_000_000_000, -15_000_000_000], ids=["2445", "1494"])
def test_a_file_with_a_date_of_another_age_stops_nothing(store: Store, seconds: int) -> None:
    path = knowledge(store) / "odd.md"
    path.write_text("Flamingos are pink.", encoding="utf-8")
    os.utime(path, (seconds, seconds))
    assert sync(store).added == 1
    assert ids_found(store, "pink flamingos") == ["odd"]
    assert read(store, "odd").memory.title == "odd"
    assert sync(store).changed == 0


def test_a_file_that_broke_keeps_its_last_good_memory_until_it_is_mended(store: Store) -> None:
    path = knowledge(store) / "plan.md"
    path.write_text("---\ntitle: Plan\n---\nAlpha.\n", encoding="utf-8")
    sync(store)
    path.write_text("---\ntitle: Plan\ntitle: Plan\n---\nBeta.\n", encoding="utf-8")

    assert len(sync(store).unreadable) == 1
    assert ids_found(store, "alpha") == ["plan"]

    path.write_text("---\ntitle: Plan\n---\nGamma.\n", encoding="utf-8")
    assert sync(store).unreadable == []
    assert ids_found(store, "gamma") == ["plan"]
    assert ids_found(store, "alpha") == []


def test_an_id_whose_file_was_never_read_is_answered_with_what_is_wrong_with_it(store: Store) -> None:
    path = remember(store, Draft("Plan", "Alpha.")).path.with_name("New plan.md")
    path.write_text("---\ntags:\n\t- x\n---\nBeta.\n", encoding="utf-8")
    sync(store)

    with pytest.raises(NotFound) as caught:
        read(store, "new-plan")

    assert f"not taken in: {path}:3: a tab stands where only spaces may." in caught.value.hint


def test_hidden_and_other_files_are_no_memories(store: Store) -> None:
    for name in (".hidden.md", "note.txt", "~a.md"):
        (knowledge(store) / name).write_text("never mind\n", encoding="utf-8")

    assert (sync(store).added, sync(store).unreadable) == (0, [])


def test_conflict_copies_are_no_memories_and_are_named_until_they_are_settled(store: Store) -> None:
    path = remember(store, Draft("Plan", "Alpha.", id="plan")).path
    copy = path.with_name("plan.sync-conflict-20261120-091203-ABC.md")
    copy.write_bytes(path.read_bytes().replace(b"Alpha", b"Beta"))
    lone = path.with_name("gone (conflicted copy).md")
    lone.write_text("Gamma.", encoding="utf-8")

    for _ in range(2):
        assert [(problem.path, problem.reason) for problem in sync(store).unreadable] == [
            (
                str(lone),
                "is the copy that a sync service made when two machines changed gone.md, which is gone:"
                " rename this copy to gone.md, or delete it",
            ),
            (
                str(copy),
                "is the copy that a sync service made when two machines changed plan.md:"
                " put what you need of it there, and delete this copy",
            ),
        ]
    assert any("2 files" in need for need in needs_of(status(store, has_key=False)))
    assert ids_found(store, "beta gamma") == []
    assert ids_found(store, "alpha") == ["plan"]

    copy.unlink()
    lone.rename(path.with_name("gone.md"))
    assert sync(store).unreadable == []
    assert ids_found(store, "gamma") == ["gone"]


def test_what_is_said_of_a_conflict_copy_is_true_when_its_original_goes_and_comes_back(store: Store) -> None:
    path = remember(store, Draft("Plan", "Alpha.", id="plan")).path
    copy = path.with_name("plan (conflicted copy).md")
    copy.write_bytes(path.read_bytes())
    aside = store.home / "plan.md"
    told = [sync(store).unreadable[0].reason]

    path.rename(aside)
    told.append(sync(store).unreadable[0].reason)
    aside.rename(path)
    told.append(sync(store).unreadable[0].reason)

    assert ["gone" in reason for reason in told] == [False, True, False]


def test_a_conflict_copy_of_the_ledger_counts_nothing_twice_and_is_named(store: Store) -> None:
    remember(store, Draft("Plan", "Alpha."))
    (ledger,) = store.ledger.paths()
    copy = ledger.with_name(f"{ledger.stem}.sync-conflict-20261120-091203-ABC.jsonl")
    copy.write_bytes(ledger.read_bytes())

    (problem,) = sync(store).unreadable

    assert store.ledger.paths() == [ledger]
    assert problem.path == str(copy)
    assert f"changed {ledger.name}: add the lines that only it has" in problem.reason
    assert any("1 file;" in need for need in needs_of(status(store, has_key=False)))


@pytest.mark.feature("D-04")
def test_the_folder_tells_the_kind(store: Store) -> None:
    for kind in Kind:
        folder = store.user_vault.root / kind.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{kind.value}-file.md").write_text("words of it\n", encoding="utf-8")

    sync(store)

    assert {hit.kind for hit in recall(store, Query("words")).hits} == set(Kind)


def test_a_second_process_sees_what_the_first_wrote(open_here: Open, store: Store) -> None:
    remembered = remember(store, Draft("Deploys", "We deploy from main."))

    assert ids_found(open_here().store(), "deploy") == [remembered.memory.id]


@pytest.mark.parametrize("place", ["a-copy", "z-copy"], ids=["before", "after"])
def test_a_copy_of_the_store_is_read_and_changed_for_itself(
    store: Store, open_here: Open, memory_dir: Path, place: str
) -> None:
    flamingo = remember(store, Draft("Flamingo", "Flamingos are pink."))
    other = remember(store, Draft("Heron", "Herons are grey."))
    copy = memory_dir.with_name(place)
    shutil.copytree(memory_dir, copy)

    copied = open_here(MEMORY_DIR=str(copy)).store()
    assert read(copied, flamingo.memory.id).path.is_relative_to(copy)
    assert sync(copied).unreadable == []
    revise(copied, flamingo.memory.id, Revision(text="Flamingos are red."))
    forget(copied, other.memory.id)

    assert ids_found(copied, "pink flamingos herons") == [flamingo.memory.id]
    assert flamingo.path.read_text(encoding="utf-8").endswith("Flamingos are pink.\n")
    assert other.path.exists()


def test_unchanged_files_are_not_read_again(store: Store) -> None:
    for number in range(5):
        path = remember(store, Draft(f"Note {number}", "Text.")).path
        os.utime(path, ns=(10**18 + number, 10**18 + number))
    sync(store)
    with store.database.read() as db:
        before = db.execute("SELECT max(generation) FROM changes").fetchone()

    assert sync(store).changed == 0
    with store.database.read() as db:
        assert db.execute("SELECT max(generation) FROM changes").fetchone() == before
