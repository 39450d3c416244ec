"""The state files and the databases of memory-mcp."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.foreign import memory_mcp_database
from mcp_server.adapters.index.events import usage
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft, Link
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Filter, Query
from mcp_server.store import Store
from tests.actions.imports.imported import items, mem, memories, outcomes, state
from tests.conftest import Open
from tests.importing import import_from

# memory-mcp


@pytest.mark.feature("A-18", "3.1-state-tags")
def test_the_memories_of_a_state_file_come_with_types_tags_and_dates(store: Store, project: Path) -> None:
    state(
        project / ".memory/state.json",
        mem(1, "We chose Postgres over MySQL. The reports need window functions."),
        mem(2, "Deploys are slow on Fridays.", type="progress", tags=["ci", "superseded"]),
        mem(3, "Old build server.", type="context", status="archived"),
    )

    imports = import_from(store, "memory-mcp")

    assert set(outcomes(imports).values()) == {Outcome.TAKEN}
    by_title = memories(store)
    chosen = by_title["We chose Postgres over MySQL"]
    assert chosen.text == "We chose Postgres over MySQL. The reports need window functions."
    assert (chosen.type, chosen.tags, chosen.source) == ("decision", ("billing",), "imported")
    assert chosen.created == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert chosen.updated == datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    slow = by_title["Deploys are slow on Fridays"]
    assert (slow.status, slow.tags) == (Status.SUPERSEDED, ("ci",))
    old = read(store, by_title["Old build server"].id)
    assert old.memory.status is Status.ARCHIVED
    assert old.path.parent.name == "archive"
    assert recall(store, Query("which database for the reports")).hits[0].id == chosen.id


def test_how_often_a_memory_was_looked_at_comes_along_once(
    store: Store, project: Path, open_here: Open
) -> None:
    file = state(
        project / ".memory/state.json",
        mem(1, "We chose Postgres."),
        mem(2, "Deploys are slow.", accessCount="7"),
        mem(3, "Reports need windows.", accessCount=True),
    )
    import_from(store, "memory-mcp")
    looked_at = int(datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC).timestamp())

    def accesses() -> dict[str, tuple[int, int]]:
        other_store = open_here().store()
        by_title = memories(other_store)
        with other_store.database.read() as db:
            used = usage.usage_of(
                db, [f"{other_store.vaults[-1].key}/{memory.id}" for memory in by_title.values()]
            )
        other_store.database.close()
        ids = {memory.id: title for title, memory in by_title.items()}
        return {ids[ref.rpartition("/")[2]]: (use.accesses, use.last_access) for ref, use in used.items()}

    assert accesses() == {"We chose Postgres": (7, looked_at)}
    state(file, mem(1, "We chose Postgres for its windows.", accessCount=9))
    import_from(store, "memory-mcp")
    store.database.close()
    for side in ("", "-wal", "-shm"):
        Path(f"{store.database.path}{side}").unlink(missing_ok=True)
    assert accesses() == {"We chose Postgres for its windows": (7, looked_at)}


@pytest.mark.feature("A-21")
def test_what_replaced_what_is_kept(store: Store, project: Path) -> None:
    path = state(
        project / "state.json",
        mem(1, "Caching is done by Memcached."),
        mem(2, "Caching is done by Redis.", supersedes=mem(1, "")["id"]),
        mem(3, "Both queues run on Redis and Kafka.", mergedFrom=[mem(2, "")["id"], "mem_gone"]),
    )

    import_from(store, "memory-mcp", path)

    by_title = memories(store)
    old, new = by_title["Caching is done by Memcached"], by_title["Caching is done by Redis"]
    assert (old.status, old.superseded_by) == (Status.SUPERSEDED, new.id)
    assert new.supersedes == (old.id,)
    assert by_title["Both queues run on Redis and Kafka"].merged_from == (new.id,)


def test_what_was_replaced_held_until_its_successor_came(store: Store, project: Path) -> None:
    day = "2026-03-01T08:00:00.000Z"
    path = state(
        project / "state.json",
        mem(1, "Deploys go to Heroku.", updated=mem(1, "")["created"]),
        mem(2, "Deploys go to Fly.io.", created=day, updated=day, supersedes=mem(1, "")["id"]),
    )

    import_from(store, "memory-mcp", path)

    by_title = memories(store)
    old, new = by_title["Deploys go to Heroku"], by_title["Deploys go to Fly.io"]
    assert old.valid_to == new.created == datetime(2026, 3, 1, 8, tzinfo=UTC)
    answers = {
        month: [hit.id for hit in recall(store, Query("where do deploys go", filter=_as_of(month))).hits]
        for month in (2, 4)
    }
    assert answers == {2: [old.id], 4: [new.id]}


def _as_of(month: int) -> Filter:
    return Filter(as_of=datetime(2026, month, 1, tzinfo=UTC))


def test_an_import_supersedes_and_shadows_nothing_that_was_there(store: Store, project: Path) -> None:
    title = "Caching is done by Memcached"
    ids_before = [
        remember(store, Draft(title, f"{title}.", level=level)).memory.id
        for level in (Level.USER, Level.PROJECT)
    ]
    before = [read(store, memory_id).data for memory_id in ids_before]
    path = state(
        project / "state.json",
        mem(1, "Caching is done by Memcached."),
        mem(2, "Caching is done by Memcached, because it is there. It is fast."),
        mem(3, "Caching is done by Redis.", supersedes=mem(1, "")["id"]),
        *(mem(1, f"Service {n} listens on port {n}.", id=f"mem_{n}") for n in range(20)),
    )

    import_from(store, "memory-mcp", path)

    assert [read(store, memory_id).data for memory_id in ids_before] == before
    rows = list_memories(store, Filter(), limit=100).rows
    assert set(ids_before) <= {row.id for row in rows}


def test_a_level_can_be_said_for_everything(store: Store, project: Path) -> None:
    state(project / ".memory/state.json", mem(1, "Ports start at 8000."))

    (item,) = items(import_from(store, "memory-mcp", level=Level.USER)).values()

    assert read(store, item.id).vault.level is Level.USER


def test_ten_thousand_records_of_a_state_file_fit_into_one_batchwise_import(
    store: Store, project: Path
) -> None:
    path = state(
        project / "state.json",
        *(mem(1, f"Service number {n} listens on port {n}.", id=f"mem_{n}") for n in range(600)),
    )

    first = import_from(store, "memory-mcp", path)
    lines = [line for ledger in store.ledger.paths() for line in ledger.read_bytes().splitlines()]

    assert set(outcomes(first).values()) == {Outcome.TAKEN}
    assert sum(b'"imported"' in line for line in lines) == 3
    assert max(map(len, lines)) < 256 * 1024
    assert set(outcomes(import_from(store, "memory-mcp", path)).values()) == {Outcome.UNCHANGED}


# memory-mcp-db


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A memory.db with two related memories and one of another project."""
    path = tmp_path / "theirs" / "memory.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            """
            CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, memory_type TEXT, source TEXT,
                is_hot INTEGER, is_pinned INTEGER, trust_score REAL, category TEXT, project_id TEXT,
                created_at TEXT);
            CREATE TABLE memory_tags (memory_id INTEGER, tag TEXT);
            CREATE TABLE memory_relationships (from_memory_id INTEGER, to_memory_id INTEGER,
                relation_type TEXT);
            INSERT INTO memories VALUES
                (1, 'Never retry a charge.', 'pattern', 'manual', 1, 1, 0.9, 'landmine', NULL,
                 '2026-03-01 10:00:00'),
                (2, 'Charges go through the queue.', 'project', 'mined', 0, 0, 0.7, NULL, NULL,
                 '2026-03-02 10:00:00'),
                (3, 'Theirs alone.', 'project', 'mined', 0, 0, 0.7, NULL, 'github/acme/other', NULL),
                (4, 'Charges go through cron.', 'project', 'mined', 0, 0, 0.7, NULL, NULL, NULL);
            INSERT INTO memory_tags VALUES (1, 'Billing'), (1, 'risk');
            INSERT INTO memory_relationships VALUES (1, 2, 'depends_on'), (1, 99, 'relates_to'),
                (2, 4, 'supersedes'), (1, 4, 'contradicts');
            """
        )
    return path


@pytest.mark.feature("B-41")
def test_a_database_comes_with_pins_trust_tags_and_relations(store: Store, database: Path) -> None:
    items_by_key = items(import_from(store, "memory-mcp-db", database))

    by_title = memories(store)
    retry, queue, cron = (by_title[title] for title in (
        "Never retry a charge", "Charges go through the queue", "Charges go through cron"
    ))  # fmt: skip
    assert (retry.pinned, retry.trust, retry.tags) == (True, 0.9, ("billing", "risk"))
    assert (retry.type, retry.category) == ("gotcha", "landmine")
    assert retry.created == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert set(retry.links) == {Link("depends-on", queue.id), Link("contradicts", cron.id)}
    assert (queue.type, queue.supersedes) == ("reference", (cron.id,))
    assert (cron.status, cron.superseded_by) == (Status.SUPERSEDED, queue.id)
    assert items_by_key["3"].outcome is Outcome.LEFT
    assert "github/acme/other" in items_by_key["3"].why
    assert read(store, retry.id).vault.level is Level.USER


def test_a_database_in_use_is_read_with_its_log_and_not_touched(store: Store, database: Path) -> None:
    with closing(sqlite3.connect(database)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("INSERT INTO memories (id, content) VALUES (9, 'Only in the log.')")
        db.commit()
        before = {path.name: path.read_bytes() for path in database.parent.iterdir()}

        import_from(store, "memory-mcp-db", database)

        assert {path.name: path.read_bytes() for path in database.parent.iterdir()} == before
    assert "Only in the log" in memories(store)


@pytest.mark.feature("B-30")
def test_a_database_of_an_old_version_lacks_tables_and_columns(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE memories (id INTEGER, content TEXT); INSERT INTO memories VALUES (1, 'Old.')"
        )

    assert outcomes(import_from(store, "memory-mcp-db", path)) == {"1": Outcome.TAKEN}


@pytest.mark.parametrize(
    "table",
    [
        "CREATE VIEW memories AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)"
        " SELECT id, 'x' AS content FROM n",
        "CREATE TABLE memories (id INTEGER, content TEXT AS (hex(zeroblob(id))))",
    ],
)
def test_a_database_that_would_run_what_it_says_is_refused(store: Store, tmp_path: Path, table: str) -> None:
    with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
        db.execute(table)

    with pytest.raises(Rejected, match="contains no table of memories"):
        memory_mcp_database.read(tmp_path)


def test_what_is_no_such_database_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_bytes(b"no database at all" * 100)
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE stuff (id INTEGER)")

    with pytest.raises(Rejected, match="cannot be read as SQLite"):
        import_from(store, "memory-mcp-db", tmp_path / "text.db")
    with pytest.raises(Rejected, match="no table of memories"):
        import_from(store, "memory-mcp-db", tmp_path / "other.db")
    with pytest.raises(Rejected, match="Daybook's own index"):
        sync(store)
        import_from(store, "memory-mcp-db", store.database.path)


def test_a_memory_that_says_the_same_already_gets_the_tags(store: Store, project: Path) -> None:
    own = remember(store, Draft("Ports start at 8000", "Ports start at 8000.", tags=("net",))).memory
    state(project / ".memory/state.json", mem(1, "Ports start at 8000."))

    (first,) = items(import_from(store, "memory-mcp")).values()

    assert (first.outcome, first.id) == (Outcome.MERGED, own.id)
    assert read(store, own.id).memory.tags == ("net", "billing")
