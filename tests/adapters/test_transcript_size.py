"""A transcript of any size is read in memory that has a bound, and in one pass."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.adapters.transcript_file import lines
from tests.growth import grows_evenly
from tests.live import ROOT
from tests.patience import PATIENCE

MEGABYTE = 1_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


READER = r"""
import json, re, sys
from pathlib import Path
from mcp_server.adapters.transcript_file import lines
from mcp_server.core.sessions.transcript import Condenser

words = [said.words for said in Condenser().read(lines(Path(sys.argv[1])))]
# Not ru_maxrss: after a fork that is the memory of whoever started us.
peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
print(json.dumps([words, int(peak[1]) / 1024]))
"""


def turn(words: object) -> bytes:
    return json.dumps({"type": "user", "message": {"role": "user", "content": words}}).encode() + b"\n"


def one_line_of_600_megabytes(path: Path) -> None:
    with open(path, "wb") as handle:
        handle.write(turn("before"))
        handle.truncate(600 * MEGABYTE)
        handle.seek(600 * MEGABYTE)
        handle.write(b"\n" + turn("after"))


def attachments_of_200_megabytes(path: Path) -> None:
    attachment = json.dumps({"type": "attachment", "rendered": "as was said " * 16_000}).encode() + b"\n"
    with open(path, "wb") as handle:
        handle.write(turn("before"))
        for _ in range(200 * MEGABYTE // len(attachment)):
            handle.write(attachment)
        handle.write(turn("after"))


def lines_of_10_megabytes(path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 10 * MEGABYTE}}
    with open(path, "wb") as handle:
        handle.write(turn("before"))
        handle.write(turn([image]) * 2 + turn("\U0001f600 wide " * MEGABYTE) + turn([{}] * 3 * MEGABYTE))
        handle.write(turn([{"type": "tool_result", "content": "bytes " * MEGABYTE}]) * 2)
        handle.write(turn("after"))


@pytest.mark.parametrize(
    "make", [one_line_of_600_megabytes, attachments_of_200_megabytes, lines_of_10_megabytes]
)
def test_a_file_of_any_size_is_read_in_bounded_memory(file: Path, make: Callable[[Path], None]) -> None:
    make(file)

    process = subprocess.run(
        [sys.executable, "-c", READER, str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )

    words, memory = json.loads(process.stdout)
    assert words == ["before", "after"]
    assert memory <= 100  # MB
    file.unlink()


def test_a_line_takes_no_longer_than_its_length(file: Path) -> None:
    def one_line(kibibytes: int) -> Path:
        path = file.with_name(f"{kibibytes}.jsonl")
        path.write_bytes(b"")
        os.truncate(path, kibibytes * 1024)
        return path

    assert grows_evenly(one_line, lambda path: list(lines(path)), most=1 << 17)
