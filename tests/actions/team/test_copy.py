"""What curators confirmed is copied here and told unasked; nothing else of the team is."""

from pathlib import Path

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.claude_md import current_block
from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.memory.promote import pin
from mcp_server.actions.memory.repository import untrusted
from mcp_server.actions.memory.revise import Revision
from mcp_server.actions.team.copy import copy
from mcp_server.actions.team.give import remember_for_team, revise_for_team
from mcp_server.actions.team.membership import join, leave, look_ahead, membership
from mcp_server.actions.team.send import waiting
from mcp_server.actions.upkeep.work import work
from mcp_server.adapters import history
from mcp_server.adapters.index.memories.counts import active_knowledge
from mcp_server.adapters.places import JOINED, TEAM_KEY
from mcp_server.adapters.team_client import TeamClient
from mcp_server.adapters.team_membership import MembershipNote, joined_of, note_joined
from mcp_server.core.errors import Rejected, StorageUnavailable
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.team.team import Role
from mcp_server.store import Store
from tests.actions.team.conftest import Join
from tests.actions.team.people import URL, WEBHOOK, Person, confirmed, of, saved
from tests.scripted_model import Answer, ScriptedModel
from tests.team_server.minimal_team import MinimalTeam

PROMPT = "why is body parsing skipped for the webhook of Stripe?"


def pushed(store: Store) -> str:
    return f"{brief(store).text}\n{inject(store.in_session('s1'), PROMPT)}"


def folder(person: Person) -> Path:
    return person.store.home / "team" / "knowledge"


@pytest.mark.feature("B-49", "D-40")
def test_what_a_curator_confirmed_is_told_and_what_nobody_confirmed_is_not(
    team: MinimalTeam, person: Join
) -> None:
    confirmed(team, "webhook")
    saved(team, "deploys", "Deploys go out on Fridays.")
    ben = person()
    ben.join()

    assert "Settled in the team" in brief(ben.store).text
    assert WEBHOOK in pushed(ben.store)
    assert "Fridays" not in pushed(ben.store)
    assert sorted(path.name for path in folder(ben).glob("*.md")) == ["webhook.md"]
    file = read(ben.store, "webhook")
    assert file.vault.level is Level.TEAM
    assert file.memory.notes == ("team: Quaggas", "written by: anna", "confirmed by: carla")


def test_what_a_prompt_calls_for_is_marked_as_the_teams(team: MinimalTeam, ben: Person) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    (line,) = (line for line in inject(ben.store.in_session("s1"), PROMPT).splitlines() if WEBHOOK in line)
    assert "; of the team)" in line


def test_a_team_s_knowledge_is_not_written_into_a_file_that_others_may_read(
    team: MinimalTeam, ben: Person
) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    assert WEBHOOK in pushed(ben.store)
    assert WEBHOOK not in current_block(ben.store).text


def test_what_was_changed_is_not_told_until_it_is_confirmed_again(team: MinimalTeam, ben: Person) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    saved(team, "webhook", "Parse the body of the webhook of Stripe.")
    report = copy(ben.store, ben.team)
    assert (report.memories, report.removed) == (0, 1)
    assert not [*folder(ben).glob("*.md")]
    assert "webhook of Stripe" not in pushed(ben.store)
    confirmed(team, "webhook", "Parse the body of the webhook of Stripe.")
    copy(ben.store, ben.team)
    assert "Parse the body" in pushed(ben.store)


def test_a_file_changed_by_hand_is_not_told_and_is_put_right_with_its_words_kept(
    team: MinimalTeam, ben: Person
) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    path = folder(ben) / "webhook.md"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"raw body", b"parsed body"))
    sync(ben.store)
    assert "parsed body" not in pushed(ben.store)
    assert not untrusted(ben.store), "nobody is asked to accept what the team did not confirm"

    copy(ben.store, ben.team)
    assert path.read_bytes() == data
    assert WEBHOOK in pushed(ben.store)
    (version,) = history.versions(ben.store.home, "team/webhook")
    assert b"parsed body" in version.path.read_bytes()


def test_what_cannot_be_read_in_the_copy_is_put_right_and_lies_in_the_trash(
    team: MinimalTeam, ben: Person
) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    path = folder(ben) / "webhook.md"
    data = path.read_bytes()
    own = b"---\n---\n" + b"A long story. " * 100_000
    path.write_bytes(own)
    (folder(ben) / "linked.md").symlink_to(path)

    copy(ben.store, ben.team)
    assert path.read_bytes() == data
    assert not (folder(ben) / "linked.md").is_symlink()
    assert (ben.store.home / "trash" / "team" / "knowledge" / "webhook.md").read_bytes() == own


def test_a_file_that_somebody_puts_into_the_copy_is_not_told(team: MinimalTeam, ben: Person) -> None:
    own = folder(ben) / "own.md"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("---\ntype: gotcha\n---\nThe webhook of Stripe wants a cake.\n")
    sync(ben.store)
    assert "cake" not in pushed(ben.store)
    copy(ben.store, ben.team)
    assert not own.exists()


def test_the_acceptance_comes_back_with_a_new_index_and_goes_with_leaving(
    team: MinimalTeam, ben: Person
) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    bytes_then = (folder(ben) / "webhook.md").read_bytes()
    rebuild(ben.store)
    assert WEBHOOK in pushed(ben.store)

    assert leave(ben.store) == "Quaggas"
    assert not (ben.store.home / "team").exists()
    assert WEBHOOK not in pushed(ben.store)
    assert membership(ben.store) is None
    ben.join()
    anna = of(team, "anna", Role.WRITER)
    anna.forget("webhook", digest=anna.load("webhook").digest)
    copy(ben.store, ben.team)
    (folder(ben) / "webhook.md").write_bytes(bytes_then)  # the very bytes that were accepted once
    sync(ben.store)
    assert WEBHOOK not in pushed(ben.store)


def test_a_server_that_does_not_answer_takes_nothing_away_and_is_told_in_the_status(
    team: MinimalTeam, ben: Person
) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    team.away = True
    with pytest.raises(StorageUnavailable):
        copy(ben.store, ben.team)
    assert WEBHOOK in pushed(ben.store)
    state = membership(ben.store)
    assert state and state.last.trouble == "The team's database does not answer."
    assert state.last.at
    team.away = False
    copy(ben.store, ben.team)
    state = membership(ben.store)
    assert state and not state.last.trouble


def test_a_copy_that_was_killed_before_the_acceptance_is_completed_by_the_next(
    team: MinimalTeam, ben: Person
) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    data = (folder(ben) / "webhook.md").read_bytes()
    leave(ben.store)
    # As a kill leaves it: the file is there, and the ledger does not say that it is confirmed.
    folder(ben).mkdir(parents=True)
    (folder(ben) / "webhook.md").write_bytes(data)
    note_joined(ben.store.home, MembershipNote("https://team.example.org", "t", "Quaggas", "ben", "writer"))
    sync(ben.store)
    assert WEBHOOK not in pushed(ben.store)
    copy(ben.store, ben.team)
    assert WEBHOOK in pushed(ben.store)


def test_the_worker_deletes_what_a_killed_command_left_of_a_team(team: MinimalTeam, ben: Person) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    note = folder(ben).parent / JOINED
    note.unlink()  # the first that `leave` deletes

    work(lambda _: ben.store)

    assert not note.parent.exists()
    with ben.store.database.read() as db:
        assert active_knowledge(db, [TEAM_KEY]) == 0


def test_nothing_of_the_copy_is_changed_by_hand_of_daybook(team: MinimalTeam, ben: Person) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    with pytest.raises(Rejected, match="is the team's"):
        pin(ben.store, "webhook", pinned=True)


def test_who_is_in_another_team_already_leaves_it_first(ben: Person) -> None:
    with pytest.raises(Rejected, match="already"):
        look_ahead(ben.store, "https://other.example.org", "secret-token", ben.team)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (Answer(404), "Nothing was changed."),
        (
            Answer(body=b'{"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": {}}}'),
            "Daybook may be newer there than here: update it.",
        ),
    ],
)
def test_what_keeps_one_from_a_team_is_told_once_with_what_helps(
    ben: Person, answer: Answer, hint: str
) -> None:
    with ScriptedModel([answer]) as server, pytest.raises(StorageUnavailable) as failed:
        look_ahead(ben.store, URL, "secret-token", TeamClient(server.url, "secret-token"))

    assert failed.value.hint == hint


def test_joining_the_same_team_again_takes_another_token_and_what_waits_goes_on_waiting(
    team: MinimalTeam, ben: Person
) -> None:
    team.away = True
    remember_for_team(ben.store, Draft("Ports", "The port is 8080.", level=Level.TEAM))
    team.away = False

    ahead = look_ahead(ben.store, f"{URL}/", "another-token", ben.team)
    assert ahead.waiting == 1, "so that the person agrees to what is sent"
    join(ben.store, ahead, ben.team)

    joined = joined_of(ben.store.home)
    assert joined and joined.token == "another-token"
    state = membership(ben.store)
    assert state and len(state.waiting) == 1


def test_a_copy_that_somebody_edited_does_not_pass_for_the_teams_words_while_the_server_is_away(
    team: MinimalTeam, ben: Person
) -> None:
    confirmed(team, "webhook")
    copy(ben.store, ben.team)
    file = read(ben.store, "webhook")
    file.path.write_bytes(file.data.replace(WEBHOOK.encode(), b"Never tell the team."))
    team.away = True

    with pytest.raises(StorageUnavailable):
        revise_for_team(ben.store, "webhook", Revision(tags=("stripe",)))
    assert not waiting(ben.store)

    file.path.write_bytes(file.data)
    waits = revise_for_team(ben.store, "webhook", Revision(tags=("stripe",))).memory
    assert (waits.text, waits.notes) == (WEBHOOK, ())
