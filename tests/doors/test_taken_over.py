"""What documents say is told unasked once the person takes it over: all of a bootstrap in one step."""

from pathlib import Path

import pytest

from tests.doors.shell import Run, output_of

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
    return next(
        line.split()[0] for line in output_of(run("list", "--limit", "50")).splitlines() if word in line
    )


def test_a_whole_bootstrap_is_accepted_with_the_command_that_its_answer_names(
    run: Run, typed: Run, readme: Path
) -> None:
    output = output_of(run("bootstrap"))
    assert "but not shown unasked: 2 memories. To accept all: daybook trust --documents" in output
    assert "Kamal" not in output_of(run("brief"))

    accepted = output_of(typed("trust", "--documents"))

    assert "2 accepted." in accepted
    brief = output_of(run("brief"))
    assert "Kamal" in brief and "raw request body" in brief
    assert "not shown unasked" not in output_of(run("bootstrap"))


def test_what_changes_in_a_document_afterwards_waits_again(run: Run, typed: Run, readme: Path) -> None:
    output_of(run("bootstrap"))
    output_of(typed("trust", "--documents"))
    readme.write_text(README.replace("Kamal", "Capistrano"), encoding="utf-8")

    output = output_of(run("bootstrap"))

    assert "1 memory. To accept all: daybook trust --documents" in output
    brief = output_of(run("brief"))
    assert "Capistrano" not in brief and "Kamal" not in brief and "raw request body" in brief


def test_claude_cannot_accept_a_bootstrap_nor_by_pinning_validating_or_revising(
    run: Run, readme: Path
) -> None:
    output_of(run("bootstrap"))
    assert run("trust", "--documents").returncode == 12
    memory = ids(run, "Deploying")

    for verb in (
        ("pin", memory),
        ("promote", memory),
        ("validate", memory),
        ("revise", memory, "--tags", "deploy"),
    ):
        assert "until the person accepts it" in output_of(run(*verb)), verb

    assert "Kamal" not in output_of(run("brief"))


@pytest.mark.parametrize("verb", [("pin",), ("promote",), ("validate",), ("revise", "--tags", "deploy")])
def test_what_the_person_pins_validates_or_revises_in_a_terminal_is_accepted(
    run: Run, typed: Run, readme: Path, verb: tuple[str, ...]
) -> None:
    output_of(run("bootstrap"))
    memory = ids(run, "Deploying")

    output = output_of(typed(verb[0], memory, *verb[1:]))

    assert "Claude may be shown it unasked" in output
    brief = output_of(run("brief"))
    assert "Kamal" in brief and "raw request body" not in brief
    assert "Claude may be shown" not in output_of(typed(verb[0], memory, *verb[1:]))


def test_what_moves_into_the_repository_with_init_waits_there_and_can_be_accepted(
    run: Run, typed: Run, readme: Path
) -> None:
    output_of(run("bootstrap"))
    output_of(typed("init", "--repository"))
    assert "Kamal" not in output_of(run("brief"))
    assert "origin 2" in output_of(run("review"))

    assert "2 accepted." in output_of(typed("trust"))

    assert "Kamal" in output_of(run("brief"))
