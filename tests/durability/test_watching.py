"""6.4: a running server finds what is changed by hand, whichever way an editor writes."""

import contextlib
import os
import signal
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcp_server.adapters import files
from tests.adapters.project.repositories import git
from tests.durability.served import Served, eventually
from tests.live import ROOT

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="who watches is seen in /proc, which is not there"
)
COUNT = 1000  # files of a burst
READINGS = 20  # of every file


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched")
    (folder / "shop").mkdir()
    return folder


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Served]:
    with Served(place / "memory", place / "shop", HOME=str(place)) as served:
        served.greet()
        eventually(lambda: watches(served), "the first server watches")
        yield served


@pytest.fixture
def path(server: Served) -> Path:
    """The file of a memory that says 'heron'."""
    answer = server.call("remember", title="A bird", content="It is a heron.", level="user")
    path_remembered = Path(answer.splitlines()[1])
    assert path_remembered.is_file(), answer
    return path_remembered


def watches(served: Served) -> bool:
    """Tell whether the server holds an inotify handle, which only its watcher does."""
    handles = Path(f"/proc/{served.process.pid}/fd")
    for number in os.listdir(handles):
        with contextlib.suppress(OSError):
            if "inotify" in os.readlink(handles / number):
                return True
    return False


def finds(served: Served, word: str) -> Callable[[], bool]:
    return lambda: f"  It is a {word}." in served.call("recall", query=word).replace("| ", " ")


def changed(path: Path, word: str) -> str:
    return path.read_text(encoding="utf-8").replace("heron", word)


def overwrite(path: Path) -> None:
    path.write_text(changed(path, "falcon"), encoding="utf-8")


def write_in_two_goes(path: Path) -> None:
    text = changed(path, "falcon")
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text[:20])
        handle.flush()
        handle.write(text[20:])


def save_like_vim(path: Path) -> None:
    text = changed(path, "falcon")
    (path.parent / "4913").touch()
    (path.parent / "4913").unlink()
    path.rename(f"{path}~")
    path.write_text(text, encoding="utf-8")
    Path(f"{path}~").unlink()


def save_with_vim(path: Path) -> None:
    substitute = ["vim", "-u", "NONE", "-N", "-es", "-c", "%s/heron/falcon/", "-c", "wq", str(path)]
    try:
        subprocess.run(substitute, stdin=subprocess.DEVNULL, check=True)
    except FileNotFoundError:
        pytest.skip("vim is not installed")


def save_atomically(path: Path) -> None:
    new = path.with_name(f".{path.name}.tmp-1234")
    new.write_text(changed(path, "falcon"), encoding="utf-8")
    new.replace(path)


def save_with_sed(path: Path) -> None:
    subprocess.run(["sed", "-i.bak", "s/heron/falcon/", str(path)], check=True)


def save_with_the_same_size_and_time(path: Path) -> None:
    before = path.stat()
    path.write_text(changed(path, "hobby"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    overwrite_hobby = path.read_text(encoding="utf-8").replace("hobby", "falcon")
    path.write_text(overwrite_hobby, encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "save",
    [
        overwrite,
        write_in_two_goes,
        save_like_vim,
        save_with_vim,
        save_atomically,
        save_with_sed,
        save_with_the_same_size_and_time,
    ],
)
def test_a_saved_file_is_found_by_what_it_says_now(
    server: Served, path: Path, save: Callable[[Path], None]
) -> None:
    save(path)

    eventually(finds(server, "falcon"), "the edit is found")
    assert "heron" not in server.call("read_memory", id=path.stem)
    server.call("forget", id=path.stem, forever=True)


def test_a_renamed_file_keeps_its_id_and_a_deleted_one_is_gone(server: Served, path: Path) -> None:
    renamed = path.with_name("Birds of prey.md")
    path.rename(renamed)
    eventually(lambda: str(renamed) in server.call("read_memory", id=path.stem), "the new name is known")

    renamed.unlink()
    eventually(lambda: path.stem not in server.call("list_memories"), "the memory is not listed any more")


def test_new_files_and_whole_folders_are_found(server: Served, place: Path) -> None:
    knowledge = place / "memory" / "knowledge"
    (knowledge / "Kites.md").write_text("# Kites\n\nIt is a kite.\n", encoding="utf-8")
    (knowledge / "made here").mkdir()
    (knowledge / "made here" / "Owls.md").write_text("# Owls\n\nIt is a owl.\n", encoding="utf-8")
    outside = place / "outside"
    outside.mkdir()
    (outside / "Swifts.md").write_text("# Swifts\n\nIt is a swift.\n", encoding="utf-8")
    outside.rename(knowledge / "moved here")

    for word in ("kite", "owl", "swift"):
        eventually(finds(server, word), f"{word} is found")

    (knowledge / "moved here").rename(outside)
    eventually(lambda: "swifts" not in server.call("list_memories"), "what was moved away is gone")


def test_reading_all_files_causes_no_work(server: Served, place: Path, path: Path) -> None:
    index = place / "memory" / "memory.db"
    quiet = commits(index)
    path.write_text(changed(path, "grebe"), encoding="utf-8")
    eventually(finds(server, "grebe"), "the first edit is found")
    one_edit = commits_since(quiet, index)
    knowledge = list((place / "memory").rglob("*.md"))

    quiet = commits(index)
    for file in knowledge * READINGS:
        file.read_bytes()
    path.write_text(path.read_text(encoding="utf-8").replace("grebe", "plover"), encoding="utf-8")
    eventually(finds(server, "plover"), "the second edit is found")

    assert 0 < commits_since(quiet, index) <= 2 * one_edit + 2


def commits_since(quiet: tuple[bytes, int], index: Path) -> int:
    """Count the transactions since *quiet*; a log that began anew has those alone."""
    log, count = commits(index)
    return count - quiet[1] if log == quiet[0] else count


def commits(index: Path) -> tuple[bytes, int]:
    """Return which log the index has, and count the transactions in it."""
    with open(f"{index}-wal", "rb") as log:
        header = log.read(32)
        size = struct.unpack(">I", header[8:12])[0]
        count = 0
        while len(frame := log.read(24 + size)) == 24 + size:
            if frame[8:16] != header[16:24]:
                break
            count += frame[4:8] != bytes(4)
    return header[16:24], count


def test_of_two_servers_one_watches_and_the_other_takes_over(server: Served, place: Path, path: Path) -> None:
    with Served(place / "memory", place / "shop", HOME=str(place)) as second:
        second.greet()
        with Served(place / "memory", place / "shop", HOME=str(place)) as third:
            third.greet()
            assert [watches(server_asked) for server_asked in (server, second, third)] == [True, False, False]
            overwrite(path)
            eventually(finds(second, "falcon"), "what the first took in is found by the second")

            server.process.send_signal(signal.SIGKILL)
            eventually(lambda: watches(second) != watches(third), "exactly one takes over")
            path.write_text(path.read_text(encoding="utf-8").replace("falcon", "dipper"), encoding="utf-8")
            eventually(finds(third, "dipper"), "the edit is found after the first was killed")


def test_what_was_edited_while_no_server_ran_is_found_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    with Served(tmp_path / "memory", tmp_path / "shop") as first:
        answer = first.greet().call("remember", title="A bird", content="It is a heron.")
        eventually(finds(first, "heron"), "the index was made")
    path = Path(answer.splitlines()[1])
    overwrite(path)

    with Served(tmp_path / "memory", tmp_path / "shop") as second:
        eventually(finds(second.greet(), "falcon"), "the edit is found")


def test_a_git_checkout_of_thousands_of_files_converges(tmp_path: Path) -> None:
    repository = tmp_path / "shop"
    knowledge = repository / ".claude-memory" / "knowledge"
    knowledge.mkdir(parents=True)

    git(repository, "init", "-b", "one")
    for number in range(COUNT):
        (knowledge / f"note-{number}.md").write_text(f"# Note {number}\n\nIt is a heron.\n", encoding="utf-8")
    git(repository, "add", "-A")
    git(repository, "commit", "-m", "one")
    git(repository, "checkout", "-b", "two")
    for number in range(COUNT):
        path = knowledge / f"note-{number}.md"
        if number % 4 == 0:
            path.unlink()
        else:
            path.write_text(f"# Note {number}\n\nIt is a falcon {number}.\n", encoding="utf-8")
        (knowledge / f"other-{number}.md").write_text(f"# Other {number}\n", encoding="utf-8")
    git(repository, "add", "-A")
    git(repository, "commit", "-m", "two")

    with Served(tmp_path / "memory", repository) as server:
        server.greet()
        index = tmp_path / "memory" / "memory.db"
        converges(index, knowledge)
        for branch in ("one", "two"):
            git(repository, "checkout", branch)
            converges(index, knowledge)
        assert server.ask("ping")["result"] == {}


def converges(index: Path, knowledge: Path) -> None:
    on_disk = {str(path): files.digest(path.read_bytes()) for path in knowledge.glob("*.md")}
    eventually(lambda: says(index) == on_disk, "the index says what the files say")


def says(index: Path) -> dict[str, str]:
    try:
        db = sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True)
        try:
            return dict(db.execute("SELECT path, digest FROM memories").fetchall())
        finally:
            db.close()
    except sqlite3.OperationalError:
        return {}


def test_what_the_library_warns_of_reaches_nobody() -> None:
    warning = (
        "warnings.warn_explicit('again', RuntimeWarning, 'f.py', 1, module='watchdog.observers.inotify_c')"
    )
    code = f"import warnings; import mcp_server.adapters.watcher; {warning}"

    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert process.stderr == ""
