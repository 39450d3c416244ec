"""X1, X3: an index rebuilt equals one that followed every change; the old one answers meanwhile."""

import contextlib
import random
import sqlite3
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters import vault
from mcp_server.core.errors import DaybookError, IndexUnavailable
from mcp_server.core.memory import Draft, Link
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import ANY_STATUS, Filter, Query
from mcp_server.store import Store
from tests.conftest import Open
from tests.index_rows import all_rows

WORDS = "stripe webhook body postgres cart server commit retry queue deploy kernel parser token lock".split()
EVENTS = 60


def said_by(store: Store) -> dict[str, list[object]]:
    """Return all that the index says, and what it answers to some questions."""
    answers: dict[str, list[object]] = {**all_rows(store)}
    rng = random.Random(7)
    everything = Filter(statuses=ANY_STATUS)
    for number in range(20):
        query = Query(" ".join(rng.choices(WORDS, k=3)), limit=10, filter=everything, expand=bool(number % 2))
        answers[f"answer {number}"] = [
            (hit.id, round(hit.score, 9), hit.text) for hit in recall(store, query).hits
        ]
    return answers


class Life:
    """What may happen to a store, by its verbs and by hand."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.rng = random.Random(seed)
        self.gone: list[str] = []

    def some_words(self) -> str:
        return " ".join(self.rng.choices(WORDS, k=20))

    def a_file(self) -> Path | None:
        paths = [Path(stamp.path) for vault_of in self.store.vaults for stamp in vault.stamps(vault_of)]
        return self.rng.choice(paths) if paths else None

    def an_id(self) -> str:
        path = self.a_file()
        return path.stem.lower().replace(" ", "-") if path else "none"

    def remembers(self) -> None:
        level = self.rng.choice((Level.USER, Level.PROJECT))
        links = (Link("depends-on", self.an_id()),)
        remember(self.store, Draft(self.some_words()[:40], self.some_words(), level=level, links=links))

    def recalls(self) -> None:
        recall(self.store, Query(self.some_words()[:30]), given_to="s")

    def revises(self) -> None:
        revise(self.store, self.an_id(), Revision(text=self.some_words(), tags=(self.rng.choice("abc"),)))

    def forgets(self) -> None:
        self.gone.append(forget(self.store, self.an_id(), forever=self.rng.random() < 0.2).id)

    def restores(self) -> None:
        if self.gone:
            restore(self.store, self.rng.choice(self.gone))

    def edits_by_hand(self) -> None:
        if path := self.a_file():
            path.write_text(path.read_text(encoding="utf-8") + f"\n{self.some_words()}\n", encoding="utf-8")

    def changes_an_id_by_hand(self) -> None:
        if path := self.a_file():
            lines = path.read_text(encoding="utf-8").split("\n")
            lines = [f"id: {self.an_id()}" if line.startswith("id: ") else line for line in lines]
            path.write_text("\n".join(lines), encoding="utf-8")

    def writes_by_hand(self) -> None:
        path = self.store.user_vault.root / "knowledge" / f"Note {self.rng.randrange(20)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {self.some_words()[:20]}\n\n{self.some_words()}\n", encoding="utf-8")

    def renames_by_hand(self) -> None:
        if path := self.a_file():
            path.replace(path.with_name(f"renamed-{self.rng.randrange(30)}.md"))

    def copies_by_hand(self) -> None:
        if path := self.a_file():
            target = path.with_name(f"{self.rng.choice('az')}-copy-{self.rng.randrange(30)}.md")
            target.write_bytes(path.read_bytes())

    def swaps_names_by_hand(self) -> None:
        source, target = self.a_file(), self.a_file()
        if source and target and source != target:
            data = source.read_bytes()
            source.write_bytes(target.read_bytes())
            target.write_bytes(data)

    def deletes_by_hand(self) -> None:
        if path := self.a_file():
            path.unlink()

    def is_told_by_a_watcher(self) -> None:
        if path := self.a_file():
            one = next(one for one in self.store.vaults if path.is_relative_to(one.root / "knowledge"))
            take_in(self.store, one, path)

    def syncs(self) -> None:
        sync(self.store)


@pytest.mark.feature("D-07")
@pytest.mark.parametrize("seed", range(8))
def test_whatever_happened_an_index_made_anew_says_the_same(open_here: Open, seed: int) -> None:
    store = open_here().store()
    life = Life(store, seed)
    events = [name for name in vars(Life) if not name.startswith(("_", "a_", "an_", "some_"))]
    events += ["remembers", "remembers", "writes_by_hand"]
    for _ in range(EVENTS):
        with contextlib.suppress(DaybookError):  # nothing has that id, or its place is taken
            getattr(life, life.rng.choice(events))()

    sync(store)
    followed = said_by(store)
    rebuild(store)
    made_anew = said_by(store)

    assert followed["memories"]
    for table, rows in followed.items():
        assert set(made_anew[table]) ^ set(rows) == set(), table


def passages(store: Store) -> set[int]:
    with store.database.read() as db:
        return {row[0] for row in db.execute("SELECT row FROM passages")}


def test_while_an_index_is_made_anew_the_old_one_answers_and_is_written(
    open_here: Open,
) -> None:
    store, other = open_here().store(), open_here().store()
    remember(store, Draft("Quokka", "Lives on Rottnest."))
    connection, before = other.database.connection(), passages(other)
    titles = []

    def meanwhile(_: int) -> None:
        if not titles:  # afterwards what is remembered here is read
            titles.extend(hit.title for hit in recall(other, Query("quokka rottnest")).hits)
            remember(other, Draft("Numbat", "Eats termites."))

    rebuild(store._replace(reading=lambda _: contextlib.nullcontext(meanwhile)))

    assert titles == ["Quokka"]
    for opened in (store, other):
        assert [hit.title for hit in recall(opened, Query("numbat termites")).hits] == ["Numbat"]
        assert len(passages(opened)) == 2
        assert min(passages(opened)) > max(before), "a number that somebody may still hold was given again"
    assert other.database.connection() is connection
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert not store.database.rebuild_folder.exists()


def made(store: Store) -> set[tuple[str, str]]:
    """Return the name and the statement of everything in the index's schema."""
    with store.database.read() as db:
        return set(db.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'"))


def test_an_index_made_anew_has_every_index_of_one_that_followed(open_here: Open) -> None:
    store = open_here().store()
    remember(store, Draft("Quokka", "Lives on Rottnest."))
    followed = made(store)

    rebuild(store)

    assert made(store) == followed
    assert any(name == "idx_memories_fingerprint" for name, _ in followed)


def test_a_rebuild_that_fails_leaves_the_index_as_it_was(open_here: Open) -> None:
    store = open_here().store()
    remember(store, Draft("Quokka", "Lives on Rottnest."))
    before = passages(store)

    def fail(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild(store._replace(reading=lambda _: contextlib.nullcontext(fail)))

    assert passages(store) == before
    assert not store.database.rebuild_folder.exists()


def test_a_rebuild_ends_when_another_process_writes_for_too_long(open_here: Open) -> None:
    store = open_here().store()
    remember(store, Draft("Quokka", "Lives on Rottnest."))
    store.database.connection().execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(store.database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(IndexUnavailable, match="is held by"):
        rebuild(store)

    other.close()
    assert rebuild(store).added == 1


def test_what_a_killed_rebuild_left_goes_with_whatever_is_forgotten_for_ever(
    open_here: Open,
) -> None:
    store = open_here().store()
    memory_id = remember(store, Draft("Quokka", "Lives on Rottnest.")).memory.id
    old_index = store.database.rebuild_folder / store.database.path.name
    old_index.parent.mkdir()
    old_index.write_bytes(b"Lives on Rottnest.")

    forget(store, memory_id, forever=True)

    assert not old_index.exists()


def test_one_view_of_the_index_is_kept_while_others_write(open_here: Open) -> None:
    store, other = open_here().store(), open_here().store()
    remember(store, Draft("Quokka", "Lives on Rottnest."))

    with store.database.read() as db:
        before = db.execute("SELECT row FROM memories").fetchall()
        remember(other, Draft("Numbat", "Eats termites."))
        with store.database.read() as again:
            assert again.execute("SELECT row FROM memories").fetchall() == before
    assert len(passages(store)) == 2
