"""The questions that changelogs give, and the benchmark that asks them."""

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.changelogs import CURRENT, EXACT, OLD, WHEN, WORDS, histories, questions, read_changelog
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
MARKDOWN = """\
# Changelog

## Unreleased

- The `--soon` option is not out yet and has no date.

## [2.0.0] - 2026-03-01

### Changed

* The default of `--retries` is now 9, for uploads
  as well as for downloads. ([#12](https://example.org/12))
* Fix a crash of `--retries` on Windows.
- The `cache-dir` setting has to be an absolute path.

## 1.1.0 / 2025-01-10

- Add the `--retries` option, 3 by default, for every kind of download. #7 by @ada
- The `cache-dir` setting may be relative to the project.

## 1.0.0

Released on 2024-01-01.

- The first release that everybody can install and use at home.
"""
REST = """\
2.1.0 (2026-05-07)
==================

- Added ``Pool.close()`` to wait for what runs. (`#3 <https://example.org/3>`__)

Version 2.0.0
-------------

Released 2025-05-07

- ``Pool.close()`` no longer waits.
"""


def test_a_changelog_gives_its_dated_entries_oldest_first(tmp_path: Path) -> None:
    entries_read = read_changelog(write_file(tmp_path / "tool.md", MARKDOWN))

    assert [(entry.version, f"{entry.released:%Y-%m-%d}") for entry in entries_read] == [
        ("1.0.0", "2024-01-01"),
        ("1.1.0", "2025-01-10"),
        ("1.1.0", "2025-01-10"),
        ("2.0.0", "2026-03-01"),
        ("2.0.0", "2026-03-01"),
        ("2.0.0", "2026-03-01"),
    ]
    assert [entry.number for entry in entries_read] == list(range(6))
    assert (
        entries_read[3].text == "The default of `--retries` is now 9, for uploads as well as for downloads."
    )
    assert entries_read[1].text == "Add the `--retries` option, 3 by default, for every kind of download."


def test_restructured_text_is_read_as_well(tmp_path: Path) -> None:
    entries_read = read_changelog(write_file(tmp_path / "pool.rst", REST))

    assert [entry.version for entry in entries_read] == ["2.0.0", "2.1.0"]
    assert entries_read[0].things == entries_read[1].things == {"Pool.close"}


def test_what_several_releases_speak_of_has_a_history_without_what_was_mended(tmp_path: Path) -> None:
    chains = histories(read_changelog(write_file(tmp_path / "tool.md", MARKDOWN)))

    assert {subject: [entry.version for entry in chain] for subject, chain in chains.items()} == {
        "--retries": ["1.1.0", "2.0.0"],
        "cache-dir": ["1.1.0", "2.0.0"],
    }


def test_the_newest_entry_answers_what_is_current_and_the_old_one_what_was(tmp_path: Path) -> None:
    entries = read_changelog(write_file(tmp_path / "tool.md", MARKDOWN))
    questions_asked = questions("tool", entries)

    answers = {
        question.sort: {entries[number].version for number in question.answers}
        for question in questions_asked
    }
    assert answers[CURRENT] == {"2.0.0"}
    assert answers[OLD] == {"1.1.0"}
    assert all("1.1.0" in question.text for question in questions_asked if question.sort == OLD)
    assert answers[WHEN] == {"1.1.0"}
    assert all("in January 2025?" in question.text for question in questions_asked if question.sort == WHEN)
    assert {question.text for question in questions_asked if question.sort == EXACT} >= {
        "The first release that everybody can install and use at"
    }
    assert {question.sort for question in questions_asked} == {CURRENT, OLD, WHEN, EXACT, WORDS}
    assert questions("tool", entries) == questions_asked


def test_the_benchmark_asks_in_both_orders_and_about_what_was_superseded(tmp_path: Path) -> None:
    process = subprocess.run(
        [
            sys.executable,
            str(ROOT / "benchmarks" / "composite.py"),
            str(write_file(tmp_path / "tool.md", MARKDOWN)),
            "--json",
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert process.returncode == 0, process.stderr
    figures_printed = json.loads(process.stdout)
    assert figures_printed["sorts"][EXACT]["tool/0"]["composite"]["recall@5"] == 1.0
    assert figures_printed["sorts"][CURRENT].keys() == {"tool/0", "tool/1"}
    assert {figures["share"] for figures in figures_printed["superseded"].values()} == {1.0}
    assert {figures["questions"] for figures in figures_printed["superseded"].values()} == {2}


def write_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
