"""C3, C5: a disk that is full, limited or read-only loses nothing, and says so in a sentence."""

import contextlib
import errno
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcp_server.actions.context.notice import notice
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.status import status
from mcp_server.adapters import files, vault
from mcp_server.adapters.guarded_replace import TEMPORARY_PREFIX
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import AFTER_REFUSAL
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.doors.shown.state import needs
from mcp_server.store import Store
from tests.conftest import Run
from tests.hook_process import run_hook
from tests.opened import opened_at, run_daybook

ROOT = Path(__file__).resolve().parents[2]
SIZE = 8 << 20  # bytes of the small disk
BALLAST = 6 << 20  # bytes of it that are taken until space returns
LONG = "word " * 4000  # 20,000 characters


@pytest.fixture
def on_small_disk(small_disk: Path) -> Iterator[Callable[[], Opened]]:
    """Open the store that lies on the small disk, as a process of its own would."""
    opened: list[Opened] = []

    def open_() -> Opened:
        opened.append(opened_at(small_disk / "memory"))
        return opened[-1]

    yield open_
    for store in opened:
        store.database.close()
        if not store.database.path.is_relative_to(small_disk):
            shutil.rmtree(store.database.path.parent)


def texts(store: Store) -> dict[str, str]:
    """Return the text of every file that is listed, by its id."""
    return {
        Path(stamp.path).stem: read(store, Path(stamp.path).stem).memory.text
        for stamp in vault.stamps(store.user_vault)
    }


def fill(disk: Path) -> None:
    """Take all room that *disk* has."""
    with contextlib.suppress(OSError), open(disk / "ballast", "wb", buffering=0) as ballast:
        while ballast.write(bytes(4096)):
            pass


def make_read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def take_all_files(disk: Path) -> None:
    """Let *disk*, which has room, take no new file."""
    room = os.statvfs(disk)
    files_there = room.f_files - room.f_ffree
    subprocess.run(["mount", "-o", f"remount,nr_inodes={files_there}", str(disk)], check=True)


def test_a_full_disk_refuses_and_keeps_what_was_there(
    small_disk: Path, on_small_disk: Callable[[], Opened]
) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(BALLAST))
    store = on_small_disk().store()
    first = remember(store, Draft("first", "there before")).memory.id
    acknowledged = {first: "there before"}
    assert recall(store, Query("there before")).hits[0].id == first
    with pytest.raises(OSError) as full:
        for number in range(200):
            acknowledged[remember(store, Draft(f"long {number}", LONG)).memory.id] = LONG.strip()
    assert full.value.errno == errno.ENOSPC

    with pytest.raises(OSError) as full:
        revise(store, first, Revision(text=LONG))
    assert full.value.errno == errno.ENOSPC
    assert recall(store, Query("there before")).hits[0].id == first

    ballast.unlink()
    later = remember(store, Draft("later", "quokkas came")).memory.id
    acknowledged[later] = "quokkas came"
    sync(store)
    assert recall(store, Query("quokkas")).hits[0].id == later
    assert texts(store) == acknowledged
    assert not list(small_disk.rglob(f"{TEMPORARY_PREFIX}*"))


def test_on_a_full_disk_every_reading_command_answers_and_says_why_the_index_does_not(
    small_disk: Path, on_small_disk: Callable[[], Opened], tmp_path: Path
) -> None:
    opened = on_small_disk()
    memory_id = remember(opened.store(), Draft("known", "quokkas live on Rottnest")).memory.id
    opened.database.close()
    fill(small_disk)

    for command, shown in (
        (["recall", "quokkas"], "known"),
        (["read", memory_id], "known"),
        (["list"], "known"),
        (["status"], "1 memory for no project"),
        (["recall", "quokkas", "--json"], "known"),
    ):
        process = run_daybook(small_disk / "memory", *command, TMPDIR=str(tmp_path))
        assert process.returncode == 0, process.stderr
        assert shown in process.stdout
        assert "The disk is full" in process.stderr
        assert "rebuild" not in process.stderr


@pytest.mark.parametrize("taken", [fill, take_all_files])
def test_a_command_that_a_full_disk_refuses_gives_the_reason_once_and_no_answer_from_files(
    small_disk: Path, tmp_path: Path, taken: Callable[[Path], None]
) -> None:
    run_daybook(small_disk / "memory", "remember", "Quokkas | They live on Rottnest.")
    seed = tmp_path / "seed.md"
    seed.write_text("# Lamps\n\nThe lamps are lit at dusk.\n")
    taken(small_disk)

    for command in (["remember", "New | Lamps."], ["tidy"], ["brief"], ["seed", str(seed)], ["work"]):
        process = run_daybook(small_disk / "memory", *command, TMPDIR=str(tmp_path))
        assert process.returncode in (7, 9), (command, process.stderr)
        assert re.fullmatch(
            r"daybook: The disk (is full|refused).*\n(         Make room on the disk of .*\n)?",
            process.stderr,
        )
    for command in (["export", "out"], ["export", "out", "--format", "json"], ["graph", "--mermaid", "out"]):
        process = run_daybook(small_disk / "memory", *command, cwd=small_disk, TMPDIR=str(tmp_path))
        assert re.fullmatch(r"daybook: out cannot be written: .*\n         Name a place .*\n", process.stderr)


@pytest.mark.parametrize(
    "refuse, reason", [(fill, "No space left on device"), (make_read_only, "Read-only file system")]
)
def test_a_disk_that_refuses_keeps_nothing_of_what_a_person_wanted_written_there(
    small_disk: Path, tmp_path: Path, refuse: Callable[[Path], None], reason: str
) -> None:
    run_daybook(tmp_path / "memory", "remember", "Quokkas | They live on Rottnest.")
    refuse(small_disk)

    for command in (
        ["export", "out"],
        ["export", "out.json", "--format", "json"],
        ["graph", "--mermaid", "out.md"],
    ):
        refused = run_daybook(tmp_path / "memory", *command, cwd=small_disk)
        assert (refused.returncode, reason in refused.stderr) == (4, True), refused.stderr
    assert [path for path in small_disk.rglob("*") if path.name not in ("ballast", "out")] == []
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    (small_disk / "ballast").unlink(missing_ok=True)
    exported = run_daybook(tmp_path / "memory", "export", "out", cwd=small_disk)

    assert exported.stdout == "out holds 1 memory now.\n", exported.stderr


def test_on_a_full_disk_doctor_blames_the_disk_alone(small_disk: Path, tmp_path: Path) -> None:
    run_daybook(small_disk / "memory", "remember", "Quokkas | They live on Rottnest.")
    fill(small_disk)

    process = run_daybook(small_disk / "memory", "doctor", "--json", TMPDIR=str(tmp_path), EMBEDDING_MODEL="")

    failed = [check for check in json.loads(process.stdout) if not check["well"]]
    assert process.returncode == 1
    no_index = "The disk is full, so the index cannot be used."
    assert {check["name"]: check["seen"] for check in failed} == {
        "store": "No space left on device",
        **dict.fromkeys(("index", "files", "embedding model", "capture"), no_index),
    }
    for check in failed:
        assert check["advice"].startswith("Make room")


def test_a_writer_that_trusts_one_write_leaves_half_a_file_on_a_full_disk(small_disk: Path) -> None:
    """The planted bug: this is what every byte is counted for."""
    data = bytes(SIZE + 1)
    path = small_disk / "half.md"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(handle, data)  # raises nothing
    os.close(handle)
    assert path.stat().st_size < len(data)
    path.unlink()

    with pytest.raises(OSError):
        files.write_new(path, data)
    assert os.listdir(small_disk) == []


def test_a_limit_on_the_size_of_files_is_an_error_and_no_half_file(run_program: Run, tmp_path: Path) -> None:
    report = run_program("limited_writer", tmp_path)

    assert report["raised"] == ["OSError", "OSError"]
    assert report["known"] == "short"
    assert report["after"] == len("long " * 2000) - 1
    assert [name for name in report["files"] if name != files.LOCK_NAME] == [
        f"{id_}.md" for id_ in report["ids"]
    ]


def test_a_read_only_disk_still_answers_and_says_why_it_cannot_remember(
    small_disk: Path, on_small_disk: Callable[[], Opened], tmp_path: Path
) -> None:
    opened = on_small_disk()
    memory_id = remember(opened.store(), Draft("known", "quokkas live on Rottnest")).memory.id
    opened.database.close()
    make_read_only(small_disk)

    store = on_small_disk().store()
    assert [hit.id for hit in recall(store, Query("quokkas"), given_to="s").hits] == [memory_id]
    assert read(store, memory_id).memory.text == "quokkas live on Rottnest"
    for refused in (
        lambda: remember(store, Draft("new", "text")),
        lambda: revise(store, memory_id, Revision(text="text")),
    ):
        with pytest.raises(OSError) as error:
            refused()
        assert error.value.errno == errno.EROFS

    process = run_daybook(store.home, "remember", "New | text", TMPDIR=str(tmp_path))
    assert process.returncode == 9
    assert process.stderr.startswith(f"daybook: The disk refused {store.home}")
    assert process.stderr.endswith(f": Read-only file system. {AFTER_REFUSAL}\n")

    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert remember(store, Draft("new", "text")).path.exists()


def test_a_store_that_is_deleted_and_made_again_works_without_a_restart(
    store: Store, memory_dir: Path
) -> None:
    remember(store, Draft("first", "was here"))
    shutil.rmtree(memory_dir)
    assert recall(store, Query("first")).hits == ()

    second = remember(store, Draft("second", "quokkas came")).memory.id

    assert [hit.id for hit in recall(store, Query("quokkas first")).hits] == [second]


@pytest.mark.parametrize("has_index", [True, False])
def test_a_session_on_a_read_only_disk_is_shown_what_there_is_and_told_that_nothing_is_kept(
    small_disk: Path, on_small_disk: Callable[[], Opened], has_index: bool
) -> None:
    opened = on_small_disk()
    remember(opened.store(), Draft("known", "quokkas live on Rottnest"))
    opened.database.close()
    if not has_index:
        for path in opened.home.glob("memory.db*"):
            path.unlink()
    make_read_only(small_disk)

    told = run_hook(opened.home, "SessionStart", {"source": "startup"}, folder=opened.folder)

    answer = json.loads(told.stdout)
    assert answer["systemMessage"].endswith("so nothing is remembered or captured.")
    assert ("quokkas live on Rottnest" in str(answer.get("hookSpecificOutput"))) == has_index


@pytest.mark.parametrize("state", ["full", "without room for a file", "read only"])
def test_that_nothing_can_be_stored_is_told_at_once(
    small_disk: Path, on_small_disk: Callable[[], Opened], state: str
) -> None:
    opened = on_small_disk()
    remember(opened.store(), Draft("Lamps", "Lit at dusk."))
    assert not needs(status(opened.store(), has_key=False))
    opened.database.close()
    if state == "full":
        fill(small_disk)
    elif state == "without room for a file":
        take_all_files(small_disk)
    else:
        make_read_only(small_disk)

    store = on_small_disk().store()

    (need,) = needs(status(store, has_key=False))
    assert need.startswith(f"{store.home} ")
    assert need.endswith("so nothing is remembered or captured.")
    assert sentence(notice(store, identity="")) == f"Daybook: {need}"
