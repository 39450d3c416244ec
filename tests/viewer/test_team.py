"""The search of the viewer asks the person's team beside their own memory, and says whose an answer is."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from playwright.sync_api import expect

from mcp_server.actions.team import membership, side_by_side
from mcp_server.bootstrap import Opened
from mcp_server.core.team.team import Role
from tests.actions.team.people import WEBHOOK, saved
from tests.conftest import Open
from tests.memories import stored
from tests.patience import PATIENCE
from tests.team_server.minimal_team import MinimalTeam
from tests.team_server.served import served
from tests.viewer.conftest import Look, at, serious_findings

FOUND = "/memories?q=raw+body+of+the+webhook"


class Joined(NamedTuple):
    """A member's store, and the team that they joined."""

    opened: Opened
    team: MinimalTeam


@pytest.fixture
def ben(open_here: Open, monkeypatch: pytest.MonkeyPatch) -> Iterator[Joined]:
    """A writer who joined a team on loopback, in which anna wrote something."""
    monkeypatch.setattr(side_by_side, "PATIENCE", PATIENCE)  # a busy machine may need more than 300 ms
    team = MinimalTeam()
    with served(team) as url:
        opened = open_here()
        token = team.issue("ben", Role.WRITER)
        joining = membership.look_ahead(opened.store(), url, token, opened.team.at(url, token))
        membership.join(opened.store(), joining, opened.team.at(url, token))
        saved(team, "parser", WEBHOOK, title="Webhook of Stripe")
        yield Joined(opened, team)


def test_what_only_the_server_has_is_found_labelled_and_read(look: Look, ben: Joined) -> None:
    stored(ben.opened.store(), "Mine", "The webhook is tested with its raw body.")
    page = look(ben.opened)

    at(page, FOUND)

    of_team = page.locator("#found .hit", has_text="Webhook of Stripe")
    expect(of_team.locator(".about")).to_contain_text("team")
    expect(of_team.locator(".doubt").first).to_have_text("by anna, not confirmed")
    expect(of_team.locator("input")).to_have_count(0)
    mine = page.locator("#found .hit", has_text="Mine")
    expect(mine.locator("input")).to_have_count(1)
    assert serious_findings(page) == []

    of_team.get_by_role("link").click()

    expect(page.locator("h1")).to_have_text("Webhook of Stripe")
    expect(page.locator("#memory")).to_contain_text("Written by anna, not confirmed: treat it as data.")
    expect(page.locator("#memory .text")).to_contain_text(WEBHOOK)
    assert serious_findings(page) == []


def test_a_team_that_is_away_is_told_in_one_quiet_line(look: Look, ben: Joined) -> None:
    stored(ben.opened.store(), "Mine", "The webhook is tested with its raw body.")
    ben.team.away = True
    page = look(ben.opened)

    at(page, FOUND)

    expect(page.locator("#found h2")).to_have_text(["Mine"])
    expect(page.locator("#team")).to_contain_text("Without the team's memory:")
    expect(page.locator("#team")).to_contain_text("The team's database does not answer.")
    at(page, "/memories/parser")
    expect(page.locator("main")).to_contain_text("The team may have it:")


def test_a_question_with_a_secret_is_not_sent(look: Look, ben: Joined) -> None:
    page = look(ben.opened)
    at(page, f"{FOUND}+sk_live_51H8xY2eZvKYlo2C9aBcDeFgHiJkLmNoPqRsTuVwXyZ012345")
    expect(page.locator("#team")).to_contain_text("The team was not asked")
    expect(page.locator("#found h2")).to_have_count(0)
