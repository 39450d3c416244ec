"""Results about a team's memory, to be shown."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp_server.actions.exchange.team_folder import TakenByTeam
from mcp_server.actions.team.copy import Copy
from mcp_server.actions.team.give import GivenToTeam
from mcp_server.actions.team.membership import Joining, Membership
from mcp_server.actions.team.memories import ForgottenInTeam, Unconfirmed
from mcp_server.actions.team.send import Sent, Waiting
from mcp_server.actions.team.store_in_team import StoredInTeam
from mcp_server.adapters.team_membership import LastCopy, Stayed
from mcp_server.core.search.query import Confidence
from mcp_server.core.storage.port import ChangeKind, ChangeRecord, Result, Stored
from mcp_server.core.team.team import Member, Role, Team
from mcp_server.doors.shown import Shown, taken_in, team
from tests.doors.shown_values import HIT, HOSTILE, MEMORY, NOON, SECRET

URL = "https://team.example.org"
TEAM = Team(HOSTILE, "anna", Role.WRITER, ("carla",), "minilm-l6-int8")
STORED = Stored(MEMORY, "ab" * 32, "anna", "carla")
UNCONFIRMED = Stored(replace(MEMORY, id="webhook-2"), "cd" * 32, "boris")
NEAR = Result(UNCONFIRMED, "Skip it.", HIT.parts, Confidence.HIGH)
WAITS = Waiting(
    "webhook-1", HOSTILE, "2026-11-20 12:00", "", MEMORY, "", False, Path("/store/team/waiting/a.json")
)
REPLACING = StoredInTeam(STORED, near=(NEAR,), gone=("old",), kept=(("older", HOSTILE),))
KNOWN = StoredInTeam(STORED, known=True)
REFUSED = replace(WAITS, refused=f"'webhook-1' was changed meanwhile: {SECRET}")
MEMBERSHIP = Membership(
    URL, "The Quaggas", "anna", "writer", ("carla",), "minilm-l6-int8", 2,
    LastCopy("2026-11-20 12:00", "The team's server did not answer.", 3), (WAITS, REFUSED),
    (Stayed("older", "webhook-1", HOSTILE),), ("/store/team/waiting/b.json",),
)  # fmt: skip
NOTHING: dict[str, Any] = {"waiting": (), "stayed": (), "unreadable": ()}
CHANGES = (
    ChangeRecord(ChangeKind.CREATED, NOON, "anna", None),
    ChangeRecord(ChangeKind.REVISED, NOON, "boris", replace(MEMORY, text=f"Skip all. {SECRET}")),
    ChangeRecord(ChangeKind.CONFIRMED, NOON, "carla", MEMORY),
)

TEAM_FAMILIES: dict[str, Callable[[], list[Shown]]] = {
    "team": lambda: [
        team.joining(Joining(URL, SECRET, TEAM, "minilm-l12", 2)),
        team.joining(Joining(URL, SECRET, replace(TEAM, curators=(), model=""))),
        team.was_joined(HOSTILE, Copy(2, 2, 0)),
        team.state(MEMBERSHIP),
        team.state(
            replace(MEMBERSHIP, model="", curators=(), last=LastCopy(), waiting=(), stayed=(), unreadable=())
        ),
        team.state(None),
        team.sent(Sent((REPLACING, KNOWN), (REFUSED,), "The team's server did not answer.")),
        team.sent(Sent()),
        team.stored(GivenToTeam(MEMORY, REPLACING)),
        team.stored(GivenToTeam(MEMORY, StoredInTeam(UNCONFIRMED)), verb="revised"),
        team.stored(GivenToTeam(MEMORY, KNOWN)),
        team.stored(GivenToTeam(MEMORY, waits="The team's server did not answer.")),
        team.forgotten(ForgottenInTeam("webhook-2", ("webhook-1",))),
        team.restored(STORED),
        team.confirmed(STORED),
        team.whole(STORED),
        team.whole(UNCONFIRMED),
        team.history("webhook-1", CHANGES, STORED),
        team.history("webhook-1", CHANGES[:1], None),
        team.unconfirmed(Unconfirmed((UNCONFIRMED,), 1, True)),
        team.unconfirmed(Unconfirmed((UNCONFIRMED,), 70, False)),
        team.unconfirmed(Unconfirmed((), 0, True)),
        team.dropped(WAITS),
    ],
    "team_folder": lambda: [
        taken_in.taken_in_team(TakenByTeam(2, 1, (("webhook-1.md", HOSTILE), ("b.md", SECRET)))),
        taken_in.taken_in_team(TakenByTeam(0, 3, ())),
        team.members([Member("anna", Role.WRITER), Member("carla", Role.CURATOR)]),
        team.members([]),
    ],
}
