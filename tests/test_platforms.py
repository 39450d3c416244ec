"""Linux, macOS and Windows, as far as one of them can tell."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.live import ROOT
from tests.platforms import lacking_on_windows

NOT_ON_WINDOWS = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
CODE = sorted((ROOT / "mcp_server").rglob("*.py"))
CONCERNS = {  # what differs between the systems: the one file that knows how
    r"\bfcntl\.flock|\bmsvcrt\.": "adapters/locks.py",
    r"\bos\.(link|O_NOFOLLOW)\b|\bF_SETLEASE\b": "adapters/exchange.py adapters/open_files.py",
    r"\bos\.(fchmod|fchown|pread|pwrite|O_\w*DIRECTORY|listxattr)\b": "adapters/open_files.py",
    r"\bos\.(getppid|setsid|kill|killpg)\b|start_new_session|creationflags": "adapters/detached.py",
    r"\bos\.nice\b|SetPriorityClass": "adapters/priority.py",
    r"\bimport (pwd|winreg)\b|\bos\.(uname|getuid)\b|USERPROFILE": "adapters/account.py",
}
BESIDES = {  # who asks for the number of the process above, which every system tells
    "adapters/parent_processes.py": "os.getppid",
    "doors/server/__init__.py": "os.getppid",
}


def named(path: Path) -> str:
    return path.relative_to(ROOT / "mcp_server").as_posix()


@pytest.mark.parametrize("pattern", CONCERNS, ids=CONCERNS.values())
def test_what_differs_between_systems_stands_in_one_file_for_each_concern(pattern: str) -> None:
    lines_found = {
        f"{named(path)}:{number} {line.strip()}"
        for path in CODE
        if named(path) not in CONCERNS[pattern].split()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := re.search(pattern, line)) and BESIDES.get(named(path)) != match[0]
    }

    assert not lines_found


def test_files_are_opened_by_number_in_one_place() -> None:
    """On Windows `os.open` changes line ends and follows links."""
    opening = [named(path) for path in CODE if "os.open(" in path.read_text(encoding="utf-8")]

    assert opening == ["adapters/open_files.py"]


def test_our_branches_for_windows_import_and_do_their_work_where_posix_is_taken_away(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "as_windows.py"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=250,
    )

    assert (process.stdout, process.returncode) == ("", 0), process.stderr


def test_a_test_file_that_imports_what_windows_lacks_is_known_to() -> None:
    importing = {
        path.name: lacking_on_windows(path.read_text(encoding="utf-8"))
        for path in TESTS
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Import) and NOT_ON_WINDOWS.intersection(alias.name for alias in node.names)
    }

    assert len(importing) > 3
    assert all(importing.values()), importing


def test_the_tests_of_the_core_and_of_most_actions_are_for_windows_too() -> None:
    unrecognised = [path for path in TESTS if not lacking_on_windows(path.read_text(encoding="utf-8"))]

    assert {path.parent.name for path in unrecognised} >= {"core", "actions", "adapters", "doors"}
    assert not [path.name for path in TESTS if path.parent.name == "core" and path not in unrecognised]
    assert len(unrecognised) > len(TESTS) / 2


def test_the_workflow_runs_the_tests_on_the_three_systems() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))

    jobs = workflow["jobs"].values()
    systems = {system.partition("-")[0] for job in jobs for system in job["strategy"]["matrix"]["os"]}
    assert systems == {"ubuntu", "macos", "windows"}
    assert {"push", "pull_request"} <= set(workflow[True])  # YAML reads `on` as a truth value
    steps = [step for job in jobs for step in job["steps"]]
    assert any(".ci/run" in step.get("run", "") for step in steps)
    assert any("daybook.cmd" in step.get("run", "") for step in steps)
