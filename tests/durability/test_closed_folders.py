"""What lies in a folder that this account may not read or search is not taken for gone."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live import ROOT
from tests.machine import as_nobody_special
from tests.patience import PATIENCE

MODES = [0o000, 0o444, 0o111]
Run = Callable[..., str]
Process = subprocess.CompletedProcess[str]


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., Process]:
    """Run `daybook` in a process for which modes count, on a store in *tmp_path*."""

    def run_(*arguments: str) -> Process:
        return subprocess.run(
            [sys.executable, "-m", "mcp_server.doors.cli", *arguments],
            env={
                "HOME": str(tmp_path),
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "EMBEDDING_MODEL": "none",
            },
            cwd=tmp_path,
            preexec_fn=as_nobody_special,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )

    return run_


@pytest.fixture
def run(process: Callable[..., Process]) -> Run:
    """Run `daybook` as *process* does, which must succeed; return what it printed."""

    def run_(*arguments: str) -> str:
        ended = process(*arguments)
        ended.check_returncode()
        return ended.stdout

    return run_


def write(folder: Path) -> Path:
    """Write a memory into *folder* and one into a folder below it; return that one."""
    below = folder / "knowledge" / "lamps"
    below.mkdir(parents=True)
    (folder / "knowledge" / "doors.md").write_text("# Doors\n\nThey are shut at dusk.\n")
    (below / "dusk.md").write_text("# Lamps\n\nThey are lit at dusk.\n")
    return below


@pytest.mark.parametrize("mode", MODES)
def test_known_memories_stay(tmp_path: Path, run: Run, mode: int) -> None:
    below = write(tmp_path / ".claude-memory")
    run("sync")
    below.chmod(mode)
    try:
        for _ in range(2):
            assert f"{below}: is a folder that cannot be read; its known memories stay" in run("sync")
        titles = {memory["title"] for memory in json.loads(run("list", "--json"))["memories"]}
    finally:
        below.chmod(0o700)
    assert titles == {"Doors", "Lamps"}
    assert "cannot be read" not in run("sync")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", [["markdown", "out"], ["json", "out.json"]])
def test_an_export_names_the_folder(tmp_path: Path, run: Run, mode: int, form: list[str]) -> None:
    below = write(tmp_path / ".claude-memory")
    kind, target = form
    below.chmod(mode)
    try:
        report = run("export", "--format", kind, target)
    finally:
        below.chmod(0o700)
    assert f"{below}: is a folder that cannot be read" in report


@pytest.mark.parametrize("mode", [0o000, 0o444])
def test_a_file_that_cannot_be_looked_at_stays_and_is_named(tmp_path: Path, run: Run, mode: int) -> None:
    """A recall looks at the file of each hit, and at no folder."""
    below = write(tmp_path / ".claude-memory")
    run("sync")
    below.chmod(mode)
    try:
        for _ in range(2):
            answer = json.loads(run("recall", "lamps", "--json"))
            assert [hit["title"] for hit in answer["hits"]] == ["Lamps"]
        assert f"{below / 'dusk.md'}: cannot be read: Permission denied" in run("sync")
    finally:
        below.chmod(0o700)
    assert "cannot be read" not in run("sync")


def test_a_file_is_read_as_soon_as_it_may_be(tmp_path: Path, run: Run) -> None:
    file = write(tmp_path / ".claude-memory") / "dusk.md"
    file.chmod(0)
    assert f"not taken in  {file}: cannot be read" in run("sync")

    file.chmod(0o600)

    assert run("sync") == "0 added, 1 modified, 0 removed\n"


def test_nobody_is_told_to_correct_or_delete_what_may_only_not_be_read(
    tmp_path: Path, process: Callable[..., Process]
) -> None:
    store = tmp_path / ".claude-memory"
    write(store)
    lamps = store / "knowledge" / "lamps" / "dusk.md"
    process("sync")
    settings = store / "config.toml"
    settings.write_text("capture = 'manual'\n")
    for path, arguments in ((lamps, ("read", "dusk")), (settings, ("list",))):
        path.chmod(0)
        refused = process(*arguments)
        path.chmod(0o600)
        assert "cannot be read: Permission denied" in refused.stderr
        assert "Give your account the right to read it and its folder." in refused.stderr


@pytest.mark.parametrize("mode", MODES)
def test_an_import_names_the_folder(tmp_path: Path, run: Run, mode: int) -> None:
    below = write(tmp_path / "exported")
    below.chmod(mode)
    try:
        report = run("import", "daybook", str(tmp_path / "exported"), "--dry-run")
    finally:
        below.chmod(0o700)
    assert "knowledge/lamps" in report and "is a folder that cannot be read" in report
