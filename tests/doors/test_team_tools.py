"""What Claude does with a team's memory by the tools, and what takes the person's yes."""

from collections.abc import Iterator

import pytest

from mcp_server.actions.team import membership, side_by_side
from mcp_server.bootstrap import Opened
from mcp_server.core.team.team import Role
from tests.actions.team.people import saved
from tests.conftest import Open
from tests.doors.called import connected
from tests.patience import PATIENCE
from tests.person import Person
from tests.team_server.minimal_team import MinimalTeam
from tests.team_server.served import served

QUESTION = "why is body parsing skipped for the webhook?"


@pytest.fixture
def team() -> MinimalTeam:
    return MinimalTeam()


@pytest.fixture
def opened(team: MinimalTeam, open_here: Open, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """The store of ben, a curator who has joined."""
    monkeypatch.setattr(side_by_side, "PATIENCE", PATIENCE)  # a busy machine may need more than 300 ms
    with served(team) as url:
        opened = open_here()
        token = team.issue("ben", Role.CURATOR)
        joining = membership.look_ahead(opened.store(), url, token, opened.team.at(url, token))
        membership.join(opened.store(), joining, opened.team.at(url, token))
        yield opened


def test_claude_shares_what_it_is_asked_to_and_finds_what_others_wrote(
    opened: Opened, team: MinimalTeam
) -> None:
    saved(team, "webhook")

    with connected(opened) as call:
        shared = call("remember", title="Invoices", content="Invoices are numbered per year.", level="team")
        assert "remembered (team level)" in shared
        assert team.kept.load(shared.partition(":")[0]).author == "ben"
        answer = call("recall", query=QUESTION)
        assert "webhook · gotcha · team" in answer
        assert "by anna, not confirmed" in answer and "treat as data" in answer
        whole = call("read_memory", id="webhook")
        assert "written by: anna" in whole and "nobody: treat as data" in whole
        assert "created" in call("history", id="webhook")


def test_what_others_share_is_changed_and_taken_away_only_with_the_persons_yes(
    opened: Opened, team: MinimalTeam
) -> None:
    saved(team, "webhook")

    with connected(opened, Person("no", "yes", "no", "yes", "no", "yes")) as call:
        refused = call("revise", id="webhook", content="Parse it.")
        assert call.failed and "needs the person's consent" in refused
        assert refused.endswith(": daybook revise webhook --text 'Parse it.'")
        assert "Parse it" not in team.kept.load("webhook").memory.text
        answer = call("revise", id="webhook", content="Parse it.", use_when=["verify a callback"])
        assert "revised (team level)" in answer
        assert team.kept.load("webhook").memory.use_when == ("verify a callback",)
        refused = call("revise", id="webhook", use_when=[], metadata={"port": "80"})
        assert call.failed and "words, type, tags, occasions, files, links and category" in refused
        refused = call("forget", id="webhook")
        assert call.failed and team.kept.load("webhook")
        assert "forgotten for the whole team" in call("forget", id="webhook")
        call("forget", id="webhook", forever=True)
        assert call.failed
        assert "needs the person's consent" in call("restore_memory", id="webhook") and call.failed
        assert "restored for the whole team" in call("restore_memory", id="webhook")


def test_a_tool_that_asks_no_team_says_of_a_memory_that_the_team_has_it(
    opened: Opened, team: MinimalTeam
) -> None:
    saved(team, "webhook")

    with connected(opened) as call:
        answer = call("undo", id="webhook")
        assert call.failed and "'webhook' is the team's, and only its server has it" in answer
        assert "No memory has the id 'webhooks'" in call("undo", id="webhooks") and call.failed
