"""A project's file: what it says of a project, beside what the person wrote into it."""

import json

import pytest

from mcp_server.adapters.places import note_project, project_notes
from mcp_server.store import Store


@pytest.mark.parametrize("written", [b'{"name": "shop",\n "mine": "keep this"', b'["mine"]', b"\xff mine"])
def test_a_broken_project_file_stays_beside_the_one_that_is_written_anew(
    store: Store, written: bytes
) -> None:
    assert store.project
    note_project(store.home, store.project)
    path = store.home / "projects" / store.project.key / "project.json"
    for _ in range(2):  # broken in the same way twice
        path.write_bytes(written)
        note_project(store.home, store.project)

    assert project_notes(store.home, store.project.key)["root"] == str(store.project.root)
    (kept,) = path.parent.glob("project.json.broken-*")
    assert kept.read_bytes() == written


def test_a_project_file_that_is_read_keeps_what_the_person_wrote_and_has_no_copy(store: Store) -> None:
    assert store.project
    folder = store.home / "projects" / store.project.key
    folder.mkdir(parents=True, exist_ok=True)
    for written in ('{"mine": 1}', "{}", ""):
        (folder / "project.json").write_text(written, encoding="utf-8")
        note_project(store.home, store.project)

        notes = project_notes(store.home, store.project.key)
        assert notes.items() >= json.loads(written or "{}").items()
        assert [*folder.glob("project.json.*")] == []
