"""No verb destroys a word: what a file said is kept, and undo brings back exactly those bytes."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.store import Store
from tests.actions.changing_conversations import OF_CONVERSATIONS
from tests.actions.changing_imports import OF_IMPORTS
from tests.actions.changing_ways import WAYS, Place
from tests.actions.tidy.knowledge import files_of
from tests.conftest import ROOT, Clock

WRITTEN = 1_772_323_200_000_000_000  # nanoseconds: when the files were written
ROAD = {
    "capture/pending_answers.py": "writes answers of a model",
    "capture/learn_by_agent.py": "writes notes of its own",
    "capture/occasions.py": "writes answers of a model",
    "changes/put_back.py": "moves many files at a time back to where they were",
    "context/claude_md.py": "writes CLAUDE.md",
    "context/compaction.py": "writes notes of its own",
    "context/late_brief.py": "writes notes of its own",
    "context/notice.py": "writes notes of its own",
    "context/offers.py": "writes notes of its own",
    "exchange/connect.py": "writes settings of other clients",
    "exchange/export.py": "writes elsewhere",
    "exchange/team_folder.py": "writes elsewhere",
    "files/accepted.py": "keeps what was accepted in the history",
    "files/commit.py": "is the road",
    "files/between_vaults.py": "moves a file as it is to another vault, and notes that on the way",
    "files/vanished_folders.py": "writes a note of its own",
    "files/unfinished_files.py": "sweeps litter",
    "files/older_notes.py": "deletes notes of its own that are in the ledger by now",
    "files/trash.py": "deletes for good",
    "judge/candidate.py": "no candidate is a memory yet",
    "memory/forget.py": "deletes for good",
    "memory/repository.py": "writes .gitignore",
    "model/setup.py": "writes settings",
    "remote/take_in.py": "moves and adds files as another machine has them; what it changes takes the road",
    "status/module_seen.py": "writes a note of its own",
    "team/copy.py": "writes what the team's server has; what was edited by hand is kept in the history",
    "upkeep/tidy.py": "writes answers of a model",
}
CALLERS = {  # of the road: a way of theirs, or the file of tests that takes back what they do
    "capture/capture.py": "test_commit.py",
    "capture/occasions.py": "add occasions",
    "changes/put_back.py": "test_undo.py",
    "exchange/imports/again.py": "say that an export is one's own",
    "exchange/imports/batch.py": "import again",
    "exchange/imports/from_text.py": "import auto memory again",
    "exchange/imports/take.py": "import again",
    "files/runs.py": "tidy twins",
    "graph/kg.py": "put a node again",
    "judge/candidate.py": "approve a candidate",
    "judge/change_memory.py": "test_change_memory.py",
    "judge/contradiction.py": "resolve by keeping both",
    "judge/compare_and_store.py": "say again with more",
    "memory/archive.py": "archive",
    "memory/change_level.py": "move to this project",
    "memory/forget.py": "restore from the trash",
    "memory/link.py": "link",
    "memory/promote.py": "pin",
    "memory/remember.py": "replace",
    "memory/repository.py": "accept what documents say",
    "memory/revise.py": "revise the text",
    "memory/trust.py": "validate",
    "remote/take_in.py": "remote/test_exchange.py",
    "review/answer.py": "review merge",
    "review/review.py": "test_settling_undone.py",
    "sessions/forget_session.py": "forget a session",
    "upkeep/adopt.py": "test_adopt.py",
    "upkeep/tidy.py": "tidy what has aged",
}
EVERY_WAY = {**WAYS, **OF_CONVERSATIONS, **OF_IMPORTS}
TAKING = {
    "attempt",
    "commit",
    "create",
    "create_many",
    "mark",
    "move",
    "perform",
    "put",
    "put_bytes",
    "relocate",
    "revise",
    "take_over",
}
WRITING = {"replace", "move", "delete", "move_many", "write_new", "write_over", "write_many_new"}


@pytest.fixture
def place(store: Store, clock: Clock, tmp_path: Path, steady_use: None) -> Place:
    return Place(store, clock, tmp_path)


def live(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if not name.startswith(("trash/", "candidates/"))}


def everything(store: Store) -> set[bytes]:
    return {path.read_bytes() for path in store.home.rglob("*.md")}


@pytest.mark.feature("3.2-8")
@pytest.mark.parametrize("way", EVERY_WAY)
def test_what_a_file_said_is_kept_and_comes_back(place: Place, way: str) -> None:
    act = EVERY_WAY[way](place)
    before = live(files_of(place.store))
    for name in before:
        os.utime(place.store.home / name, ns=(WRITTEN, WRITTEN))

    act()

    after = live(files_of(place.store))
    assert after != before, "the verb changed no file: the test tells nothing"
    assert set(before.values()) <= everything(place.store)

    change = last_change(place.store)
    undo(place.store, change)
    assert live(files_of(place.store)) == before
    dates = {name: (place.store.home / name).stat().st_mtime_ns for name in before}
    if change.verb != "tidied":  # a run and its undo leave the dates in a file that had none
        assert dates == dict.fromkeys(before, WRITTEN), "a file without dates would get another one"

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


def names_taken(path: Path) -> Iterator[str]:
    """Yield the names by which *path* takes the road: imported ones, and those of `runs`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.endswith(("commit", "revise")):
                yield from (alias.name for alias in names)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="runs"), attr=name)):
                yield name


def test_every_verb_that_takes_the_road_is_among_the_ways() -> None:
    actions = ROOT / "mcp_server" / "actions"
    taking = {
        path.relative_to(actions).as_posix()
        for path in actions.rglob("*.py")
        if TAKING.intersection(names_taken(path))
    }

    assert taking == set(CALLERS)
    assert all(
        shown_by in EVERY_WAY or (ROOT / "tests/actions" / shown_by).exists() for shown_by in CALLERS.values()
    )
