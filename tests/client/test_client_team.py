"""Two members of a team, each with a home: what one shares and a curator confirms, the other is told."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from harness.drive_claude import WAITS, Claude
from harness.mock_anthropic import call
from harness.terminal import wait_until

from tests import postgres
from tests.client.conftest import TRAP
from tests.opened import run_daybook
from tests.team_server.asking import with_the_team
from tests.team_server.processes import issued, serving
from tests.terminal import type_in_terminal

pytestmark = pytest.mark.client

ROUNDING = "Amounts on an invoice are rounded half to even."
SHARED = call("remember", title="Invoice rounding", content=ROUNDING, type="decision", level="team")
QUESTION = "how are amounts on an invoice rounded?"


@dataclass(frozen=True)
class TeamOfTest:
    """A team's server before PostgreSQL: its address, and what issues a token to a name with a role."""

    url: str
    issue: Callable[[str, str], str]


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgres.empty_database() as url:
        yield url
    postgres.stop()


@pytest.fixture
def team(database: str, tmp_path: Path) -> Iterator[TeamOfTest]:
    """The server as an administrator starts it, in a process of its own."""
    home = tmp_path / "server"
    issue = partial(issued, home, database)
    issue("admin", "curator")  # makes the tables, so that the server finds a team
    with serving(home, database, "--name", "Quaggas") as server:
        yield TeamOfTest(server.address, issue)


@pytest.fixture(scope="module")
def homes(binary: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A HOME for each of two members, in which the plugin was installed."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("anna", "ben")}
    for folder in folders.values():
        Claude(binary, home=folder, project=folder, env={}).install(plugin)
    return folders


@pytest.fixture
def member(
    binary: Path,
    plugin: Path,
    homes: dict[str, Path],
    environment: Path,
    claude_starts: Path,
    team: TeamOfTest,
    tmp_path: Path,
) -> Callable[[str], Claude]:
    """Returns Claude Code of the member of a name, a writer who has joined."""
    trap = tmp_path / "trap" / "claude"
    trap.parent.mkdir()
    trap.write_text(TRAP, encoding="utf-8")
    trap.chmod(0o755)

    def joined(name: str) -> Claude:
        project, token = tmp_path / name / "shop", tmp_path / name / "token"
        project.mkdir(parents=True)
        token.write_text(team.issue(name, "writer"), encoding="utf-8")
        env = {
            "PATH": f"{trap.parent}:{os.environ['PATH']}",
            "CLAUDE_STARTS": str(claude_starts),
            "DAYBOOK_VENV": str(environment),
            "MEMORY_DIR": str(tmp_path / name / "memory"),
            **WAITS,
        }
        claude = Claude(binary, home=homes[name], project=project, env=env)
        typed = [plugin / "bin" / "daybook", "team", "join", team.url, "--token-file", str(token), "--yes"]
        process = type_in_terminal(typed, cwd=project, env=claude.environment(""))
        assert process.returncode == 0, process.stdout
        return claude

    return joined


def context_of_question(member: Claude) -> str:
    """Return what the tool `recall` answers to the QUESTION in a session of *member*."""
    return with_the_team(
        lambda: member.prompt(QUESTION, [call("recall", query=QUESTION), "half to even"]).tool_results[0]
    )


def shown_unasked(run_of: Claude, prompt: str) -> str:
    """Return all that a session's first request has from our hooks."""
    first = run_of.prompt(prompt).main[0]
    return "\n".join(first.hook_context("SessionStart") + first.hook_context("UserPromptSubmit"))


@pytest.mark.feature("D-40")
def test_what_one_member_shares_and_a_curator_confirms_the_other_is_told_in_their_next_session(
    team: TeamOfTest, member: Callable[[str], Claude], tmp_path: Path
) -> None:
    anna, ben = member("anna"), member("ben")

    shared = anna.prompt("tell the team how we round", [SHARED, "shared"])

    assert "(team level)" in shared.tool_results[0]
    memory_id = shared.tool_results[0].partition(":")[0]
    context = context_of_question(ben)
    assert ROUNDING in context
    assert "by anna, not confirmed" in context
    assert ROUNDING not in shown_unasked(ben, QUESTION), "nobody confirmed it"

    curator = tmp_path / "carla"
    token = tmp_path / "token-of-carla"
    token.write_text(team.issue("carla", "curator"), encoding="utf-8")
    for words in (
        ("join", team.url, "--token-file", str(token), "--yes"),
        ("confirm", memory_id, "--yes"),
    ):
        process = run_daybook(curator, "team", *words, typed=True)
        assert process.returncode == 0, process.stdout
    # Nobody types a command on the other machine: the worker copies when a session starts.
    ben.prompt("hello")
    copied = Path(ben.env["MEMORY_DIR"]) / "team" / "knowledge" / f"{memory_id}.md"
    wait_until(copied.exists)

    (brief,) = ben.prompt("good morning").main[0].hook_context("SessionStart")
    assert "Settled in the team" in brief and ROUNDING in brief
    again = context_of_question(ben)
    assert "by anna, confirmed by carla" in again
    assert again.count(ROUNDING) == 1
