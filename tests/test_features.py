"""docs/features.md: every item of the systems that Daybook took apart names the test that shows it."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.live import ROOT

ITEMS = {"A": 52, "B": 50, "C": 33, "D": 44}
DEFECTS = {"3.1": 8, "3.2": 10}  # numbered there; those of the other two systems have names
NOT_BUILT = {"A-06", "C-05", "D-39"}  # non-goals there, or deferred and not asked for

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "features.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| ([A-D]-\d\d|3\.\d-)", line)
]


def named_in(path: str) -> Iterator[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name


def test_no_item_is_missing_and_none_is_told_twice() -> None:
    expected = [f"{system}-{number:02}" for system, last in ITEMS.items() for number in range(1, last + 1)]

    assert [row[0] for row in ROWS if row[0][0] in ITEMS] == expected


def test_every_numbered_defect_of_the_others_has_its_regression_test() -> None:
    told = {row[0] for row in ROWS}

    assert {f"{part}-{number}" for part, last in DEFECTS.items() for number in range(1, last + 1)} <= told
    assert len([name for name in told if name.startswith("3.3-")]) >= 5
    assert len([name for name in told if name.startswith("3.4-")]) >= 7


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_an_item_names_tests_that_exist(row: list[str]) -> None:
    name, said, shown = row
    tests = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", shown)

    assert said
    assert bool(tests) != (name in NOT_BUILT)
    for path, test in tests:
        assert test in set(named_in(path)), f"{path}::{test}"
