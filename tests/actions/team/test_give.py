"""Remembering for the team: what it has then, what waits while it is away, what it refuses, who may what."""

from dataclasses import replace

import pytest

from mcp_server.actions.context.notice import next_notice
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, version
from mcp_server.actions.status.status import status
from mcp_server.actions.team.copy import copy
from mcp_server.actions.team.give import remember_for_team, revise_for_team
from mcp_server.actions.team.memories import (
    confirm_in_team,
    forget_if_of_team,
    history_if_of_team,
    is_of_team,
    load_in_team,
    read_anywhere,
    restore_anywhere,
    unconfirmed,
)
from mcp_server.actions.team.send import drop, send, waiting
from mcp_server.actions.team.where import told_where
from mcp_server.actions.upkeep.work import work
from mcp_server.core.errors import Conflict, NotAllowed, NotFound, Rejected, StorageUnavailable
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.storage.port import ChangeKind, Stored
from mcp_server.core.team.team import Role
from mcp_server.doors.shown import team as shown
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.store import Store
from tests.actions.team.conftest import Join
from tests.actions.team.people import WEBHOOK, Person, confirmed, draft, of, put_off, remembered, saved
from tests.conftest import Clock
from tests.team_server.minimal_team import MinimalTeam


def agreed() -> None:
    """Agree to a change of what the team shares."""


def of_history(curator: Person) -> tuple[list[tuple[ChangeKind, str]], str]:
    """Return (what was done to the webhook and by whom, what it says now or '')."""
    _, changes, now = history_if_of_team(curator.store, "webhook") or ("", (), None)
    return [(change.kind, change.author) for change in changes], now.memory.text if now else ""


def test_what_is_remembered_for_the_team_is_there_and_nothing_of_the_session(
    team: MinimalTeam, ben: Person
) -> None:
    stored_now = remembered(
        ben.store, session="s1", evidence="I said so", links=(Link("relates-to", "a-note-of-mine"),)
    )
    stored = ben.team.load(stored_now.stored.memory.id)
    assert stored_now.stored == stored
    assert (stored.author, stored.confirmed_by, stored.memory.text) == ("ben", "", WEBHOOK)
    assert (stored.memory.session, stored.memory.evidence, stored.memory.links) == ("", "", ())


def test_a_link_leads_to_what_the_team_has_and_never_to_a_memory_of_the_person(
    team: MinimalTeam, ben: Person
) -> None:
    saved(team, "parser", "Parse nothing.")
    own, forgotten = (remember(ben.store, draft(f"Mine {n}.", level=Level.USER)).memory.id for n in (1, 2))
    forget(ben.store, forgotten)
    saved(team, own, "Of the same id.")
    names = ("parser", own, forgotten, "nothing-of-the-sort", "src/app.py")
    links = tuple(Link("relates-to", name) for name in names)

    stored = remembered(ben.store, links=links).stored.memory
    assert [link.to for link in stored.links] == ["parser", "src/app.py"]
    loaded: list[str] = []
    load = ben.team.load
    ben.team.load = lambda name: (loaded.append(name), load(name))[1]  # type: ignore[method-assign]
    revised = revise_for_team(ben.store, stored.id, Revision(links=(*links, Link("refines", "parser"))))
    assert {link.to for link in revised.memory.links} == {"parser", "src/app.py"}
    assert not {own, forgotten}.intersection(loaded), "its server is not told of them"


def test_what_the_team_knows_already_is_told_and_not_stored_twice(team: MinimalTeam, ben: Person) -> None:
    saved(team, "webhook", title="Webhook")
    stored_now = remembered(ben.store)
    assert (stored_now.known, stored_now.stored.memory.id) == (True, "webhook")
    assert len(ben.team.page()) == 1
    near = remembered(
        ben.store, "The webhook of Stripe needs the raw body, unless it is a test.", title="Tests"
    )
    assert [memory.stored.memory.id for memory in near.near] == ["webhook"]


def test_a_secret_that_is_given_on_purpose_is_in_no_id(ben: Person) -> None:
    given = remember_for_team(ben.store, draft(title="Bucket AKIAIOSFODNN7QWERTZU"), keep_secrets=True).done

    assert given and given.stored.memory.id.startswith("bucket-secret-removed-")


def test_a_secret_is_not_given_to_others(ben: Person) -> None:
    with pytest.raises(Rejected, match="seems to contain"):
        remembered(ben.store, "The key is sk_live_51H8xY2eZvKYlo2C9aBcDeFgHiJkLmNoPqRsTuVwXyZ012345.")
    assert not ben.team.page()


def test_a_reader_is_told_that_they_may_not(team: MinimalTeam, person: Join) -> None:
    ben = person(role=Role.READER)
    ben.join()
    with pytest.raises(NotAllowed):
        remembered(ben.store)
    assert not waiting(ben.store)


def test_without_a_team_the_person_is_told_how_to_join(store: Store) -> None:
    with pytest.raises(Rejected, match="not in a team") as refused:
        remembered(store)
    assert "daybook team join" in refused.value.hint


def test_while_the_team_is_away_it_waits_and_the_worker_gives_it(team: MinimalTeam, ben: Person) -> None:
    team.away = True
    memory = put_off(ben.store)
    (waits,) = waiting(ben.store)
    assert (waits.id, waits.refused) == (memory.id, "")
    assert send(ben.store, ben.team).trouble
    state = status(ben.store, has_key=False)
    assert state.team and len(state.team.waiting) == 1

    team.away = False
    assert work(lambda _: ben.store)
    assert ben.team.load(memory.id).memory.text == WEBHOOK
    assert not waiting(ben.store)


def test_what_waited_is_compared_and_takes_the_place_of_another_as_if_it_had_not_waited(
    team: MinimalTeam, ben: Person
) -> None:
    old = remembered(ben.store, "The webhook of Stripe is parsed by express.").stored.memory.id
    team.away = True
    new = put_off(ben.store, "The webhook of Stripe takes bytes.", title="New", supersedes=(old,))
    put_off(ben.store)
    team.away = False
    saved(team, "webhook", title="Webhook")
    first, second = send(ben.store, ben.team).given
    assert (first.stored.memory.id, first.gone) == (new.id, (old,))
    assert ben.team.load(old).memory.superseded_by == new.id
    assert (second.known, second.stored.memory.id) == (True, "webhook")
    assert len(ben.team.page()) == 3


def test_a_server_that_goes_away_before_the_old_gave_way_is_asked_again(
    team: MinimalTeam, ben: Person
) -> None:
    old = remembered(ben.store, "The webhook of Stripe is parsed by express.").stored.memory.id
    ben.team.goes_away_after_saving = team
    new = put_off(ben.store, "The webhook of Stripe takes bytes.", title="New", supersedes=(old,))
    team.away = False
    assert ben.team.load(new.id).memory.text == "The webhook of Stripe takes bytes."
    assert ben.team.load(old).memory.status is Status.ACTIVE
    assert [gift.gone for gift in send(ben.store, ben.team).given] == [(old,)]
    assert len(ben.team.history(new.id)) == 1


def test_giving_again_what_a_killed_sending_gave_already_changes_nothing(
    team: MinimalTeam, ben: Person
) -> None:
    team.away = True
    memory = put_off(ben.store)
    team.away = False
    ben.team.save(memory)  # and then the process was killed
    assert [gift.stored.memory.id for gift in send(ben.store, ben.team).given] == [memory.id]
    assert len(ben.team.history(memory.id)) == 1


def test_a_refusal_stays_and_is_told_until_the_person_decides(team: MinimalTeam, ben: Person) -> None:
    mine = remembered(ben.store).stored
    copy(ben.store, ben.team)
    carla = of(team, "carla", Role.CURATOR)
    carla.confirm(mine.memory.id, digest=mine.digest)
    copy(ben.store, ben.team)
    team.away = True
    revise_for_team(ben.store, mine.memory.id, Revision(text="Skip the parser."))
    revise_for_team(ben.store, mine.memory.id, Revision(text="Skip the parser, always."))
    assert len(waiting(ben.store)) == 1, "a later version takes the place of an earlier"
    team.away = False
    said_by_carla = carla.load(mine.memory.id)
    carla.save(replace(said_by_carla.memory, text="Carla was faster."), replaces=said_by_carla.digest)

    (refused,) = send(ben.store, ben.team).refused
    assert refused.id == mine.memory.id
    (waits,) = waiting(ben.store)
    assert "was changed meanwhile" in waits.refused
    assert waits.memory.text == "Skip the parser, always."
    assert not send(ben.store, ben.team).refused, "it is not asked again by itself"
    assert any("Refused by the team: 1 memory" in need for need in needs_of(status(ben.store, has_key=False)))
    assert "refused what you sent: 1 memory" in sentence(next_notice(ben.store, identity=""))

    assert drop(ben.store, mine.memory.id).id == mine.memory.id
    assert not waiting(ben.store)
    assert "did not take" not in sentence(next_notice(ben.store, identity=""))


def test_a_memory_that_only_the_server_has_is_read_revised_forgotten_and_restored(
    team: MinimalTeam, person: Join
) -> None:
    carla = person("carla", Role.CURATOR)
    carla.join()
    saved(team, "webhook")
    stored = read_anywhere(carla.store, "webhook")
    assert isinstance(stored, Stored)
    assert stored.author == "anna"
    assert is_of_team(carla.store, "webhook")
    assert not is_of_team(carla.store, "nothing-of-the-sort")
    with pytest.raises(NotFound):
        read_anywhere(carla.store, "nothing-of-the-sort")
    revise_for_team(carla.store, "webhook", Revision(text="Skip the parser."))
    assert carla.team.load("webhook").author == "anna"
    forget_if_of_team(carla.store, "webhook", forever=False, consent=agreed)
    with pytest.raises(NotFound):
        carla.team.load("webhook")
    told = told_where(lambda: carla.store, NotFound("webhook"))
    assert str(told) == "'webhook' is the team's, and carla forgot it."
    done = [(ChangeKind.CREATED, "anna"), (ChangeKind.REVISED, "carla"), (ChangeKind.FORGOTTEN, "carla")]
    assert of_history(carla) == (done, "")
    restore_anywhere(carla.store, "webhook", consent=agreed)
    with pytest.raises(Rejected, match="was not forgotten"):
        restore_anywhere(carla.store, "webhook", consent=agreed)
    assert of_history(carla) == ([*done, (ChangeKind.RESTORED, "carla")], "Skip the parser.")
    assert history_if_of_team(carla.store, "nothing-of-the-sort") is None


def test_a_writer_neither_changes_nor_confirms_what_others_wrote(team: MinimalTeam, ben: Person) -> None:
    saved(team, "webhook")
    with pytest.raises(NotAllowed):
        revise_for_team(ben.store, "webhook", Revision(text="Skip the parser."))
    with pytest.raises(NotAllowed):
        forget_if_of_team(ben.store, "webhook", forever=False, consent=agreed)
    with pytest.raises(NotAllowed):
        confirm_in_team(ben.store, load_in_team(ben.store, "webhook"))


def test_a_curator_sees_what_waits_newest_first_and_confirms_exactly_what_they_read(
    team: MinimalTeam, person: Join, clock: Clock
) -> None:
    clock.pass_days(1)
    carla = person("carla", Role.CURATOR)
    carla.join()
    confirmed(team, "deploys", "Deploys go out on Fridays.")
    saved(team, "webhook")
    new = remembered(carla.store, "Invoices are numbered per year.").stored.memory.id
    assert [stored.memory.id for stored in unconfirmed(carla.store).stored] == [new, "webhook"]
    read_before = load_in_team(carla.store, "webhook")
    saved(team, "webhook", "Skip the parser.")
    with pytest.raises(Conflict):
        confirm_in_team(carla.store, read_before)
    confirm_in_team(carla.store, load_in_team(carla.store, "webhook"))
    assert read_anywhere(carla.store, "webhook").memory.text == "Skip the parser."
    assert (carla.store.home / "team" / "knowledge" / "webhook.md").exists(), "its own copy follows at once"


def test_what_takes_the_place_of_another_supersedes_it_if_the_member_may(
    team: MinimalTeam, ben: Person
) -> None:
    saved(team, "of-anna", "The webhook of Stripe is parsed by express.")
    mine = remembered(ben.store).stored.memory.id
    stored_now = remembered(
        ben.store, "The webhook of Stripe takes bytes.", title="New", supersedes=(mine, "of-anna")
    )
    assert stored_now.gone == (mine,)
    assert dict(stored_now.kept)["of-anna"]
    assert ben.team.load(mine).memory.status is Status.SUPERSEDED
    assert ben.team.load("of-anna").memory.status is Status.ACTIVE


def test_what_was_superseded_holds_again_when_it_is_restored(ben: Person) -> None:
    old = remembered(ben.store).stored.memory.id
    new = remembered(ben.store, "The webhook takes bytes.", title="New", supersedes=(old,)).stored.memory.id

    forgotten = forget_if_of_team(ben.store, new, forever=False, consent=agreed)
    assert forgotten and (forgotten.id, forgotten.superseded) == (new, (old,))
    assert f"make one active again with: daybook restore {old}" in str(shown.forgotten(forgotten).notes)
    retold = shown.stored(revise_for_team(ben.store, old, Revision(tags=("http",))), verb="revised")
    assert f"It is superseded by {new}" in retold.notes[0]

    restored = restore_anywhere(ben.store, old, consent=agreed)

    assert isinstance(restored, Stored)
    again = ben.team.load(old).memory
    assert (again.status, again.superseded_by, again.valid_to) == (Status.ACTIVE, "", None)
    with pytest.raises(Rejected, match="was not forgotten"):
        restore_anywhere(ben.store, old, consent=agreed)


def test_what_is_in_the_persons_trash_needs_no_server(team: MinimalTeam, ben: Person) -> None:
    own = remember(ben.store, draft(level=Level.USER)).memory.id
    forget(ben.store, own)
    team.away = True
    assert not is_of_team(ben.store, own)
    with pytest.raises(StorageUnavailable):
        is_of_team(ben.store, "perhaps-the-teams")


def test_a_change_names_the_version_that_was_read_of_the_copy(team: MinimalTeam, person: Join) -> None:
    confirmed(team, "webhook")
    anna = person("anna")
    anna.join()
    copied = read_anywhere(anna.store, "webhook")
    assert isinstance(copied, MemoryFile)
    tagged = Revision(tags=("stripe",))

    with pytest.raises(Conflict):
        revise_for_team(anna.store, "webhook", tagged, version="0123456789ab")
    assert revise_for_team(anna.store, "webhook", tagged, version=version(copied)).done
    with pytest.raises(Conflict):
        revise_for_team(anna.store, "webhook", tagged, version=version(copied))
