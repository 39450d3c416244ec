"""
docs/features.md: every item of the systems that Daybook took apart names the tests that show it.

A test says with `@pytest.mark.feature("A-27")` what it shows. With UPDATE=1 the document's column is written.
"""

import ast
import os
import re

from tests.live import ROOT

ITEMS = {"A": 52, "B": 50, "C": 33, "D": 44}
DEFECTS = {"3.1": 8, "3.2": 10}  # numbered there; those of the other two systems have names
NOT_BUILT = {"A-06", "C-05"}  # non-goals there, or deferred and not asked for

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "features.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| ([A-D]-\d\d|3\.\d-)", line)
]


def shown() -> dict[str, list[str]]:
    """Return item → the tests that are marked with it, as `path::name`, in order."""
    tests: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.feature":
                    for item in mark.args:
                        name = f"{path.relative_to(ROOT).as_posix()}::{node.name}"
                        tests.setdefault(ast.literal_eval(item), []).append(name)
    return tests


def test_no_item_is_missing_and_none_is_told_twice() -> None:
    expected = [f"{system}-{number:02}" for system, last in ITEMS.items() for number in range(1, last + 1)]

    assert [row[0] for row in ROWS if row[0][0] in ITEMS] == expected


def test_every_numbered_defect_of_the_others_has_its_regression_test() -> None:
    rows_told = {row[0] for row in ROWS}

    assert {
        f"{part}-{number}" for part, last in DEFECTS.items() for number in range(1, last + 1)
    } <= rows_told
    assert len([name for name in rows_told if name.startswith("3.3-")]) >= 5
    assert len([name for name in rows_told if name.startswith("3.4-")]) >= 7


def test_every_item_says_what_it_is_and_is_shown_unless_it_is_not_built() -> None:
    marked = shown()

    assert all(row[1] for row in ROWS)
    assert {row[0] for row in ROWS} - marked.keys() == NOT_BUILT
    assert marked.keys() - {row[0] for row in ROWS} == set()


def test_the_document_names_the_tests_that_are_marked() -> None:
    """With UPDATE=1 the names are written."""
    marked = shown()
    path = ROOT / "docs" / "features.md"
    lines_written = [
        f"| {row[0]} | {row[1]} | {' '.join(f'`{test}`' for test in marked.get(row[0], []))} |"
        for row in ROWS
    ]
    lines = iter(lines_written)
    document = path.read_text(encoding="utf-8")
    renewed = re.sub(r"^\| (?:[A-D]-\d\d|3\.\d-).*$", lambda _: next(lines), document, flags=re.MULTILINE)
    if os.environ.get("UPDATE"):
        path.write_text(renewed, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == renewed, "UPDATE=1 pytest tests/test_features.py writes it"
