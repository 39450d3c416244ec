"""The command that takes a project's knowledge out of its repository, in a terminal."""

from pathlib import Path

from mcp_server.core.errors import PersonNeeded
from tests.doors.shell import Run, output_of


def test_the_command_asks_for_the_persons_word_and_says_what_became_of_it(
    run: Run, typed: Run, project: Path
) -> None:
    output_of(run("remember", "Deploys | On Fridays only."))
    assert "not in its repository" in output_of(run("init", "--no-repository"))
    output_of(typed("init", "--repository"))

    assert run("init", "--no-repository").returncode == PersonNeeded.exit_code
    output = output_of(typed("init", "--no-repository"))

    assert "is no longer in its repository" in output and "1 memory moved there" in output
    assert list((project / ".claude-memory" / "knowledge").glob("*.md")) == []
