"""One JSON document of mcp-memory-service, mem0 or claude-mem, and the database of the first."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.files.read import read
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.actions.imports.imported import items, memories, outcomes
from tests.importing import import_from


def document(folder: Path, value: object) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_an_export_of_mcp_memory_service_comes_with_tags_types_and_dates(
    store: Store, tmp_path: Path
) -> None:
    entry = {
        "content": "Decided: Redis streams, not Kafka.\n\nLess to run.",
        "content_hash": "ab12",
        "tags": ["queue", "Big Decision"],
        "memory_type": "decision",
        "metadata": {"hostname": "ada"},
        "created_at": 1722600000.5,
        "updated_at": 1722700000.5,
    }
    path = document(tmp_path, {"export_metadata": {}, "memories": [entry, {"content": " "}, 7]})

    assert outcomes(import_from(store, "memories-json", path)) == {
        "ab12": Outcome.TAKEN, "memory 2": Outcome.REFUSED, "memory 3": Outcome.REFUSED,
    }  # fmt: skip

    memory = memories(store)["Decided: Redis streams, not Kafka"]
    assert (memory.type, memory.tags, memory.notes) == (
        "decision", ("queue", "big-decision"), ("hostname: ada",),
    )  # fmt: skip
    assert memory.created == datetime(2024, 8, 2, 12, tzinfo=UTC)
    assert memory.updated > memory.created


def test_what_mem0_gives_is_read_with_and_without_its_wrapping(store: Store, tmp_path: Path) -> None:
    coffee = {
        "id": "892d",
        "memory": "Prefers dark roast.",
        "categories": ["food"],
        "metadata": None,
        "created_at": "2025-07-01T01:02:03.123456-07:00",
        "updated_at": None,
        "user_id": "ada",
    }

    import_from(store, "memories-json", document(tmp_path, {"results": [coffee]}))
    again = import_from(store, "memories-json", document(tmp_path, [coffee, {"text": "Has a cat."}]))

    assert items(again)["892d"].outcome is Outcome.UNCHANGED
    by_title = memories(store)
    assert set(by_title) == {"Prefers dark roast", "Has a cat"}
    memory = by_title["Prefers dark roast"]
    assert (memory.tags, memory.notes) == (("food",), ("user_id: ada",))
    assert memory.created == memory.updated == datetime(2025, 7, 1, 8, 2, 3, tzinfo=UTC)


def test_an_observation_of_claude_mem_keeps_its_facts_concepts_and_files_in_its_project(
    store: Store, tmp_path: Path
) -> None:
    observation = {
        "id": 1,
        "project": "shop",
        "text": None,
        "type": "bugfix",
        "title": "Webhook needs the raw body",
        "narrative": "Parsing was skipped.",
        "facts": '["It is /webhook", "Express parses first"]',
        "concepts": '["gotcha"]',
        "files_modified": '["src/a.ts"]',
        "created_at": "2025-11-01T00:00:00.000Z",
    }

    others = {**observation, "id": 2, "project": "bank", "title": "Of another project"}
    path = document(tmp_path, {"observations": [observation, others], "prompts": []})

    assert outcomes(import_from(store, "memories-json", path)) == {"1": Outcome.TAKEN, "2": Outcome.LEFT}

    assert "Of another project" not in memories(store)
    memory = memories(store)["Webhook needs the raw body"]
    assert memory.text == "Parsing was skipped.\n\n- It is /webhook\n- Express parses first"
    assert (memory.tags, memory.touches) == (("gotcha",), ("src/a.ts",))
    assert memory.category == "bugfix"
    assert read(store, memory.id).vault.level is Level.PROJECT


@pytest.mark.parametrize("value", [{"chats": []}, "text", [{"mapping": {}}], {"memories": 7}])
def test_another_document_is_refused(store: Store, tmp_path: Path, value: object) -> None:
    with pytest.raises(Rejected, match="contains no list of memories"):
        import_from(store, "memories-json", document(tmp_path, value))


def test_the_database_of_mcp_memory_service_has_its_tags_in_a_column(store: Store, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "sqlite_vec.db")) as db:
        db.execute(
            "CREATE TABLE memories (id INTEGER, content TEXT, tags TEXT, memory_type TEXT,"
            " created_at REAL, deleted_at REAL)"
        )
        db.execute("INSERT INTO memories VALUES (1, 'Kafka is out.', 'queue,ops', 'decision', 1.7e9, NULL)")
        db.execute("INSERT INTO memories VALUES (2, 'Kafka is in.', 'queue', 'decision', 1.7e9, 1.71e9)")
        db.commit()

    import_from(store, "memory-mcp-db", tmp_path / "sqlite_vec.db")

    assert {title: memory.tags for title, memory in memories(store).items()} == {
        "Kafka is out": ("queue", "ops")
    }
