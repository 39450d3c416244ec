"""What the team keeps although a worker sent something to replace it."""

from mcp_server.actions.context.notice import notice
from mcp_server.actions.status.status import status
from mcp_server.actions.team.give import remember_for_team
from mcp_server.actions.upkeep.work import work
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.doors.shown.state import needs as needs_of
from tests.actions.team.people import Person, saved
from tests.team_server.minimal_team import MinimalTeam


def test_what_stays_when_the_worker_gives_its_replacement_is_told_once_and_listed(
    team: MinimalTeam, ben: Person
) -> None:
    saved(team, "of-anna", "The webhook of Stripe is parsed by express.")
    team.away = True
    draft = Draft("New", "The webhook of Stripe takes bytes.", level=Level.TEAM, supersedes=("of-anna",))
    new = remember_for_team(ben.store, draft).memory
    team.away = False

    assert work(lambda _: ben.store)

    state = status(ben.store, has_key=False)
    assert state.team
    (stayed,) = state.team.stayed
    assert (stayed.id, stayed.new) == ("of-anna", new.id)
    assert stayed.why
    assert any("Kept by the team" in need for need in needs_of(state))
    assert "sent a replacement for: 1 memory" in sentence(notice(ben.store, identity=""))
    assert "replacement" not in sentence(notice(ben.store, identity=""))
