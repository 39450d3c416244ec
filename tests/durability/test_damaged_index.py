"""X1: an index that is gone, cut or garbled is rebuilt by itself, and answers as before."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.database import integrity
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import IndexOfNewer, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.remarks import FromFiles, IndexBehind
from mcp_server.core.search.query import ANY_STATUS, Filter, Query
from mcp_server.store import Store
from tests.conftest import Open
from tests.durability.programs.damaged_index import WORDS
from tests.opened import opened_at

NEWER = str(IndexOfNewer(999))
PROGRAMS = Path(__file__).parent / "programs"
FILTERS = (
    Filter(),
    Filter(types=("gotcha",)),
    Filter(types=("decision", "note"), tags=("b",)),
    Filter(level=Level.USER),
    Filter(level=Level.PROJECT, statuses=ANY_STATUS),
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with the closed store `memory` of forty memories and its project, and a copy of the store."""
    place = tmp_path_factory.mktemp("filled")
    (place / "shop").mkdir()
    opened = open_at(place)
    fill(opened.store(), 40)
    opened.database.close()
    shutil.copytree(place / "memory", place / "copy")
    return place, place / "copy"


@pytest.fixture
def index(filled: tuple[Path, Path]) -> Path:
    """The closed index of the filled store, which is as it was when it was filled."""
    place, copy = filled
    shutil.rmtree(place / "memory")
    shutil.copytree(copy, place / "memory")
    return place / "memory" / "memory.db"


@pytest.fixture
def open_it(index: Path) -> Iterator[Open]:
    """Open the filled store as a process of its own would."""
    opened: list[Opened] = []

    def open_() -> Opened:
        opened.append(open_at(index.parent.parent))
        return opened[-1]

    yield open_
    for store in opened:
        store.database.close()
        if store.database.path != index:
            shutil.rmtree(store.database.path.parent)


def open_at(place: Path) -> Opened:
    morning = datetime(2026, 11, 20, 9, tzinfo=UTC)
    return opened_at(place / "memory", place / "shop", clock=lambda: morning)


def fill(store: Store, count: int) -> None:
    rng = random.Random(20)
    for number in range(count):
        words = " ".join(rng.choices(WORDS, k=40))
        draft = Draft(
            f"{' '.join(rng.choices(WORDS, k=4))} {number}",
            words,
            type=rng.choice(("gotcha", "decision", "note")),
            tags=(rng.choice("ab"),),
            level=rng.choice((Level.USER, Level.PROJECT)),
        )
        memory_id = remember(store, draft).memory.id
        if number % 7 == 0:
            revise(store, memory_id, Revision(text=f"{words} at last"))
        elif number % 7 == 1:
            revise(store, memory_id, Revision(status=Status.SUPERSEDED))
        elif number % 7 == 2:
            forget(store, memory_id)


def answers(store: Store, count: int = 50) -> list[list[tuple[str, str, str]]]:
    """Return what recall answers to *count* questions with and without filters, and what is listed."""
    rng = random.Random(50)
    answer_rows = []
    for number in range(count):
        text = " ".join(rng.choices(WORDS, k=3))
        query = Query(text, limit=10, filter=FILTERS[number % len(FILTERS)])
        answer_rows.append([(hit.id, hit.title, hit.text) for hit in recall(store, query).hits])
    listed = list_memories(store, Filter(statuses=ANY_STATUS), limit=50).rows
    return [*answer_rows, [(row.id, row.title, row.text) for row in listed]]


def cut(index: Path, seed: int) -> None:
    os.truncate(index, random.Random(seed).randrange(index.stat().st_size))


def garble(index: Path, seed: int) -> None:
    """Overwrite up to 4 KB somewhere with random bytes."""
    rng = random.Random(seed)
    data = bytearray(index.read_bytes())
    length = rng.choice((1, 16, 256, 1024, 4096))
    at = rng.randrange(len(data) - length)
    data[at : at + length] = rng.randbytes(length)
    index.write_bytes(data)


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda index: index.unlink(), id="deleted"),
        pytest.param(lambda index: index.write_bytes(b""), id="empty"),
        pytest.param(lambda index: index.write_bytes(b"not a database\n" * 999), id="a text"),
        pytest.param(lambda index: index.write_bytes(bytes(8192)), id="zeros"),
        pytest.param(lambda index: index.write_bytes(b"SQLite format 3\0" * 512), id="a header and no more"),
        pytest.param(lambda index: other_tables(index, 0), id="other tables, no schema number"),
        pytest.param(lambda index: other_tables(index, 1), id="other tables, our schema number"),
        *(pytest.param(lambda index, seed=seed: cut(index, seed), id=f"cut {seed}") for seed in range(8)),
    ],
)
def test_recall_answers_as_before_whatever_became_of_the_index(
    index: Path, open_it: Open, harm: Callable[[Path], None]
) -> None:
    opened = open_it()
    before = answers(opened.store())
    opened.database.close()
    harm(index)

    opened = open_it()

    assert answers(opened.store()) == before
    assert opened.database.path == index


def other_tables(index: Path, number: int) -> None:
    index.unlink()
    connection = sqlite3.connect(index)
    connection.executescript("CREATE TABLE memories (row); CREATE TABLE facts (name)")
    connection.execute(f"PRAGMA user_version = {number}")
    connection.close()


def test_recall_never_fails_for_garbled_bytes_and_a_deep_sync_leaves_nothing_of_them(
    index: Path, open_it: Open
) -> None:
    opened = open_it()
    before = answers(opened.store(), 12)
    opened.database.close()
    sound = index.read_bytes()
    healed = 0
    for seed in range(40):
        for path in index.parent.glob("memory.db*"):
            path.unlink()
        index.write_bytes(sound)
        garble(index, seed)
        opened = open_it()
        store = opened.store()
        answers(store, 12)  # raises nothing
        if opened.database.path != index:
            continue  # the schema number happened to become a newer one
        healed += Path(f"{index}.old").exists()
        sync(store, deep=True)
        assert answers(store, 12) == before, seed
        opened.database.close()
    assert healed > 3, "so few were noticed that this told nothing"


@pytest.mark.parametrize("lost", [("-wal",), ("-shm",), ("-wal", "-shm"), ("",)])
def test_a_sync_finds_again_what_only_the_deleted_log_knew(
    index: Path, open_it: Open, lost: tuple[str, ...]
) -> None:
    titles = ["quokka one", "quokka two"]
    program = [
        sys.executable,
        PROGRAMS / "remember_and_die.py",
        index.parent,
        index.parent.parent / "shop",
        *titles,
    ]
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "EMBEDDING_MODEL": "none"}
    assert subprocess.run(program, env=environment, check=False).returncode < 0
    assert Path(f"{index}-wal").stat().st_size > 0
    for suffix in lost:
        Path(f"{index}{suffix}").unlink()

    store = open_it().store()
    sync(store)  # as the server does when it starts, and the command line before it recalls

    assert sorted(hit.title for hit in recall(store, Query("quokka")).hits) == titles
    assert len(list_memories(store, Filter(statuses=ANY_STATUS)).rows) == 20
    assert list_memories(store, Filter(statuses=ANY_STATUS)).total == 36


@pytest.mark.parametrize("suffixes", [("",), ("", "-wal", "-shm")])
def test_an_index_deleted_under_a_running_process_is_made_anew(
    index: Path, open_it: Open, suffixes: tuple[str, ...]
) -> None:
    store, other = open_it().store(), open_it().store()
    before = answers(store)
    assert answers(other, 5)
    for suffix in suffixes:
        Path(f"{index}{suffix}").unlink(missing_ok=True)

    assert answers(store) == before
    memory_id = remember(store, Draft("quokka", "lives on Rottnest")).memory.id
    assert [hit.id for hit in recall(other, Query("quokka")).hits] == [memory_id]


def test_a_rebuild_by_another_process_is_noticed_by_a_running_one(index: Path, open_it: Open) -> None:
    store, other = open_it().store(), open_it().store()
    before = answers(store)

    rebuild(other)
    memory_id = remember(other, Draft("quokka", "lives on Rottnest")).memory.id

    assert [hit.id for hit in recall(store, Query("quokka")).hits] == [memory_id]
    forget(store, memory_id)
    assert answers(store) == answers(other) == before


def test_an_index_of_a_newer_daybook_is_left_alone_and_recall_still_answers(
    index: Path, open_it: Open
) -> None:
    opened = open_it()
    before = answers(opened.store())
    opened.database.close()
    newer = sqlite3.connect(index)
    newer.executescript("CREATE TABLE wonders (a); PRAGMA user_version = 999")
    newer.close()

    opened = open_it()

    assert answers(opened.store()) == before
    assert opened.remarks() == [FromFiles(NEWER, 0)]
    opened.database.close()
    newer = sqlite3.connect(index)
    assert newer.execute("PRAGMA user_version").fetchone() == (999,)
    assert newer.execute("SELECT count(*) FROM wonders").fetchone() == (0,)
    newer.close()


def test_what_runs_while_a_newer_daybook_makes_the_index_anew_neither_reads_nor_writes_it(
    index: Path, open_it: Open
) -> None:
    opened = open_it()
    store, before = opened.store(), answers(opened.store())
    newer = sqlite3.connect(index, isolation_level=None)
    newer.execute("PRAGMA user_version = 999")
    as_made = list(newer.iterdump())

    stored = remember(store, Draft("quokka", "lives on Rottnest"))
    behind = opened.remarks()
    assert [hit.id for hit in recall(store, Query("quokka")).hits] == [stored.memory.id]
    forget(store, stored.memory.id)

    assert answers(store) == before
    assert (behind, opened.remarks()) == ([IndexBehind(NEWER)], [FromFiles(NEWER, 0), IndexBehind(NEWER)])
    assert list(newer.iterdump()) == as_made
    newer.close()


def test_an_index_that_is_only_locked_is_not_taken_for_damaged(index: Path) -> None:
    holder = sqlite3.connect(index, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    other = sqlite3.connect(index, isolation_level=None, timeout=0)

    with pytest.raises(sqlite3.OperationalError, match="locked") as busy:
        other.execute("BEGIN IMMEDIATE")

    assert not integrity.may_tell_damage(busy.value)
    assert integrity.is_sound(other)
    holder.close()
    other.close()


def test_half_a_character_is_refused_and_harms_nothing(index: Path, open_it: Open) -> None:
    store = open_it().store()

    with pytest.raises(Rejected, match="half a character"):
        read(store, "\ud800")
    with pytest.raises(Rejected, match="half a character"):
        recall(store, Query("webhook", filter=Filter(tags=("\udfff",))))

    assert not Path(f"{index}.old").exists()
