"""Many files at once are as whole as one, and nothing that is there is replaced."""

import stat
from pathlib import Path

from mcp_server.adapters import files


def test_many_new_files_are_whole_and_an_existing_one_stays(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("mine")
    wanted = {tmp_path / "a.md": b"theirs", tmp_path / "new/b.md": b"b" * 100_000, tmp_path / "c.md": b"c"}

    taken = files.write_many_new(wanted)

    assert taken == {tmp_path / "a.md"}
    assert (tmp_path / "a.md").read_text() == "mine"
    assert (tmp_path / "new/b.md").read_bytes() == b"b" * 100_000
    assert stat.S_IMODE((tmp_path / "c.md").stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.md", "b.md", "c.md"]
