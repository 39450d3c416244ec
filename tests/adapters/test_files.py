"""Many files at once are as whole as one, and nothing that is there is replaced."""

import os
import stat
from pathlib import Path

import pytest

from mcp_server.adapters import files, moving
from mcp_server.core.errors import Conflict


def test_many_new_files_are_whole_and_an_existing_one_stays(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("mine")
    data_by_path = {
        tmp_path / "a.md": b"theirs",
        tmp_path / "new/b.md": b"b" * 100_000,
        tmp_path / "c.md": b"c",
    }

    paths_taken = files.write_many_new(data_by_path)

    assert paths_taken == {tmp_path / "a.md"}
    assert (tmp_path / "a.md").read_text() == "mine"
    assert (tmp_path / "new/b.md").read_bytes() == b"b" * 100_000
    assert stat.S_IMODE((tmp_path / "c.md").stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.md", "b.md", "c.md"]


def test_a_file_that_is_gone_is_not_moved_and_the_disk_is_not_blamed(tmp_path: Path) -> None:
    with pytest.raises(Conflict, match=r"a\.md was moved or forgotten meanwhile"):
        moving.move(tmp_path / "a.md", tmp_path / "b.md")


def test_a_file_moved_to_another_file_system_keeps_its_date_and_its_mode(
    tmp_path: Path, on_disk: Path
) -> None:
    if on_disk.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("both are on one file system")
    path = tmp_path / "a.md"
    path.write_bytes(b"It says no date.")
    path.chmod(0o640)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    target = on_disk / "b.md"

    moving.move(path, target)

    status = target.stat()
    assert (target.read_bytes(), path.exists()) == (b"It says no date.", False)
    assert (status.st_mtime, stat.S_IMODE(status.st_mode)) == (1_000_000_000, 0o640)


def test_a_file_that_cannot_be_copied_to_another_disk_keeps_no_other_from_moving(
    tmp_path: Path, small_disk: Path
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(name.encode() * (files.MAX_MEMORY_FILE + 1 if name == "b" else 1))

    problems = moving.move_many({tmp_path / name: small_disk / name for name in ("a", "b", "c")})

    assert {path.name: str(problem) for path, problem in problems.items()} == {
        "b": f"{tmp_path / 'b'}: has 1,048,577 bytes; 1,048,576 is the limit"
    }
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [files.LOCK_NAME, "b"]
    assert {path.name for path in small_disk.iterdir()} == {"a", "c"}
