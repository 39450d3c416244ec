"""What killed processes leave unfinished is swept wherever Daybook writes; a person's words are not."""

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.status.checks import CaughtEdits, Check, CheckedPart
from mcp_server.actions.status.doctor import doctor
from mcp_server.actions.status.status import status
from mcp_server.actions.upkeep.maintain import clean_up
from mcp_server.adapters import files, guarded_replace, leftovers
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.doors.shown.upkeep import cleaned
from mcp_server.store import Store
from tests.conftest import Run
from tests.durability.served import Served, environment, eventually

WORDS = b"what the person saved"


@pytest.fixture
def littered(run_program: Run, quick_folder: Path) -> tuple[Path, list[Path]]:
    """The folder of a store and a project, with what every verb leaves there when it is killed."""
    report = run_program("killed_at_writes", quick_folder)
    idle = {"review", "log_output"}  # they write no file, or add a line to one
    assert {verb for verb, kills in report["killed"].items() if not kills} <= idle
    unfinished = sorted(Path(path) for path in report["left"])
    assert len({path.parent for path in unfinished}) >= 12, "the verbs write into more folders"
    assert {path.relative_to(quick_folder).parts[0] for path in unfinished} >= {"memory", "shop", "letters"}
    return quick_folder, unfinished


def age(unfinished: list[Path]) -> None:
    for path in unfinished:
        path.write_bytes(b"half of a te")
        os.utime(path, (0, time.time() - leftovers.STALE - 1))


def still_there(folder: Path) -> list[Path]:
    return sorted(folder.rglob(f"{guarded_replace.TEMPORARY_PREFIX}*"))


def test_cleaning_the_worker_and_the_server_each_sweep_whatever_any_verb_leaves(
    littered: tuple[Path, list[Path]],
) -> None:
    folder, unfinished = littered
    settings = environment(folder / "memory", folder / "shop")
    store = Opened(settings, folder=folder / "shop").store()

    clean_up(store, dry_run=False)
    assert still_there(folder) == unfinished, "what is younger than an hour may be finished yet"

    age(unfinished)
    assert sorted(set(clean_up(store, dry_run=True).litter) & set(unfinished)) == unfinished
    assert still_there(folder) == unfinished, "a plan changes nothing"
    clean_up(store, dry_run=False)
    assert still_there(folder) == []
    assert not list((folder / "shop").glob(".daybook*")), "nothing else of ours is left with the person"
    assert not list((folder / "letters").glob(".daybook*"))
    store.database.close()

    age(unfinished)
    subprocess.run([sys.executable, "-m", "mcp_server.doors.worker"], env=settings, cwd=folder, check=True)
    # The worker works for no project of its own; what it cannot know of is for a session there.
    assert still_there(folder) == []

    age(unfinished)
    with Served(folder / "memory", folder / "shop") as server:
        server.greet()
        eventually(lambda: not still_there(folder), "the server sweeps when it begins")


def taken_out(folder: Path, *, says: bytes, old: bytes, new: bytes) -> Path:
    """Make a file as a kill leaves it that was taken out of the way of a change."""
    path = folder / "-".join((guarded_replace.temporary_name(), files.digest(old), files.digest(new)))
    path.write_bytes(says)
    return path


def test_what_a_person_saved_in_a_change_that_was_killed_is_kept_and_told(store: Store) -> None:
    knowledge = remember(store, Draft("A bird", "a heron", level=Level.USER)).path.parent
    taken_aside = taken_out(knowledge, says=WORDS, old=b"old", new=b"new")

    report = clean_up(store, dry_run=False)

    assert taken_aside.read_bytes() == WORDS
    assert report.kept == [taken_aside]
    assert str(taken_aside) in str(cleaned(report).rows)
    assert any(str(taken_aside) in need for need in needs_of(status(store, has_key=False)))
    (edits,) = [check for check in doctor(store, plugin=Path("/")) if check.part is CheckedPart.EDITS]
    assert edits == Check(CheckedPart.EDITS, False, CaughtEdits((taken_aside,)))

    taken_aside.unlink()
    assert clean_up(store, dry_run=False).kept == []


@pytest.mark.parametrize("says", [b"old", b"new"])
def test_what_was_taken_out_and_is_in_the_file_or_was_replaced_is_litter(tmp_path: Path, says: bytes) -> None:
    taken_out(tmp_path, says=says, old=b"old", new=b"new")

    young = leftovers.sweep([tmp_path])
    assert (young.litter, young.kept) == ([], [])
    assert len(leftovers.sweep([tmp_path], now=time.time() + leftovers.STALE + 1).litter) == 1
    assert list(tmp_path.iterdir()) == []


def test_forgetting_for_good_takes_what_a_revision_took_out_along(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system does not say who writes a file, what a revision replaced stays for an hour."""
    monkeypatch.delattr(fcntl, "F_SETLEASE", raising=False)
    memory_id = remember(store, Draft("A bird", "an old heron", level=Level.USER)).memory.id
    revise(store, memory_id, Revision(text="a new heron"))
    knowledge = store.home / "knowledge"
    assert [b"old" in path.read_bytes() for path in still_there(knowledge)] == [True]

    forget(store, memory_id, forever=True)

    assert [path.name for path in knowledge.iterdir()] == [files.LOCK_NAME]


def test_what_only_looks_like_ours_and_what_lies_behind_a_link_stays(tmp_path: Path) -> None:
    tree, other = tmp_path / "tree", tmp_path / "other"
    tree.mkdir()
    other.mkdir()
    for name in (".daybook-notes.md", ".daybook-0123", ".daybook.lock", "a.daybook-0123456789abcdef"):
        (tree / name).touch()
    (other / ".daybook-0123456789abcdef").touch()
    (tree / "link").symlink_to(other)
    before = sorted(tmp_path.rglob("*"))

    leftovers.sweep(trees=[tree], age=0)

    assert sorted(tmp_path.rglob("*")) == before
