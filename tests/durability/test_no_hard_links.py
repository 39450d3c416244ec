"""On a file system without hard links, as exFAT, memories are stored and moved, and no file is replaced."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.opened import ROOT, run_daybook

PRELOAD = """
#include <errno.h>
int link(const char *from, const char *to) { errno = EPERM; return -1; }
int linkat(int a, const char *from, int b, const char *to, int flags) { errno = EPERM; return -1; }
"""

pytestmark = pytest.mark.skipif(
    not shutil.which("cc") or sys.platform != "linux", reason="needs cc and LD_PRELOAD"
)


@pytest.fixture
def without_links(tmp_path: Path) -> dict[str, str]:
    """The environment of a program whose file systems have no hard links."""
    source, library = tmp_path / "no_links.c", tmp_path / "no_links.so"
    source.write_text(PRELOAD, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return {"LD_PRELOAD": str(library)}


def test_a_memory_is_stored_revised_archived_forgotten_and_restored(
    memory_dir: Path, tmp_path: Path, without_links: dict[str, str]
) -> None:
    def daybook(*words: str) -> str:
        process = run_daybook(memory_dir, *words, cwd=tmp_path, **without_links)
        assert process.returncode == 0, process.stderr + process.stdout
        return process.stdout

    memory_id = daybook("remember", "Deploys | They go out on Tuesdays.").split(":")[0]
    daybook("revise", memory_id, "--text", "They go out on Wednesdays.")
    daybook("archive", memory_id)
    daybook("restore", memory_id)
    daybook("forget", memory_id)
    assert "No memory" in run_daybook(memory_dir, "read", memory_id, cwd=tmp_path).stderr
    daybook("restore", memory_id)
    daybook("undo", memory_id)
    daybook("undo", memory_id)

    assert "They go out on Wednesdays." in daybook("read", memory_id)
    assert "They go out on Tuesdays." in daybook("history", memory_id, "--version", "1")
    assert not list(memory_dir.rglob(".daybook-*"))


def test_a_new_file_takes_the_place_of_none(tmp_path: Path, without_links: dict[str, str]) -> None:
    own = tmp_path / "own.md"
    own.write_text("The person's.", encoding="utf-8")
    program = (
        "import sys; from pathlib import Path; from mcp_server.adapters.files import write_new\n"
        "try: write_new(Path(sys.argv[1]), b'ours')\n"
        "except FileExistsError: print('it exists')"
    )
    process = subprocess.run(
        [sys.executable, "-P", "-c", program, own],
        env={"PYTHONPATH": str(ROOT), **without_links},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert process.stdout == "it exists\n"
    assert own.read_text(encoding="utf-8") == "The person's."
    assert not list(tmp_path.glob(".daybook-*"))
