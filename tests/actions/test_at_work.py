"""A session's start tells first what bears on the work at hand: the branch, and files that changed lately."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.adapters.project.repositories import git
from tests.conftest import Clock, Open

HEADING = "About the work at hand:"
MANY = 150


@pytest.fixture
def full(open_here: Open, clock: Clock, project: Path) -> Store:
    """A store in which what bears on the work is the oldest of many memories; the branch is `main`."""
    on_branch(project, "main")
    store = open_here().store()
    (project / "src").mkdir()
    for name in ("importer.py", "mailer.py", "search.py"):
        write_at(project / "src" / name, clock, days_ago=30)
    remember(store, Draft("Gift card codes are case sensitive", "They are compared as typed.", type="gotcha"))
    remember(
        store,
        Draft(
            "Commas in prices", "They are written with a point.", type="gotcha", touches=("src/importer.py",)
        ),
    )
    for name in ("mailer", "search"):
        remember(
            store, Draft(f"About {name}", f"{name} is slow.", type="gotcha", touches=(f"src/{name}.py",))
        )
    clock.pass_days(2)
    for number in range(MANY):
        clock.now += timedelta(minutes=1)
        remember(store, Draft(f"Rule {number} of the house", f"Value {number} counts.", type="decision"))
    return store


def write_at(path: Path, clock: Clock, *, days_ago: float) -> None:
    path.write_text("x = 1\n", encoding="utf-8")
    moment = (clock.now - timedelta(days=days_ago)).timestamp()
    os.utime(path, (moment, moment))


def on_branch(project: Path, name: str) -> None:
    """Let the branch *name* be checked out in a repository with a commit."""
    if not (project / ".git").exists():
        git(project, "init", "-q")
        git(project, "commit", "-qm", "first", "--allow-empty")
    git(project, "checkout", "-q", "-B", name)


def at_work(store: Store) -> list[str]:
    """Return the lines that a brief tells of the work at hand."""
    _, _, rest = brief(store).text.partition(f"{HEADING}\n")
    lines = rest.splitlines()
    return lines[
        : next((number for number, line in enumerate(lines) if not line.startswith("- ")), len(lines))
    ]


def test_without_a_branch_or_a_changed_file_nothing_bears_on_the_work(full: Store) -> None:
    assert HEADING not in brief(full).text


def test_what_the_branch_is_about_is_told_in_a_line(full: Store, project: Path) -> None:
    on_branch(project, "feature/gift-cards")

    (line,) = at_work(full)

    assert "Gift card codes are case sensitive" in line and "compared as typed" in line


def test_what_is_about_a_file_that_changed_lately_is_told_in_a_line(
    full: Store, clock: Clock, project: Path
) -> None:
    write_at(project / "src" / "importer.py", clock, days_ago=1)

    (line,) = at_work(full)

    assert "Commas in prices" in line


def test_in_a_fresh_clone_where_all_files_are_new_none_is_at_work(
    full: Store, clock: Clock, project: Path
) -> None:
    for path in (project / "src").iterdir():
        write_at(path, clock, days_ago=0)

    assert at_work(full) == []


def test_the_brief_keeps_its_budget_when_much_bears_on_the_work(full: Store, project: Path) -> None:
    on_branch(project, "house")
    full_brief = brief(full)

    assert len(full_brief.text) <= 4000
    assert "of the house" in full_brief.text
