"""What of a person's own memories is given to the team, what of them is not, and whose words stay."""

from dataclasses import replace
from pathlib import Path

import pytest

from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.team.give import promote_to_team, remember_for_team, revise_for_team
from mcp_server.actions.team.memories import read_anywhere
from mcp_server.actions.team.send import send, waiting
from mcp_server.core.errors import Conflict, Rejected
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.storage.port import Stored
from mcp_server.core.team.team import Role
from mcp_server.store import Store
from tests.actions.team.people import WEBHOOK, Person, draft, of, put_off, remembered
from tests.team_server.minimal_team import MinimalTeam


def promoted(store: Store, own: str) -> Stored:
    """Promote *own* to the team, whose server answers."""
    promoted_as = promote_to_team(store, own).done
    assert promoted_as
    return promoted_as.stored


def test_promoting_gives_the_team_a_copy_and_later_its_change(team: MinimalTeam, ben: Person) -> None:
    own = remember(ben.store, draft(level=Level.USER)).memory.id
    assert promoted(ben.store, own) == ben.team.load(own)
    stored = ben.team.load(own)
    assert (stored.memory.text, stored.author) == (WEBHOOK, "ben")
    assert read_anywhere(ben.store, own).memory.text == WEBHOOK
    assert promoted(ben.store, own) == stored, "it says nothing new"
    revise(ben.store, own, Revision(text="Skip body parsing for the webhook."))
    promoted(ben.store, own)
    assert ben.team.load(own).memory.text == "Skip body parsing for the webhook."
    revise(ben.store, own, Revision(tags=("stripe",)))
    promoted(ben.store, own)
    assert ben.team.load(own).memory.tags == ("stripe",)
    assert len(ben.team.history(own)) == 3


def test_what_another_member_wrote_since_is_not_replaced_by_promoting_again(
    team: MinimalTeam, ben: Person
) -> None:
    own = remember(ben.store, draft(level=Level.USER)).memory.id
    promoted(ben.store, own)
    carla = of(team, "carla", Role.CURATOR)
    theirs = replace(carla.load(own).memory, text="Skip the parser.")
    carla.save(theirs, replaces=carla.load(own).digest)
    revise(ben.store, own, Revision(tags=("stripe",)))

    with pytest.raises(Conflict, match="carla wrote what"):
        promote_to_team(ben.store, own)
    assert ben.team.load(own).memory == theirs

    forget(ben.store, own)  # as the hint says
    revise_for_team(ben.store, own, Revision(tags=("stripe",)))
    assert (ben.team.load(own).memory.text, ben.team.load(own).memory.tags) == (theirs.text, ("stripe",))


def test_no_id_of_the_persons_own_is_given_with_what_supersedes_it(team: MinimalTeam, ben: Person) -> None:
    shared = remember(ben.store, draft(level=Level.USER)).memory.id
    promoted(ben.store, shared)
    private = remember(ben.store, draft("Ben looks for a new job.", level=Level.USER)).memory.id
    words = draft("The webhook needs the bytes.", level=Level.USER, supersedes=(shared, private))
    own = remember(ben.store, words).memory.id

    for text in ("", "The webhook needs the bytes, all of them."):
        if text:
            revise(ben.store, own, Revision(text=text))
        assert promoted(ben.store, own).memory.supersedes == (shared,)
    assert ben.team.load(shared).memory.status is Status.SUPERSEDED, "the team has that"


def test_what_is_marked_private_is_not_given_to_others(team: MinimalTeam, ben: Person) -> None:
    private = f"{WEBHOOK} <private>Its owner is Eve.</private>"
    own = remember(ben.store, draft(private, level=Level.USER)).memory.id
    saved_id = remembered(ben.store, "Skip the parser.").stored.memory.id
    for gives in (
        lambda: promote_to_team(ben.store, own),
        lambda: remember_for_team(ben.store, draft(private)),
        lambda: revise_for_team(ben.store, saved_id, Revision(text=private)),
    ):
        with pytest.raises(Rejected, match="marked <private>"):
            gives()
    assert [stored.memory.text for stored in ben.team.page()] == ["Skip the parser."]
    team.away = True
    waits = put_off(ben.store)
    with pytest.raises(Rejected, match="marked <private>"):
        revise_for_team(ben.store, waits.id, Revision(text=private))


def test_no_file_is_named_with_the_persons_home(
    team: MinimalTeam, ben: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "jane-q-person"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    file = str(home / "notes" / "deploy.md")
    links = (Link("relates-to", file),)
    stored_id = remembered(ben.store, touches=(f"{file}:4",), links=links).stored.memory.id
    revise_for_team(ben.store, stored_id, Revision(touches=(file, f"{file}:5")))
    team.away = True
    put_off(ben.store, "Deploys start from the release branch.", touches=(file,))
    revise_for_team(ben.store, waiting(ben.store)[0].id, Revision(touches=(file,), links=links))
    team.away = False
    send(ben.store, ben.team)

    given = [stored.memory for stored in ben.team.page()]
    assert len(given) == 2 and home.name not in str(given)
    assert ben.team.load(stored_id).memory.touches == ("~/notes/deploy.md", "~/notes/deploy.md:5")


def test_a_change_that_is_promoted_while_the_team_is_away_is_given_later(
    team: MinimalTeam, ben: Person
) -> None:
    own = remember(ben.store, draft(level=Level.USER)).memory.id
    promoted(ben.store, own)
    revise(ben.store, own, Revision(text="Skip body parsing for the webhook."))
    team.away = True
    assert promote_to_team(ben.store, own).waits
    team.away = False
    assert send(ben.store, ben.team).given
    assert ben.team.load(own).memory.text == "Skip body parsing for the webhook."


def test_what_waits_for_the_persons_word_is_not_given_to_others(ben: Person) -> None:
    own = remember(ben.store, draft(level=Level.USER, source="assistant")).memory.id
    with pytest.raises(Rejected, match="waits for you to accept it"):
        promote_to_team(ben.store, own)
