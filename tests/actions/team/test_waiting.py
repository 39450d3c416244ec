"""What waits for the team's server and changes meanwhile, or cannot be read, is not lost."""

from dataclasses import replace

import pytest

from mcp_server.actions.memory.revise import Revision
from mcp_server.actions.status.status import status
from mcp_server.actions.team.copy import copy
from mcp_server.actions.team.give import remember_for_team, revise_for_team
from mcp_server.actions.team.memories import forget_if_of_team, is_of_team, read_anywhere
from mcp_server.actions.team.send import drop, put_off, send, waiting
from mcp_server.core.errors import NotAllowed, Rejected, TokenUnknown
from mcp_server.core.memory import Draft, Memory
from mcp_server.core.storage.port import Stored
from mcp_server.core.team.team import Role
from tests.actions.team.conftest import Join
from tests.actions.team.people import WEBHOOK, Person, confirmed, saved
from tests.team_server.minimal_team import MinimalTeam

LATER = "The webhook of Stripe needs the raw body and its header."


@pytest.fixture
def memory(team: MinimalTeam, ben: Person) -> Memory:
    """A memory that waits for the server, which is back."""
    team.away = True
    waiting_memory = remember_for_team(ben.store, Draft("Webhook", WEBHOOK, type="gotcha")).memory
    team.away = False
    return waiting_memory


def changed(ben: Person, memory: Memory) -> None:
    """Change it where the server is not reached."""
    put_off(ben.store, replace(memory, text=LATER))


def test_a_later_version_goes_on_waiting_and_replaces_the_one_that_was_sent(
    ben: Person, memory: Memory
) -> None:
    ben.team.while_saving = lambda: changed(ben, memory)

    assert len(send(ben.store, ben.team).given) == 1
    assert ben.team.load(memory.id).memory.text == WEBHOOK
    assert [entry.memory.text for entry in waiting(ben.store)] == [LATER]

    assert not send(ben.store, ben.team).refused
    assert ben.team.load(memory.id).memory.text == LATER
    assert not waiting(ben.store)


def test_a_later_version_is_not_replaced_by_the_refusal_of_the_earlier(ben: Person, memory: Memory) -> None:
    def refuse() -> None:
        changed(ben, memory)
        raise NotAllowed("Readers write nothing.")

    ben.team.while_saving = refuse

    assert not send(ben.store, ben.team).refused, "the later version was not asked about"
    assert [(entry.memory.text, entry.refused) for entry in waiting(ben.store)] == [(LATER, "")]


def test_what_is_dropped_while_it_is_sent_waits_no_more(ben: Person, memory: Memory) -> None:
    ben.team.while_saving = lambda: drop(ben.store, memory.id)

    assert len(send(ben.store, ben.team).given) == 1
    assert not waiting(ben.store)


@pytest.mark.parametrize("content", ["{", "{}", '{"memory": {"id": "webhook", "kind": "poem"}}'])
def test_a_file_that_waits_and_cannot_be_read_is_named_and_the_others_are_sent(
    ben: Person, memory: Memory, content: str
) -> None:
    (entry,) = waiting(ben.store)
    damaged = entry.path.with_name("20260101T000000-webhook.json")
    damaged.write_text(content, encoding="utf-8")

    assert [gift.stored.memory.id for gift in send(ben.store, ben.team).given] == [memory.id]

    state = status(ben.store, has_key=False)
    assert state.team and state.team.unreadable == (str(damaged),)
    assert damaged.read_text(encoding="utf-8") == content


def test_what_waits_is_read_and_changed_again_with_nothing_lost(team: MinimalTeam, ben: Person) -> None:
    team.away = True
    waits = remember_for_team(ben.store, Draft("Webhook", WEBHOOK, type="gotcha")).memory
    read_now = read_anywhere(ben.store, waits.id)
    assert isinstance(read_now, Stored)
    assert (read_now.memory.text, read_now.digest, read_now.author) == (WEBHOOK, "", "ben")

    assert is_of_team(ben.store, waits.id)
    revise_for_team(ben.store, waits.id, Revision(tags=("stripe",)))
    assert not revise_for_team(ben.store, waits.id, Revision(text=LATER)).done
    (entry,) = waiting(ben.store)
    assert (entry.memory.text, entry.memory.tags) == (LATER, ("stripe",))

    team.away = False
    send(ben.store, ben.team)
    stored = ben.team.load(waits.id).memory
    assert (stored.text, stored.tags) == (LATER, ("stripe",))


def test_of_two_changes_of_the_teams_memory_while_it_is_away_none_is_lost(
    team: MinimalTeam, person: Join
) -> None:
    confirmed(team, "webhook")
    anna = person("anna")
    anna.join()
    team.away = True
    revise_for_team(anna.store, "webhook", Revision(tags=("stripe",)))
    team.away = False  # it is back, and the worker has not sent the first yet
    revise_for_team(anna.store, "webhook", Revision(text=LATER))

    assert not send(anna.store, anna.team).refused
    stored = anna.team.load("webhook").memory
    assert (stored.text, stored.tags) == (LATER, ("stripe",))


def test_a_change_of_a_copied_memory_is_read_where_it_waits(team: MinimalTeam, person: Join) -> None:
    confirmed(team, "webhook")
    carla = person("carla", Role.CURATOR)
    carla.join()
    team.away = True
    revise_for_team(carla.store, "webhook", Revision(text=LATER))
    for away in (True, False):
        team.away = away
        read_now = read_anywhere(carla.store, "webhook")
        assert isinstance(read_now, Stored)
        assert (read_now.memory.text, read_now.digest, read_now.author) == (LATER, "", "anna")

    saved(team, "webhook", "Skip the parser.")
    assert send(carla.store, carla.team).refused
    assert read_anywhere(carla.store, "webhook").memory.text == WEBHOOK, "what was refused is not what holds"


def test_a_change_of_what_the_team_forgot_meanwhile_says_so_and_stays(
    team: MinimalTeam, person: Join
) -> None:
    stored = confirmed(team, "webhook")
    anna = person("anna")
    anna.join()
    team.away = True
    revise_for_team(anna.store, "webhook", Revision(text=LATER))
    team.away = False
    anna.team.forget("webhook", digest=stored.digest)

    (refused,) = send(anna.store, anna.team).refused

    (entry,) = waiting(anna.store)
    assert entry.refused.startswith("The team no longer has 'webhook'") and refused.id == "webhook"
    assert "'daybook read webhook' shows your words" in entry.refused
    copy(anna.store, anna.team)
    assert read_anywhere(anna.store, "webhook").memory.text == LATER


def test_what_was_refused_is_changed_and_sent_again(ben: Person, memory: Memory) -> None:
    def refuse() -> None:
        raise NotAllowed("Readers write nothing.")

    ben.team.while_saving = refuse
    assert send(ben.store, ben.team).refused
    revise_for_team(ben.store, memory.id, Revision(text=LATER))
    assert not send(ben.store, ben.team).refused
    assert ben.team.load(memory.id).memory.text == LATER


def test_a_refused_change_leaves_the_way_to_what_the_team_says_now(team: MinimalTeam, person: Join) -> None:
    confirmed(team, "webhook")
    anna = person("anna")
    anna.join()
    team.away = True
    revise_for_team(anna.store, "webhook", Revision(text=LATER))
    team.away = False
    saved(team, "webhook", "Skip the parser.")
    assert send(anna.store, anna.team).refused

    revise_for_team(anna.store, "webhook", Revision(tags=("stripe",)))
    stored = anna.team.load("webhook").memory
    assert (stored.text, stored.tags) == ("Skip the parser.", ("stripe",))
    assert [entry.memory.text for entry in waiting(anna.store)] == [LATER], "the refused words are kept"


def test_what_waits_is_not_forgotten_but_dropped(ben: Person, memory: Memory) -> None:
    with pytest.raises(Rejected, match="was not given to the team yet") as refused:
        forget_if_of_team(ben.store, memory.id, forever=False, consent=lambda: None)
    assert refused.value.hint == f"'daybook team drop {memory.id}' gives it up."


def test_a_token_that_is_not_known_refuses_nothing_and_another_sends_what_waits(
    ben: Person, memory: Memory
) -> None:
    def refuse() -> None:
        raise TokenUnknown("The server does not know this token.", "Join again.")

    ben.team.while_saving = refuse

    sent = send(ben.store, ben.team)

    assert (sent.given, sent.refused) == ((), ())
    assert sent.trouble == "The server does not know this token. Join again."
    assert [entry.refused for entry in waiting(ben.store)] == [""]
    assert send(ben.store, ben.team).given and not waiting(ben.store)
