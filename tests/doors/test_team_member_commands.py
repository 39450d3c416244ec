"""The commands of a team's members, against a team's server on loopback."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from mcp_server.adapters.team_membership import Stayed, note_stayed
from mcp_server.core.team.team import Role
from tests.actions.team.people import WEBHOOK, confirmed, saved
from tests.doors.shell import daybook
from tests.team_server.asking import with_the_team
from tests.team_server.minimal_team import MinimalTeam, _OfMember
from tests.team_server.served import served

QUESTION = "why is body parsing skipped for the webhook?"


@pytest.fixture
def team() -> MinimalTeam:
    return MinimalTeam()


@pytest.fixture
def url(team: MinimalTeam) -> Iterator[str]:
    with served(team) as address:
        yield address


class Machine:
    """A member's machine: a store, and a file with their token."""

    def __init__(self, folder: Path, team: MinimalTeam, name: str, role: Role) -> None:
        self.home = folder / name
        self.token = folder / f"token-of-{name}"
        self.token.write_text(team.issue(name, role) + "\n")

    def run(self, *words: str, typed: bool = False) -> "subprocess.CompletedProcess[str]":
        return daybook(self.home, *words, typed=typed)

    def says(self, *words: str, typed: bool = False) -> str:
        process = self.run(*words, typed=typed)
        assert process.returncode == 0, (words, process.stdout, process.stderr)
        return process.stdout

    def recalls(self, question: str) -> str:
        return with_the_team(lambda: self.says("recall", question))

    def join(self, url: str) -> str:
        return self.says("team", "join", url, "--token-file", str(self.token), "--yes", typed=True)


def test_a_command_waits_for_the_team_as_long_as_it_loads_what_asks(
    team: MinimalTeam, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ben = Machine(tmp_path, team, "ben", Role.WRITER)
    ben.join(url)
    goes_on = Event()
    monkeypatch.setattr(_OfMember, "search", lambda *_: goes_on.wait())

    answer = ben.says("recall", QUESTION)

    goes_on.set()
    assert "did not answer within 3 seconds" in answer


def test_who_has_a_token_that_is_no_longer_known_is_told_what_to_do_and_joins_again(
    team: MinimalTeam, url: str, tmp_path: Path
) -> None:
    ben = Machine(tmp_path, team, "ben", Role.WRITER)
    ben.join(url)
    team.withdraw("ben")

    assert ben.run("team", "send").returncode == 14

    for command in (["status"], ["team", "status"]):
        assert f"administrator for another, then run 'daybook team join {url}'" in ben.says(*command)
    ben.token.write_text(team.issue("ben", Role.READER))
    ben.join(f"{url}/mcp")  # as other clients are given it
    assert "ben (reader)" in ben.says("team", "status")


def test_a_member_joins_shares_finds_and_leaves(team: MinimalTeam, url: str, tmp_path: Path) -> None:
    ben = Machine(tmp_path, team, "ben", Role.WRITER)
    carla = Machine(tmp_path, team, "carla", Role.CURATOR)
    confirmed(team, "webhook")

    by_a_program = ben.run("team", "join", url, "--token-file", str(ben.token), "--yes")
    assert by_a_program.returncode == 12
    assert "You are not in a team" in ben.says("team", "status")

    output = ben.join(url)
    assert "Quaggas" in output and "ben (writer)" in output and "carla" in output
    assert "shown to Claude unasked" in output and "daybook team leave" in output
    assert "copied here: 1 memory" in output
    assert "team: Quaggas answers, and knows you as ben (writer)" in ben.says("doctor")
    assert "a read-only copy of what the team's curators confirmed" in ben.says("where")
    assert (ben.home / "team" / "joined.json").stat().st_mode & 0o077 == 0
    carla.join(url)

    new = json.loads(ben.says("remember", "Invoices are numbered per year.", "--level", "team", "--json"))
    assert new["level"] == "team" and not new["known"]
    waits = json.loads(carla.says("team", "review", "--json"))
    assert [candidate["id"] for candidate in waits] == [new["id"]]
    assert "by ben, not confirmed" in carla.recalls("how are invoices numbered?")
    listed = carla.says("list", "--level", "team")
    assert "1 memory" in listed and "only the confirmed ones are listed, as last copied here" in listed
    assert "copied here" not in carla.says("list")
    assert carla.run("team", "confirm", new["id"], "--yes").returncode == 12
    assert "confirmed" in carla.says("team", "confirm", new["id"], "--yes", typed=True)
    assert "confirmed already, by carla" in carla.says("team", "confirm", new["id"], "--yes", typed=True)
    note_stayed(ben.home, [Stayed("webhook", new["id"], "it is carla's")])
    assert "stays" in ben.says("team", "status") and "Kept by the team" in ben.says("status")
    ben.says("team", "send")
    assert "stays" not in ben.says("team", "status")
    assert "by ben, confirmed by carla" in ben.recalls("how are invoices numbered?")
    assert "Quaggas as ben (writer), 2 memories confirmed" in ben.says("status")
    assert "confirmed" in ben.says("history", new["id"])
    assert "confirmed by: carla" in ben.says("read", new["id"])
    saved(team, "parser")
    refused = ben.run("team", "confirm", "parser", "--yes", typed=True)
    assert refused.returncode == 14

    assert "You left the team Quaggas" in ben.says("team", "leave", "--yes", typed=True)
    assert not (ben.home / "team").exists()
    assert WEBHOOK not in ben.says("recall", QUESTION)


def test_without_its_server_own_answers_come_with_one_word_and_new_ones_wait(
    team: MinimalTeam, tmp_path: Path
) -> None:
    ben = Machine(tmp_path, team, "ben", Role.WRITER)
    with served(team) as url:
        ben.join(url)
    ben.says("remember", "Body parsing of the webhook is skipped in app.ts.")

    output = ben.says("recall", QUESTION)
    assert "app.ts" in output and "Without the team's memory: " in output
    given = json.loads(ben.says("remember", "Deploys go out on Fridays.", "--level", "team", "--json"))
    assert given["waits"]
    assert "not given to the team yet" in ben.says("read", given["id"])
    assert "not given to the team yet: what waits here says this now" in ben.says(
        "revise", given["id"], "--tags", "deploys"
    )
    health = ben.run("doctor")
    assert health.returncode == 1 and "FAIL  team: The team's server" in health.stdout
    assert "waits" in ben.says("team", "status") and "1 memory waits" in ben.says("status")
    again = ben.run("team", "send")
    assert again.returncode == 15 and "The rest waits" in again.stdout
    assert (again.stdout + again.stderr).count("The team's server") == 1
    missing = ben.run("read", "nothing-of-the-sort")
    assert missing.returncode == 3 and "The team may have it" in missing.stderr


def test_a_wrong_token_and_a_wrong_address_are_told_and_nothing_is_joined(
    team: MinimalTeam, url: str, tmp_path: Path
) -> None:
    ben = Machine(tmp_path, team, "ben", Role.READER)
    ben.token.write_text("not-the-token")
    refused = ben.run("team", "join", url, "--token-file", str(ben.token), "--yes", typed=True)
    assert refused.returncode != 0
    assert "token" in refused.stdout + (refused.stderr or "")
    for wrong, why in (("http://team.example.org", "unencrypted"), ("team.example.org", "not the address")):
        process = ben.run("team", "join", wrong, "--token-file", str(ben.token), "--yes", typed=True)
        assert process.returncode == 4 and why in process.stdout + (process.stderr or ""), wrong
    lacking = ben.run("team", "join", url, "--token-file", str(tmp_path / "none"), "--yes", typed=True)
    assert "cannot be read" in lacking.stdout + (lacking.stderr or "")
    assert not (ben.home / "team").exists()


def test_a_reader_is_told_by_the_server_that_they_may_not(
    team: MinimalTeam, url: str, tmp_path: Path
) -> None:
    ben = Machine(tmp_path, team, "ben", Role.READER)
    ben.join(url)
    saved(team, "webhook")
    for words in (
        ("remember", "Deploys go out on Fridays.", "--level", "team"),
        ("revise", "webhook", "--text", "Parse it."),
        ("forget", "webhook"),
    ):
        process = ben.run(*words)
        assert process.returncode == 14, (words, process.stdout, process.stderr)
    assert "by: anna" not in ben.says("read", "webhook")
    assert "not confirmed" in ben.recalls(QUESTION)


def test_what_claude_may_not_do_in_the_team_is_told_as_a_command_that_does_it(
    team: MinimalTeam, url: str, tmp_path: Path
) -> None:
    anna = Machine(tmp_path, team, "anna", Role.WRITER)
    anna.join(url)
    saved(team, "webhook")
    words = ("revise", "webhook", "--text", "Parse it.")

    refused = daybook(anna.home, *words, CLAUDECODE="1")

    assert refused.returncode == 12
    assert refused.stderr.rstrip().endswith(": daybook revise webhook --text 'Parse it.'")
    assert "Parse it" not in team.kept.load("webhook").memory.text


def test_claude_does_not_delete_what_waits_for_the_team(team: MinimalTeam, tmp_path: Path) -> None:
    ben = Machine(tmp_path, team, "ben", Role.WRITER)
    with served(team) as url:
        ben.join(url)
    waits = json.loads(ben.says("remember", "Deploys go out on Fridays.", "--level", "team", "--json"))["id"]

    refused = daybook(ben.home, "team", "drop", waits, CLAUDECODE="1")

    assert refused.returncode == 12 and refused.stderr.rstrip().endswith(f": daybook team drop {waits}")
    assert waits in ben.says("team", "status")
    ben.says("team", "drop", waits)
    assert waits not in ben.says("team", "status")


def test_a_memory_of_ones_own_is_promoted(team: MinimalTeam, url: str, tmp_path: Path) -> None:
    ben = Machine(tmp_path, team, "ben", Role.WRITER)
    own = json.loads(ben.says("remember", "Deploys go out on Fridays.", "--json"))["id"]
    nobody = ben.run("promote", own, "--to", "team")
    assert nobody.returncode == 4 and "not in a team" in nobody.stderr
    ben.join(url)
    assert "given to the team" in ben.says("promote", own, "--to", "team")
    assert "known to the team already" in ben.says("promote", own, "--to", "team")
    assert team.kept.load(own).memory.text == "Deploys go out on Fridays."


@pytest.mark.parametrize(
    "words",
    [
        ("pin", "webhook"),
        ("promote", "webhook"),
        ("archive", "webhook"),
        ("link", "OWN", "webhook"),
        ("validate", "webhook"),
        ("mark-used", "webhook"),
        ("undo", "webhook"),
        ("revise", "OWN", "--distinct", "webhook"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_with_a_memory_that_only_the_server_has_says_where_it_is(
    team: MinimalTeam, tmp_path: Path, words: tuple[str, ...]
) -> None:
    ben = Machine(tmp_path, team, "ben", Role.WRITER)
    own = json.loads(ben.says("remember", "Deploys go out on Fridays.", "--json"))["id"]
    words = tuple(own if word == "OWN" else word for word in words)
    with served(team) as url:
        ben.join(url)
        saved(team, "webhook")
        there = ben.run(*words)
        confirmed(team, "webhook")
        not_copied_yet = ben.run(*words)

    assert there.returncode == 3
    assert "'webhook' is the team's, and only its server has it" in there.stderr
    assert "read, revised and forgotten" in there.stderr and "once a curator confirms it" in there.stderr
    assert "'daybook team send' copies it here" in not_copied_yet.stderr
    away = ben.run(*words)
    assert away.returncode == 3
    assert "No memory has the id 'webhook'. The team may have it: " in away.stderr
    waits = json.loads(ben.says("remember", "Webhooks are signed.", "--level", "team", "--json"))["id"]
    waiting = ben.run(*(waits if word == "webhook" else word for word in words))
    assert waiting.returncode == 3 and f"'{waits}' waits here to be given to the team" in waiting.stderr
