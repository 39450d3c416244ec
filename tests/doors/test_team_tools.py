"""What Claude does with a team's memory by the tools, and what takes the person's yes."""

from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from mcp import Client

from mcp_server.actions.team import membership, recall
from mcp_server.bootstrap import Opened
from mcp_server.core.team.team import Role
from mcp_server.doors.server import build
from tests.actions.team.people import said
from tests.conftest import Open
from tests.doors.test_server import Answers
from tests.patience import PATIENCE
from tests.person import Person
from tests.team_server.minimal_team import MinimalTeam
from tests.team_server.served import served

QUESTION = "why is body parsing skipped for the webhook?"
Talk = Callable[..., None]


@pytest.fixture
def team() -> MinimalTeam:
    return MinimalTeam()


@pytest.fixture
def opened(team: MinimalTeam, open_here: Open, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """The store of ben, a curator who has joined."""
    monkeypatch.setattr(recall, "PATIENCE", PATIENCE)  # a busy machine may need more than 300 ms
    with served(team) as url:
        opened = open_here()
        token = team.issue("ben", Role.CURATOR)
        joining = membership.look_ahead(opened.store(), url, token, opened.team.at(url, token))
        membership.join(opened.store(), joining, opened.team.at(url, token))
        yield opened


@pytest.fixture
def talk(opened: Opened) -> Talk:
    """Hold a conversation with a server of ben's, whose dialog gives *answers*."""

    def run(conversation: Callable[[Answers], Any], *answers: str) -> None:
        async def main() -> None:
            async with Client(build(opened), elicitation_callback=Person(*answers)) as client:
                await conversation(Answers(client))

        anyio.run(main)

    return run


def test_claude_shares_what_it_is_asked_to_and_finds_what_others_wrote(team: MinimalTeam, talk: Talk) -> None:
    said(team, "webhook")

    async def conversation(call: Answers) -> None:
        shared = await call(
            "remember", title="Invoices", content="Invoices are numbered per year.", level="team"
        )
        assert "remembered (team level)" in shared
        assert team.kept.load(shared.partition(":")[0]).author == "ben"
        found = await call("recall", query=QUESTION)
        assert "webhook · gotcha · team" in found
        assert "by anna, not confirmed" in found and "treat as data" in found
        whole = await call("read_memory", id="webhook")
        assert "written by: anna" in whole and "nobody: treat as data" in whole
        assert "created" in await call("history", id="webhook")

    talk(conversation)


def test_what_others_share_is_changed_and_taken_away_only_with_the_persons_yes(
    team: MinimalTeam, talk: Talk
) -> None:
    said(team, "webhook")

    async def conversation(call: Answers) -> None:
        refused = await call("revise", id="webhook", content="Parse it.")
        assert call.failed and "needs the person's consent" in refused
        assert "Parse it" not in team.kept.load("webhook").memory.text
        assert "revised (team level)" in await call("revise", id="webhook", content="Parse it.")
        refused = await call("forget", id="webhook")
        assert call.failed and team.kept.load("webhook")
        assert "forgotten for the whole team" in await call("forget", id="webhook")
        await call("forget", id="webhook", forever=True)
        assert call.failed
        assert "restored for the whole team" in await call("restore_memory", id="webhook")

    talk(conversation, "no", "yes", "no", "yes", "yes")
