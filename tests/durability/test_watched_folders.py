"""The watcher's batches: what is told, what is not, and when an empty one comes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.adapters.watcher import watch

NEVER = 100.0  # seconds without a change after which a batch comes: no test waits for it


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """The folders that are to be watched; a test may add one."""
    (tmp_path / "a").mkdir()
    return [tmp_path / "a"]


@pytest.fixture
def batches(folders: list[Path]) -> Iterator[Iterator[set[Path]]]:
    batches_told = watch(lambda: folders, wanted=lambda name: name.endswith(".md"), idle=lambda: NEVER)
    yield batches_told
    batches_told.close()  # type: ignore[attr-defined]


def test_an_empty_batch_says_that_a_folder_is_watched_from_now_on(
    folders: list[Path], batches: Iterator[set[Path]]
) -> None:
    """Who looks at all files then misses nothing: what came before is there, what comes is told."""
    assert next(batches) == set()
    path = folders[0] / "one.md"
    path.write_text("x", encoding="utf-8")
    assert next(batches) == {path}

    other = folders[0].with_name("b")
    other.mkdir()
    folders.append(other)
    assert next(batches) == set()
    three = other / "three.md"
    three.write_text("x", encoding="utf-8")
    assert next(batches) == {three}


def test_reading_and_other_files_are_not_told(folders: list[Path], batches: Iterator[set[Path]]) -> None:
    files = [folders[0] / f"{number}.md" for number in range(20)]
    for path in files:
        path.write_text("x", encoding="utf-8")
    assert next(batches) == set()

    for _ in range(20):
        for path in files:
            path.read_bytes()
        (folders[0] / ".daybook-1234").write_text("x", encoding="utf-8")
        (folders[0] / ".daybook-1234").unlink()
    last = folders[0] / "last.md"
    last.write_text("x", encoding="utf-8")

    assert next(batches) == {last}


def test_a_folder_made_anew_is_watched_again(folders: list[Path], batches: Iterator[set[Path]]) -> None:
    assert next(batches) == set()
    folders[0].rename(folders[0].with_name("kept"))  # so that its inode is not given to another
    assert next(batches) == set()
    folders[0].mkdir()
    assert next(batches) == set()

    path = folders[0] / "one.md"
    path.write_text("x", encoding="utf-8")

    assert next(batches) == {path}


def test_a_folder_that_goes_while_it_is_looked_at_does_not_end_the_watching(
    folders: list[Path], batches: Iterator[set[Path]]
) -> None:
    folders.insert(0, folders[0].with_name("never there"))
    assert next(batches) == set()
    path = folders[1] / "one.md"
    path.write_text("x", encoding="utf-8")

    assert next(batches) == {path}


def test_after_a_storm_of_changes_an_empty_batch_comes(
    folders: list[Path], batches: Iterator[set[Path]]
) -> None:
    """The system drops events when too many wait; who looks at all files then has lost none."""
    assert next(batches) == set()
    for number in range(1500):
        (folders[0] / f"{number}.md").write_text("x", encoding="utf-8")

    count = 0
    while batch := next(batches):
        count += len(batch)

    assert count >= 1500
