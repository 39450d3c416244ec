"""A small file with a JSON object, as Claude Code reads it."""

from pathlib import Path

import pytest

from mcp_server.adapters.json_file import problem_of

LIMIT = 1024


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'{\n "a": 1\n "b": 2}', (3, 2)),
        (b'{"a": 1', (1, 8)),
        (b'// mine\n{"a": 1}', (1, 1)),
        (b"", (1, 1)),
        (b"[]", (0, 0)),
        (b'{"a": NaN}', (0, 0)),
        (b"[" * LIMIT, None),
    ],
)
def test_what_claude_code_takes_for_no_settings_has_a_reason_and_a_place(
    tmp_path: Path, data: bytes, place: tuple[int, int] | None
) -> None:
    (tmp_path / "settings.json").write_bytes(data)

    problem = problem_of(tmp_path / "settings.json", LIMIT)

    assert problem is not None and problem[2]
    assert place is None or problem[:2] == place


@pytest.mark.parametrize(
    "data", [b'{"a": 1}', b'\xef\xbb\xbf{"a": 1}', '{"a": 1}'.encode("utf-16"), b'{"a": "\xff"}', None]
)
def test_what_claude_code_reads_and_a_file_that_is_not_there_have_no_problem(
    tmp_path: Path, data: bytes | None
) -> None:
    if data is not None:
        (tmp_path / "settings.json").write_bytes(data)

    assert problem_of(tmp_path / "settings.json", LIMIT) is None
