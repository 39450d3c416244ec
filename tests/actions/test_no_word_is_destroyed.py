"""No verb destroys a word: what a file said is kept, and undo brings back exactly those bytes."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.store import Store
from tests.actions.changing_ways import WAYS, Place
from tests.actions.tidy.knowledge import files_of
from tests.conftest import ROOT, Clock

ROAD = {
    "commit.py": "is the road",
    "forget.py": "deletes for good, and writes anew what a pull took away",
    "accepted.py": "keeps what was accepted in the history",
    "trash.py": "deletes for good",
    "candidate.py": "no candidate is a memory yet",
    "imports/batch.py": "writes many new files beside each other",
    "put_back.py": "moves many files at a time back to where they were",
    "adopt.py": "moves files between vaults, and their history with them",
    "repository.py": "moves files between vaults, and their history with them",
    "claude_md.py": "writes CLAUDE.md", "compaction.py": "writes notes of its own",
    "export.py": "writes elsewhere", "answered.py": "writes answers of a model", "litter.py": "sweeps litter",
    "notice.py": "writes notes of its own", "guesses.py": "writes a note for the notice",
    "gone.py": "writes a note of its own", "module_seen.py": "writes a note of its own",
    "learn_on_plan.py": "writes a note of its own", "learn_by_agent.py": "writes notes of its own",
    "setup.py": "writes settings", "connect.py": "writes settings of other clients",
    "tidy.py": "writes answers of a model",
}  # fmt: skip
WRITING = {"replace", "move", "delete", "move_many", "write_new", "write_many_new"}


@pytest.fixture
def place(store: Store, clock: Clock, tmp_path: Path, steady_use: None) -> Place:
    return Place(store, clock, tmp_path)


def live(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if not name.startswith(("trash/", "candidates/"))}


def everything(store: Store) -> set[bytes]:
    return {path.read_bytes() for path in store.home.rglob("*.md")}


@pytest.mark.feature("3.2-8")
@pytest.mark.parametrize("way", WAYS)
def test_what_a_file_said_is_kept_and_comes_back(place: Place, way: str) -> None:
    act = WAYS[way](place)
    before = live(files_of(place.store))

    act()

    after = live(files_of(place.store))
    assert after != before, "the verb changed no file: the test tells nothing"
    assert set(before.values()) <= everything(place.store)

    undo(place.store, last_change(place.store))
    assert live(files_of(place.store)) == before

    undo(place.store, last_change(place.store)) if way != "forget a session" else act()
    assert live(files_of(place.store)) == after


def calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="files" | "moving"), attr=name)):
                yield name


def test_only_the_road_writes_files_of_memories() -> None:
    actions = ROOT / "mcp_server" / "actions"
    writing = {
        path.relative_to(actions).as_posix()
        for path in actions.rglob("*.py")
        if WRITING.intersection(calls(path))
    }
    assert writing == set(ROAD)
