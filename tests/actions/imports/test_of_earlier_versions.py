"""What earlier versions noted of what they took in, in other words and in another place, is known."""

import json
from pathlib import Path

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import files
from mcp_server.adapters.auto_memory_folder import slug_of
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import fingerprint
from mcp_server.store import Store
from tests.actions.imports.every_source import TITLE, World, world_of

EIGHT, NINE = "The shop listens on port 8000.", "The shop listens on port 9000."


def without_ledger_of_today(store: Store) -> None:
    """Take out of the ledger what an earlier version did not write."""
    for path in store.ledger.paths():
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(
            b"".join(line for line in lines if b'"taken": ' not in line and b"elsewhere" not in line)
        )


# The notes of auto memory


@pytest.fixture
def noted(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A topic file that was taken in, as an earlier version noted it."""
    world = world_of("auto-memory", store, tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(world.place))
    world.there(a=EIGHT)
    (item,) = world.take()
    _note_as_before(world, read(store, item.id), same=True)
    return world


def topic(world: World) -> Path:
    assert world.store.project
    return world.place / "projects" / slug_of(world.store.project.root) / "memory" / "a.md"


def _note_as_before(world: World, memory_file: MemoryFile, *, same: bool) -> None:
    store, file = world.store, topic(world)
    without_ledger_of_today(store)
    status = file.stat()
    note = {
        "ref": memory_file.ref, "digest": memory_file.digest,
        "words": fingerprint(memory_file.memory.title, memory_file.memory.text),
        "same": same, "topic": files.digest(file.read_bytes()), "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
    }  # fmt: skip
    state = {"folder": str(file.parent), "topics": {"a.md": note}}
    files.make_folder(store.home / "auto-memory")
    (store.home / "auto-memory" / ".lock").touch()
    (store.home / "auto-memory" / "0123.json").write_text(json.dumps(state), encoding="utf-8")
    rebuild(store)


def one_id(world: World) -> str:
    (path,) = world.store.home.rglob("knowledge/*.md")
    return path.stem


def test_the_notes_are_carried_into_the_ledger_once(noted: World) -> None:
    def lines() -> int:
        return sum(path.read_bytes().count(b'"taken": ') for path in noted.store.ledger.paths())

    assert not (noted.store.home / "auto-memory").exists()
    assert lines() == 1
    sync(noted.store)
    assert lines() == 1
    (item,) = noted.take()
    assert (item.outcome, item.id) == (Outcome.UNCHANGED, one_id(noted))


def test_what_claude_code_tells_is_told_once_as_before(noted: World) -> None:
    assert "8000" not in brief(noted.store).text
    topic(noted).unlink()
    assert "8000" in brief(noted.store).text


def test_a_change_since_revises_and_an_edit_or_a_loss_since_counts(noted: World) -> None:
    memory_id = one_id(noted)
    noted.there(a=NINE)
    (item,) = noted.take()
    assert (item.outcome, item.id) == (Outcome.REVISED, memory_id)
    revise(noted.store, memory_id, Revision(text="Mine."))
    noted.there(a=EIGHT)
    assert [item.outcome for item in noted.take()] == [Outcome.LEFT]
    forget(noted.store, memory_id)
    assert "forgotten here" in noted.take()[0].why


@pytest.mark.parametrize("own_words", [EIGHT, f"{EIGHT} That is settled."])
def test_the_persons_memory_that_held_it_is_neither_revised_nor_doubled(
    store: Store, tmp_path: Path, own_words: str
) -> None:
    world = world_of("auto-memory", store, tmp_path)
    world.there(a=EIGHT)
    own = remember(store, Draft(TITLE, own_words, type="context")).memory
    _note_as_before(world, read(store, own.id), same=own_words == EIGHT)
    revise(store, own.id, Revision(text="Ports are Ada's."))

    assert [item.outcome for item in world.take()] == [Outcome.UNCHANGED]
    world.there(a=NINE)
    assert [item.outcome for item in world.take()] == [Outcome.TAKEN]
    assert read(store, own.id).memory.text == "Ports are Ada's."


@pytest.mark.parametrize(
    "damage", ["", "[]", '{"topics": 3}', "[" * 100_000, '{"folder": "x", "topics": {"a": 1}}']
)
def test_notes_that_cannot_be_read_count_as_none(store: Store, damage: str) -> None:
    sync(store)
    files.make_folder(store.home / "auto-memory")
    (store.home / "auto-memory" / "0123.json").write_text(damage, encoding="utf-8")

    sync(store)

    assert not (store.home / "auto-memory").exists()


# Lines of documents


def test_a_line_that_tells_of_one_section_is_understood(store: Store, tmp_path: Path) -> None:
    world = world_of("a file", store, tmp_path)
    world.there(a=EIGHT, b="Logs are written as JSON.")
    refs = {item.key: read(store, item.id) for item in world.take()}
    without_ledger_of_today(store)
    for part, memory_file in zip(("Part a", "Part b"), refs.values(), strict=True):
        words = fingerprint(memory_file.memory.title, memory_file.memory.text)
        file = str(world.place / "notes.md")
        store.ledger.append(
            "seeded", store.clock(), refs=[memory_file.ref], file=file, section=part, said=words, session=""
        )
    rebuild(store)

    assert [item.outcome for item in world.take()] == [Outcome.UNCHANGED] * 2
    world.there(a=NINE)
    assert {item.outcome for item in world.take()} == {Outcome.REVISED, Outcome.GONE}
