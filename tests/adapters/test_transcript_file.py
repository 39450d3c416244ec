import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.adapters.transcript_file import (
    BLOCK,
    LARGEST_LINE,
    count_lines,
    lines,
    mark,
    size,
    subagents,
    transcripts,
)
from mcp_server.core.errors import Unreadable

MEGABYTE = 1_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def expected(data: bytes, start: int = 0, end: int | None = None) -> list[tuple[bytes, int, int]]:
    line_ranges = []
    for line in data[start:end].split(b"\n")[:-1]:
        line_ranges.append((line, start, start + len(line) + 1))
        start += len(line) + 1
    return line_ranges


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\n", b"\n\n", b"a", b"a\n", b"a\nb", b"a\r\nb\r\n", b"\0\n\0", b"\xff\xfe\n", b"a\n\nb\n",
        "é\u2028x\n".encode(), b"\r", b"\x0b\n\x85\n",
    ],
)  # fmt: skip
def test_complete_lines_are_given_with_their_range(file: Path, data: bytes) -> None:
    file.write_bytes(data)

    assert list(lines(file)) == expected(data)


around = st.integers(0, 40) | st.integers(BLOCK - 3, BLOCK + 3) | st.integers(2 * BLOCK - 3, 2 * BLOCK + 3)


@settings(max_examples=80)
@given(st.lists(around, max_size=5), st.booleans(), st.data())
def test_lines_are_whole_wherever_a_block_ends(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], ended: bool, drawn: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / "blocks.jsonl"
    data = b"\n".join(bytes([97 + at]) * length for at, length in enumerate(lengths)) + b"\n" * ended
    file.write_bytes(data)
    start = drawn.draw(st.sampled_from([0, *(behind for _, _, behind in expected(data))]))
    end = drawn.draw(st.none() | st.integers(0, len(data) + 5))

    assert list(lines(file, start, end=end)) == expected(data, start, end)
    assert count_lines(file, start, most=10**9) == data[start:].count(b"\n")


def test_the_line_that_is_being_written_waits(file: Path) -> None:
    file.write_bytes(b"one\ntwo")
    (_, _, behind), *more = lines(file)

    assert more == []
    with open(file, "ab") as handle:
        handle.write(b" and more\n")
    assert list(lines(file, behind)) == [(b"two and more", 4, 17)]


@pytest.mark.parametrize(
    ("length", "length_given"), [(LARGEST_LINE, LARGEST_LINE), (LARGEST_LINE + 1, 0), (3 * LARGEST_LINE, 0)]
)
def test_a_line_that_is_too_long_is_passed_over(file: Path, length: int, length_given: int) -> None:
    with open(file, "wb") as handle:
        handle.write(b"a\n")
        handle.truncate(2 + length)
        handle.seek(2 + length)
        handle.write(b"\nb\n")

    line_ranges = [(len(line), begun, behind) for line, begun, behind in lines(file)]

    assert line_ranges == [(1, 0, 2), (length_given, 2, 3 + length), (1, 3 + length, 5 + length)]


def test_a_file_that_is_gone_has_no_lines(file: Path) -> None:
    for path in (file, file / "deeper.jsonl", Path("/dev/null/x")):
        assert list(lines(path)) == []
        assert count_lines(path, 0, most=5) == 0
        assert size(path) == 0
        assert mark(path, 10) == ""


def test_a_file_deleted_or_cut_while_it_is_read_ends_quietly(file: Path) -> None:
    data = b"".join(b"%07d\n" % number for number in range(200_000))
    for sin in (file.unlink, lambda: os.truncate(file, 100), lambda: os.truncate(file, 0)):
        file.write_bytes(data)
        lines_read = []
        for line in lines(file):
            if not lines_read:
                sin()
            lines_read.append(line)
        assert lines_read == expected(data)[: len(lines_read)]
        assert len(lines_read) > 1000


def test_lines_are_whole_while_another_thread_writes_them(file: Path) -> None:
    file.write_bytes(b"")
    text = json.dumps({"type": "user", "n": "x" * 50_000}).encode()

    def write() -> None:
        with open(file, "ab", buffering=0) as handle:
            for at in range(200):
                handle.write(text[:20_000])
                handle.write(text[20_000:] + b"\n" if at % 2 else text[20_000:] + b"\n{}\n")

    writer = threading.Thread(target=write)
    writer.start()
    lines_read: list[bytes] = []
    at = 0
    while writer.is_alive() or at < size(file):
        for line, begun, behind in lines(file, at):
            assert begun == at
            lines_read.append(line)
            at = behind
    writer.join()

    assert set(lines_read) == {text, b"{}"}
    assert (len(lines_read), at) == (300, size(file))


def make_link(path: Path) -> None:
    (path.parent / "real.jsonl").write_bytes(b"{}\n")
    path.symlink_to(path.parent / "real.jsonl")


@pytest.mark.parametrize("make", [os.mkfifo, make_link, Path.mkdir])
def test_only_regular_files_are_read(file: Path, make: Callable[[Path], None]) -> None:
    make(file)

    for ask in (lambda: list(lines(file)), lambda: count_lines(file, 0, most=1), lambda: mark(file, 1)):
        with pytest.raises(Unreadable) as caught:
            ask()
        assert "memory" not in caught.value.hint
        assert "editor" not in caught.value.hint
    assert size(file) == 0


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(Unreadable):
        list(lines(Path("a\0b.jsonl")))
    assert size(Path("a\0b.jsonl")) == 0


def test_no_file_stays_open(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(50):
        line_iterator = lines(file)
        next(line_iterator)
        line_iterator.close()
        count_lines(file, 0, most=1)
        mark(file, 2)

    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    ("start", "most", "count"), [(0, 10, 3), (2, 10, 2), (0, 2, 2), (0, 0, 0), (99, 5, 0)]
)
def test_complete_lines_are_counted_up_to_as_many_as_matter(
    file: Path, start: int, most: int, count: int
) -> None:
    file.write_bytes(b"a\nb\nc\nd")

    assert count_lines(file, start, most=most) == count


def bytes_read() -> int:
    """Return how much this process read so far, from wherever."""
    return int(Path("/proc/self/io").read_text(encoding="ascii").split()[1])


@pytest.mark.skipif(not os.access("/proc/self/io", os.R_OK), reason="only Linux counts what a process reads")
def test_counting_stops_when_enough_were_counted(file: Path) -> None:
    with open(file, "wb") as handle:
        handle.write(b"\n" * 10)
        handle.truncate(20_000 * MEGABYTE)
    before = bytes_read()

    assert count_lines(file, 0, most=3) == 3
    assert bytes_read() - before < MEGABYTE + BLOCK


def test_a_mark_stays_while_a_file_grows_and_tells_when_it_was_rewritten(file: Path) -> None:
    data = b"".join(b"line %03d\n" % number for number in range(100))
    file.write_bytes(data)
    marks = {offset: mark(file, offset) for offset in (9, 270, len(data))}
    assert len(set(marks.values())) == 3

    file.write_bytes(data + b"more\n")
    assert {offset: mark(file, offset) for offset in marks} == marks

    file.write_bytes(data.replace(b"line 0", b"LINE 0") + b"more\n")
    assert all(mark(file, offset) != before for offset, before in marks.items())

    file.write_bytes(data[:8])
    assert [mark(file, offset) for offset in marks] == ["", "", ""]
    assert mark(file, 0) == mark(file, -1) == ""


def test_the_transcripts_of_agents_are_found_beside_their_session(file: Path) -> None:
    assert subagents(file) == []
    folder = file.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    for name in ("agent-b.jsonl", "agent-a.jsonl", "agent-a.meta.json", "other.jsonl"):
        (folder / name).write_text("{}\n", encoding="utf-8")
    (folder / "agent-c.jsonl").mkdir()
    (folder / "agent-d.jsonl").symlink_to(folder / "agent-a.jsonl")

    assert subagents(file) == [folder / "agent-a.jsonl", folder / "agent-b.jsonl"]
    assert subagents(file.with_suffix("")) == []


def test_the_sessions_of_all_projects_come_oldest_first(tmp_path: Path) -> None:
    assert transcripts(tmp_path / "none") == []
    for age, name in enumerate(("-b/2.jsonl", "-a/1.jsonl", "-a/3.jsonl", "-a/3/subagents/agent-x.jsonl")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n", encoding="utf-8")
        os.utime(path, ns=(0, 10**18 - age))
    for name in ("-a/agent-old.jsonl", "-a/notes.md", "stray.jsonl"):
        (tmp_path / name).write_text("{}\n", encoding="utf-8")
    (tmp_path / "-c").symlink_to(tmp_path / "-a")

    assert transcripts(tmp_path) == [tmp_path / name for name in ("-a/3.jsonl", "-a/1.jsonl", "-b/2.jsonl")]
