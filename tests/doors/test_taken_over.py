"""What documents say is told unasked once the person takes it over: all of a bootstrap in one step."""

from pathlib import Path

import pytest

from tests.doors.shell import Run, said

README = """# Shop

## Deploying

We decided to deploy with Kamal on Fridays, because the on-call is in the office then.

## Payments

Stripe webhooks need the raw request body, or the signature check fails.
"""


@pytest.fixture
def readme(project: Path) -> Path:
    path = project / "README.md"
    path.write_text(README, encoding="utf-8")
    return path


def ids(run: Run, word: str) -> str:
    return next(line.split()[0] for line in said(run("list", "--limit", "50")).splitlines() if word in line)


def test_a_whole_bootstrap_is_accepted_with_the_command_that_its_answer_names(
    run: Run, typed: Run, readme: Path
) -> None:
    told = said(run("bootstrap"))
    assert "but not shown unasked: 2 memories. To accept all: daybook trust --documents" in told
    assert "Kamal" not in said(run("brief"))

    accepted = said(typed("trust", "--documents"))

    assert "2 accepted." in accepted
    brief = said(run("brief"))
    assert "Kamal" in brief and "raw request body" in brief
    assert "not shown unasked" not in said(run("bootstrap"))


def test_what_changes_in_a_document_afterwards_waits_again(run: Run, typed: Run, readme: Path) -> None:
    said(run("bootstrap"))
    said(typed("trust", "--documents"))
    readme.write_text(README.replace("Kamal", "Capistrano"), encoding="utf-8")

    told = said(run("bootstrap"))

    assert "1 memory. To accept all: daybook trust --documents" in told
    brief = said(run("brief"))
    assert "Capistrano" not in brief and "Kamal" not in brief and "raw request body" in brief


def test_claude_cannot_accept_a_bootstrap_nor_by_pinning_validating_or_revising(
    run: Run, readme: Path
) -> None:
    said(run("bootstrap"))
    assert run("trust", "--documents").returncode == 12
    memory = ids(run, "Deploying")

    for verb in (("pin", memory), ("validate", memory), ("revise", memory, "--tags", "deploy")):
        assert "until the person accepts it" in said(run(*verb)), verb

    assert "Kamal" not in said(run("brief"))


@pytest.mark.parametrize("verb", [("pin",), ("validate",), ("revise", "--tags", "deploy")])
def test_what_the_person_pins_validates_or_revises_in_a_terminal_is_accepted(
    run: Run, typed: Run, readme: Path, verb: tuple[str, ...]
) -> None:
    said(run("bootstrap"))
    memory = ids(run, "Deploying")

    done = said(typed(verb[0], memory, *verb[1:]))

    assert "Claude may be shown it unasked" in done
    brief = said(run("brief"))
    assert "Kamal" in brief and "raw request body" not in brief
    assert "Claude may be shown" not in said(typed(verb[0], memory, *verb[1:]))


def test_what_moves_into_the_repository_with_init_waits_there_and_can_be_accepted(
    run: Run, typed: Run, readme: Path
) -> None:
    said(run("bootstrap"))
    said(typed("init", "--repository"))
    assert "Kamal" not in said(run("brief"))
    assert "origin 2" in said(run("review"))

    assert "2 accepted." in said(typed("trust"))

    assert "Kamal" in said(run("brief"))
