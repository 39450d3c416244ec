"""The folders of claude-memory, one of which may lie where ours does."""

import json
import os
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.adapters.foreign import claude_memory
from mcp_server.core.errors import IndexUnavailable
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.search.query import filter_of
from mcp_server.store import Store
from tests.actions.imports.imported import items, outcomes
from tests.conftest import Open
from tests.growth import grows_evenly
from tests.importing import import_from

NOTE = "11111111-2222-4333-8444-555555555555"
TALK = "21111111-2222-4333-8444-555555555555"
SNAP = "31111111-2222-4333-8444-555555555555"
BY_HAND = "51111111-2222-4333-8444-555555555555"
GONE = "41111111-2222-4333-8444-555555555555"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    folder = tmp_path / "claude-memory"
    return filled(folder)


def filled(folder: Path) -> Path:
    for name in ("knowledge", "conversations", "sessions", "archive"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "knowledge/index.json").write_text("[]")
    head = "**Created:** 2026-01-02T03:04:05.000Z\n**Updated:** 2026-01-03T03:04:05.000Z\n"
    note = f"# Retry rule\n\n**Tags:** api, Retry\n**Type:** note\n{head}\n---\n\nRetry thrice."
    note += "\n\n---\n\nThen stop."
    (folder / f"knowledge/{NOTE}.md").write_text(note)
    talk = (
        f"# About retries\n\n{head}\n---\n\n"
        "## USER\n\nHow often?\n---\n*really*\n\n*2026-01-02T03:04:05.000Z*\n\n---\n\n"
        "## ASSISTANT\n\nThrice.\n\n*2026-01-02T03:05:05.000Z*\n\n---\n\n"
    )
    (folder / f"conversations/{TALK}.md").write_text(talk)
    session = {
        "id": SNAP, "title": "Half done", "context": "Retries are half done.", "files": ["src/retry.ts"],
        "variables": {"branch": "retry"}, "createdAt": 1767323045000, "metadata": {"mood": "fine"},
    }  # fmt: skip
    (folder / f"sessions/{SNAP}.json").write_text(json.dumps(session))
    (folder / f"archive/{GONE}.md").write_text(f"# Old rule\n\n**Type:** note\n{head}\n---\n\nRetry never.")
    return folder


@pytest.mark.feature("D-18", "3.4-conversation-round-trip", "3.4-metadata")
def test_a_folder_of_uuids_becomes_knowledge_conversations_sessions_and_archive(
    store: Store, theirs: Path
) -> None:
    imports = import_from(store, "claude-memory", theirs)

    assert set(outcomes(imports).values()) == {Outcome.TAKEN}
    note, talk, snap, gone = (read(store, id).memory for id in (NOTE, TALK, SNAP, GONE))
    assert (note.title, note.text, note.tags) == (
        "Retry rule",
        "Retry thrice.\n\n---\n\nThen stop.",
        ("api", "retry"),
    )
    assert note.updated == datetime(2026, 1, 3, 3, 4, 5, tzinfo=UTC)
    assert talk.kind is Kind.CONVERSATION
    assert "## user · 2026-01-02T03:04:05Z\n\nHow often?\n---\n*really*\n" in talk.text
    assert (snap.kind, snap.touches, snap.notes) == (Kind.SESSION, ("src/retry.ts",), ("mood: fine",))
    assert snap.created == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert snap.text.endswith('## Variables\n\n- branch: "retry"')
    assert gone.status is Status.ARCHIVED
    assert set(outcomes(import_from(store, "claude-memory", theirs)).values()) == {Outcome.UNCHANGED}


def test_in_our_own_folder_their_files_are_taken_over_where_they_lie(store: Store, theirs: Path) -> None:
    folder = filled(store.home)
    hand = folder / f"knowledge/{BY_HAND}.md"
    hand.write_text("# Mine\n\nA rule:\n\n---\n\nbelow it.\n")
    (folder / f"knowledge/{NOTE}.md").chmod(0o600)
    import_from(store, "claude-memory", folder, dry_run=True)
    assert (folder / f"knowledge/{NOTE}.md").read_text().startswith("# Retry rule")

    imports = import_from(store, "claude-memory", folder)

    assert set(outcomes(imports).values()) == {Outcome.TAKEN, Outcome.UNCHANGED}
    assert items(imports)[f"knowledge/{BY_HAND}"].why == "is already a memory where it is"
    assert hand.read_text() == "# Mine\n\nA rule:\n\n---\n\nbelow it.\n"
    for memory_id, kind in ((NOTE, "knowledge"), (TALK, "conversations"), (GONE, "archive")):
        assert read(store, memory_id).path == folder / kind / f"{memory_id}.md"
    assert len(list(folder.rglob("*.md"))) - len(list((folder / "history").rglob("*.md"))) == 5
    assert [row.id for row in list_memories(store, filter_of(tags=("retry",))).rows] == [NOTE]
    again = import_from(store, "claude-memory", folder)
    assert set(outcomes(again).values()) == {Outcome.UNCHANGED}


def test_taken_over_or_taken_from_elsewhere_they_say_the_same(
    store: Store, open_here: Open, theirs: Path, tmp_path: Path
) -> None:
    filled(store.home)
    other = open_here(MEMORY_DIR=str(tmp_path / "other")).store()

    import_from(store, "claude-memory", store.home)
    import_from(other, "claude-memory", theirs)

    for memory_id in (NOTE, TALK, SNAP, GONE):
        assert read(store, memory_id).memory == read(other, memory_id).memory


def test_metadata_that_begins_again_and_again_is_read_in_proportion_to_its_length(
    store: Store, tmp_path: Path
) -> None:
    def make(times: int) -> Path:
        file = tmp_path / str(times) / "knowledge" / f"{NOTE}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        head = "# Title\n\n**Created:** 2026-01-02T03:04:05.000Z\n\n---\n\nText.\n\n"
        file.write_text(head + "**Metadata:**\n```json\n{}\n" * times)
        return file.parent.parent

    assert grows_evenly(make, lambda theirs: claude_memory.read(theirs, own=store.home))


def put_theirs(path: Path, title: str, table: str, number: int) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"CREATE TABLE {table} (id TEXT PRIMARY KEY, title TEXT, archived INTEGER)")
        db.execute(f"INSERT INTO {table} VALUES ('a', ?, 1)", (title,))
        db.execute(f"PRAGMA user_version = {number}")
        db.commit()


def title_in(path: Path, table: str) -> str:
    with closing(sqlite3.connect(path)) as db:
        return str(db.execute(f"SELECT title FROM {table}").fetchone()[0])


@pytest.mark.parametrize("number", [0, 3, 1000])
@pytest.mark.parametrize("table", ["memories", "entities"])
def test_an_index_of_theirs_that_lies_where_ours_does_is_kept(
    memory_dir: Path, open_here: Open, table: str, number: int
) -> None:
    memory_dir.mkdir()
    index, kept = memory_dir / "memory.db", memory_dir / "memory.db.other-tool"
    for title in ("Retry rule", "Newer rule"):
        put_theirs(index, title, table, number)
        opened = open_here()
        ours = remember(opened.store(), Draft(f"Not the {title}", "Ours."))
        assert ours.memory.id in [row.id for row in list_memories(opened.store(), filter_of(), limit=9).rows]
        opened.database.close()
        index.unlink()

    assert title_in(kept, table) == "Retry rule"
    assert title_in(memory_dir / "memory.db.other-tool-2", table) == "Newer rule"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_loses_nothing_of_their_index(small_disk: Path, open_here: Open) -> None:
    memory_dir = small_disk / "memory"
    memory_dir.mkdir()
    put_theirs(memory_dir / "memory.db", "x" * 1_000_000, "memories", 0)
    ballast = memory_dir / "ballast"
    with suppress(OSError), open(ballast, "wb", buffering=0) as file:
        while file.write(b"x" * 65536) == 65536:
            pass
    os.truncate(ballast, ballast.stat().st_size - 500_000)
    opened = open_here(MEMORY_DIR=str(memory_dir))
    for _ in range(2):
        with suppress(IndexUnavailable), opened.database.read():
            pass
    ballast.unlink()

    remember(opened.store(), Draft("Ours", "Ours."))

    assert title_in(memory_dir / "memory.db.other-tool", "memories") == "x" * 1_000_000
