"""A team's memory to files and back."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_server.actions.exchange.team_folder import HISTORY, export_team, memory_files, take_in_team
from mcp_server.core.errors import NotAllowed, Rejected, StorageUnavailable
from mcp_server.core.memory import Link
from mcp_server.core.team.team import Member, Role, TeamStorage
from tests.team_server.minimal_team import MinimalTeam
from tests.team_server.test_roles import SECRET, memory


def storage_of(team: MinimalTeam, name: str = "carla", role: Role = Role.CURATOR) -> TeamStorage:
    team.issue(name, role)
    return team.storage_for(Member(name, role))


def nothing(_: int) -> None: ...


def full(team: MinimalTeam) -> TeamStorage:
    """Return the memory of a team with three memories, one of them confirmed and one forgotten."""
    storage = storage_of(team)
    first = storage.save(memory("webhook"))
    second = replace(memory("webhook"), text="é\n\nß", tags=("c++",), links=(Link("refines", "deploy"),))
    stored = storage.save(second, replaces=first.digest)
    storage.confirm("webhook", digest=stored.digest)
    storage.save(memory("deploy"))
    gone = storage.save(memory("gone"))
    storage.forget("gone", digest=gone.digest)
    return storage


def test_an_export_is_taken_in_as_it_was(team: MinimalTeam, tmp_path: Path) -> None:
    storage = full(team)
    exported = export_team(storage, tmp_path / "out", nothing)
    assert (exported.memories, exported.left) == (2, ())
    other = storage_of(MinimalTeam(), "dora")
    report = take_in_team(other, memory_files(tmp_path / "out"), progress=nothing)
    assert (report.new, report.known, report.left) == (2, 0, ())
    assert [stored.memory for stored in other.page()] == [stored.memory for stored in storage.page()]
    assert [stored.confirmed_by for stored in other.page()] == ["", ""]
    again = take_in_team(other, memory_files(tmp_path / "out"), progress=nothing)
    assert (again.new, again.known, again.left) == (0, 2, ())


def test_the_history_goes_along(team: MinimalTeam, tmp_path: Path) -> None:
    export_team(full(team), tmp_path / "out", nothing)
    lines = [json.loads(line) for line in (tmp_path / "out" / HISTORY).read_text("utf-8").splitlines()]
    (webhook,) = [line for line in lines if line["id"] == "webhook"]
    assert webhook["author"] == webhook["confirmed_by"] == "carla"
    assert [change["kind"] for change in webhook["changes"]] == ["created", "revised", "confirmed"]
    assert webhook["changes"][1]["before"]["text"] == "Skip body parsing."


def test_nothing_is_overwritten(team: MinimalTeam, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("Mine.")
    storage = full(team)

    with pytest.raises(Rejected, match="is not empty"):
        export_team(storage, tmp_path, nothing)
    with pytest.raises(Rejected, match="is a file"):
        export_team(storage, tmp_path / "mine.md", nothing)


def test_what_is_left_out_is_named_with_the_reason(team: MinimalTeam, tmp_path: Path) -> None:
    storage = full(team)
    knowledge = tmp_path / "knowledge"
    knowledge.mkdir()
    (knowledge / "by-hand.md").write_text("# Deploys\n\nFrom the release branch.")
    (knowledge / "deploy.md").write_text("---\nid: deploy\ntitle: Deploy\n---\nAnother text.")
    (knowledge / "empty.md").write_text("")
    (knowledge / "old.md").write_text("---\nid: old\ntitle: Old\nstatus: archived\n---\nOld.")
    (knowledge / "secret.md").write_text(f"The token is {SECRET}.")
    (knowledge / "broken.md").write_bytes(b"\xff\xfe\x00")
    (knowledge / "notes.txt").write_text("No memory.")
    report = take_in_team(storage, memory_files(tmp_path), progress=nothing)
    assert (report.new, report.known) == (1, 0)
    left_out = dict(report.left)
    assert left_out.keys() == {"broken.md", "deploy.md", "empty.md", "old.md", "secret.md"}
    assert left_out["deploy.md"] == "The team has another version, by carla."
    assert left_out["old.md"] == "It is archived; only active memories are imported."
    assert "GitHub token" in left_out["secret.md"]
    assert SECRET not in str(report)


def test_what_was_interrupted_is_done_again(team: MinimalTeam, tmp_path: Path) -> None:
    export_team(full(team), tmp_path / "out", nothing)
    other = MinimalTeam()
    storage = storage_of(other)
    paths = memory_files(tmp_path / "out")

    def go_away(_: int) -> None:
        other.away = True

    with pytest.raises(StorageUnavailable):
        take_in_team(storage, paths, progress=go_away)
    other.away = False
    report = take_in_team(storage, paths, progress=nothing)
    assert (report.new, report.known) == (1, 1)


def test_a_reader_brings_nothing(team: MinimalTeam, tmp_path: Path) -> None:
    export_team(full(team), tmp_path / "out", nothing)
    paths = memory_files(tmp_path / "out")
    other = MinimalTeam()
    with pytest.raises(NotAllowed):
        take_in_team(storage_of(other, "rosa", Role.READER), paths, progress=nothing)


def test_a_folder_without_memories_is_said(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(Rejected, match=r"contains no memories|is not a folder"):
            memory_files(folder)
