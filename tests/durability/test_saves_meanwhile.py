"""A save by an editor, at every line of what changes or takes away its file: no word of it is lost."""

import ctypes
import fcntl
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from mcp_server.adapters import exchange, files, leftovers, moving
from mcp_server.core.errors import Conflict
from tests.conftest import Run
from tests.durability.stepped import WAYS, Act, Editor, killed, stepped

OLD, NEW, WORDS, LATER = b"what it said", b"what we write", b"what the person saved", b"and saved once more"
SAVES = 250
FAR = 2**40  # a time after which whatever was left unfinished is old


class Place:
    """A memory's file in a folder of its own, and where it is to be moved."""

    def __init__(self, folder: Path) -> None:
        self.path, self.target = folder / "knowledge" / "a.md", folder / "trash" / "a.md"
        files.write_new(self.path, OLD)
        files.make_folder(self.target.parent)

    def replace(self) -> None:
        files.replace(self.path, NEW, expected=files.digest(OLD))

    def move(self) -> None:
        moving.move(self.path, self.target)

    def delete(self) -> None:
        files.delete(self.path, expected=files.digest(OLD))

    def holding(self, words: bytes) -> set[str]:
        """Return where those words are when everything that nobody misses has been swept."""
        leftovers.sweep([self.path.parent, self.target.parent], now=FAR)
        return {
            path.name.partition("-")[0] if path.name.startswith(".") else path.parent.name
            for path in (*self.path.parent.iterdir(), *self.target.parent.iterdir())
            if path.read_bytes() == words
        }


@pytest.fixture
def places(quick_folder: Path) -> Iterator[Place]:
    """Places one after the other, each in a new folder."""

    def endless() -> Iterator[Place]:
        number = 0
        while True:
            number += 1
            yield Place(quick_folder / str(number))

    return endless()


def outcome(act: Act, events: Mapping[int, Act]) -> str:
    """Run *act* with *events* between its lines; return what a Conflict says, '' when there is none."""
    try:
        stepped(act, events)
    except Conflict as error:
        return str(error)
    return ""


def lines_of(places: Iterator[Place], verb: str) -> list[str]:
    """Return in which functions the lines are that *verb* runs when what is loaded once is loaded."""
    stepped(getattr(next(places), verb), {})
    return stepped(getattr(next(places), verb), {})


@pytest.mark.parametrize("verb", ["replace", "move", "delete"])
@pytest.mark.parametrize("way", WAYS)
def test_words_saved_at_any_line_are_in_the_file_or_told_of(
    places: Iterator[Place], verb: str, way: str
) -> None:
    conflicts = 0
    for line in range(1, len(lines_of(places, verb)) + 1):
        place = next(places)
        editor = Editor(place.path, way, WORDS)

        conflict = outcome(getattr(place, verb), {line: editor.save})
        editor.finish()

        holders = place.holding(WORDS)
        is_told = conflict and holders
        assert holders & {"knowledge", "trash"} or is_told, f"line {line}: {conflict} {holders}"
        conflicts += bool(conflict)
    in_the_inode = verb == "move" and way not in ("rename", "backup")  # which is moved, with all that comes
    assert conflicts or in_the_inode, "the editor was never in the way: the test tells nothing"


@pytest.mark.parametrize("way", ["rename", "at once"])
def test_words_saved_twice_while_one_file_is_replaced_are_in_the_file_or_beside_it(
    places: Iterator[Place], way: str
) -> None:
    """The second save may hit the file that is there for a moment before the first is put back."""
    lines, beside = lines_of(places, "replace"), 0
    exchanged = lines.index("exchange") + 1
    for first in range(exchanged - 3, exchanged + 6):
        for second in range(first + 1, len(lines) + 30):
            place = next(places)
            earlier, later = Editor(place.path, "rename", WORDS), Editor(place.path, way, LATER)

            conflict = outcome(place.replace, {first: earlier.save, second: later.save})
            if not later.saved:
                later.save()

            assert place.path.read_bytes() == LATER or place.holding(LATER), (first, second, conflict)
            holders = place.holding(WORDS)
            if holders:
                beside += 1
                assert str(next(place.path.parent.glob(".daybook-*"))) in conflict
    assert beside, "no save came between the two exchanges: the test tells nothing"


@pytest.mark.parametrize("verb", ["replace", "move", "delete"])
def test_a_kill_at_any_line_after_a_save_destroys_no_word_of_it(places: Iterator[Place], verb: str) -> None:
    """The save comes right before the file is exchanged or taken away, so that it is what comes out."""
    lines = lines_of(places, verb)
    saved = lines.index("exchange" if verb == "replace" else "take_away") + 1
    line, came_so_far = saved + 1, True
    while came_so_far:
        place = next(places)
        editor = Editor(place.path, "rename", WORDS)

        came_so_far = killed(getattr(place, verb), {saved: editor.save}, line)

        assert place.holding(WORDS), f"killed before line {line}"
        line += 1
    assert line > len(lines), "it never came out: the test tells nothing"


@pytest.mark.parametrize("verb", ["replace", "move", "delete"])
def test_a_kill_at_any_line_leaves_the_old_or_the_new_and_nothing_else(
    places: Iterator[Place], verb: str
) -> None:
    for line in range(1, len(lines_of(places, verb)) + 1):
        place = next(places)

        assert killed(getattr(place, verb), {}, line)

        assert place.holding(OLD) <= {"knowledge", "trash"}
        assert place.holding(OLD) | place.holding(NEW) or verb == "delete"
        assert not list(place.path.parent.glob(".daybook-*"))


@pytest.fixture
def without_exchange(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A system whose library knows no way to exchange two names."""

    def no_library(*_: object, **__: object) -> object:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    exchange._system_call.cache_clear()
    yield
    exchange._system_call.cache_clear()


def test_without_an_exchange_only_a_save_right_before_the_rename_is_overwritten(
    places: Iterator[Place], without_exchange: None
) -> None:
    lost = set()
    lines = lines_of(places, "replace")
    for line, function in enumerate(lines, start=1):
        place = next(places)
        editor = Editor(place.path, "rename", WORDS)

        outcome(place.replace, {line: editor.save})

        if not place.holding(WORDS):
            lost.add(function)

    assert lost <= {"_overwrite", "look", "is_one_of", "move"}, "it was saved before the last comparison"


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="this system never says who writes a file")
@pytest.mark.parametrize("way", WAYS)
def test_where_the_system_does_not_say_who_writes_a_file_it_is_kept_until_that_is_certain(
    places: Iterator[Place], way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(fcntl, "F_SETLEASE")
    for line in range(1, len(lines_of(places, "replace")) + 1):
        place = next(places)
        editor = Editor(place.path, way, WORDS)

        outcome(place.replace, {line: editor.save})
        editor.finish()

        assert place.holding(WORDS), line


def test_an_editor_that_saves_while_a_process_revises_loses_nothing(
    run_program: Run, quick_folder: Path
) -> None:
    """As it comes, not line by line; `programs/saving_editors.py FOLDER 3500 SEED` is the long form."""
    report = run_program("saving_editors", quick_folder, SAVES, 1)

    assert report["lost"] == []
    assert report["saves"] >= SAVES
    assert report["revised"] > SAVES / 10, "there was hardly a revision to race with"
    assert report["conflicts"], "no save ever met a revision: the test tells nothing"


def test_mode_and_attributes_of_a_file_outlive_a_replacement(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.path.chmod(0o640)
    try:
        os.setxattr(place.path, "user.colour", b"red")
        marked = True
    except OSError:
        marked = False

    place.replace()

    assert place.path.stat().st_mode & 0o777 == 0o640
    assert not marked or os.getxattr(place.path, "user.colour") == b"red"
