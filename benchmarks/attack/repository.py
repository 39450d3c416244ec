"""
A repository that would run its own program: the tests of `tests/safety`, counted.

Each test writes a program into one place where git, the launcher or a link can be made to run or follow it.
"""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from benchmarks.attack.outcome import Part, Round, Row

ROOT = Path(__file__).resolve().parents[2]
TESTS = "tests/safety"
PLANTED = "def test_that_fails():\n    assert False, 'planted'\n"


def run(round_: Round) -> list[Row]:
    """Run at most `count` of the tests, taken from all of them."""
    report = round_.folder / "report.xml"
    if round_.planted:
        tests = [str(round_.folder / "test_planted.py")]
        Path(tests[0]).write_text(PLANTED, encoding="utf-8")
    else:
        listed = _pytest("--collect-only", TESTS).stdout.splitlines()
        names = [line for line in listed if "::" in line]
        tests = names[:: max(1, len(names) // round_.count)] or [TESTS]
    round_.progress(f"{len(tests)} ways")
    process = _pytest(f"--junitxml={report}", *tests)
    if process.returncode not in (0, 1) or not report.exists():
        return [
            Row(
                "programs of a repository that run",
                0,
                [f"the tests do not run: {(process.stdout + process.stderr)[-400:]}"],
            )
        ]
    cases = list(ElementTree.parse(report).iter("testcase"))
    skipped = sum(case.find("skipped") is not None for case in cases)
    wrong = [
        f"{case.get('name')}: {(fault.get('message') or '')[:300]}"
        for case in cases
        for fault in (*case.findall("failure"), *case.findall("error"))
    ]
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    figures = f"{git}; {skipped} skipped"
    return [
        Row(
            "ways for a repository to have its program run, or a link followed",
            len(cases) - skipped,
            wrong,
            figures,
        )
    ]


def _pytest(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


PART = Part(
    "repository",
    "every way in which a repository would run its own program",
    count=10_000,
    quick=10,
    run=run,
)
