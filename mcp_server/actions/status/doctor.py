"""doctor: try every part for real, and say what to do about each that fails."""

import contextlib
import os
import platform
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mcp_server.actions.context.notice import LATE
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.files.unfinished_files import caught_edits
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import refused
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.model.model_call import Spending, spending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.module_seen import module_seen
from mcp_server.actions.status.stats import get_stats
from mcp_server.adapters import files, places
from mcp_server.adapters.index.database import integrity
from mcp_server.adapters.index.database.database import Database
from mcp_server.adapters.index.events import transcripts
from mcp_server.adapters.ledger import Ledger
from mcp_server.adapters.open_files import open_to_others
from mcp_server.adapters.own_process import try_hook
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory import Draft
from mcp_server.core.render import counted
from mcp_server.core.search.query import Mode, Query
from mcp_server.core.settings import TOOLSETS
from mcp_server.store import Embeds, Store

if TYPE_CHECKING:
    from mcp_server.adapters.index.search.semantic import Meaning


class AllowedModel(NamedTuple):
    """The language model that may be called, what was spent on it, and how many USD a day may be."""

    name: str
    spent: Spending
    daily_usd: float


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, whether it passed, what was seen, and what to do if it failed."""

    name: str
    well: bool
    seen: str | AllowedModel
    advice: str = ""


def doctor(store: Store, *, plugin: Path) -> Iterator[Check]:
    """Try every part for real, one check after the other; never raises."""
    yield Check("Python", True, platform.python_version())
    yield _tried("SQLite", integrity.check_sqlite, "Install a Python whose sqlite3 has FTS5.")
    writable = f"Make room on the disk of {store.home}, make the folder writable, or set MEMORY_DIR."
    yield _tried("store", lambda: _writable(store.home), writable)
    yield _tried("index", lambda: _index(store), "Run 'daybook maintain all'.")
    yield _tried(
        "files", lambda: _readable(store), "Do what 'daybook sync' says about each file that it names."
    )
    yield _tried("edits", lambda: _nothing_held(store), "Copy what you need of them, and delete them.")
    yield _tried("embedding model", lambda: _model(store), "Choose another with 'daybook model use'.")
    yield _tried(
        "round trip",
        lambda: _round_trip(store),
        "Run 'daybook maintain all', then try again.",
        disk="Make room for temporary files, or name another folder for them in TMPDIR.",
    )
    yield _tried("hooks", lambda: _hooks(plugin), "Reinstall the plugin.")
    yield Check("module", True, module_seen(store.home))
    yield Check("tools", True, _toolsets(store))
    yield _tried("capture", lambda: _captures(store), "Run 'daybook work' and read logs/worker.log.")
    yield _tried("language model", lambda: _language_model(store), "Run 'daybook setup'.")


def _tried(name: str, look: Callable[[], str | AllowedModel], advice: str, *, disk: str = "") -> Check:
    """Return what *look* saw; *advice* helps when it fails, and *disk* instead when a disk refused it."""
    try:
        return Check(name, True, look())
    except DaybookError as error:
        return Check(name, False, str(error), error.hint or advice)
    except OSError as error:
        place = f" ({error.filename})" if isinstance(error.filename, str) else ""
        return Check(name, False, f"{error.strerror or error}{place}", disk or advice)
    except (sqlite3.Error, AssertionError) as error:
        return Check(name, False, str(error), advice)


def _writable(home: Path) -> str:
    files.try_writing(home)
    return str(home) + (f" (readable by others: chmod 700 {home})" if open_to_others(home) else "")


def _index(store: Store) -> str:
    store.database.require()  # what stands in for an index that cannot be used is no index
    with store.database.alone() as db:
        integrity.check(db)
    return str(store.database.path)


def _readable(store: Store) -> str:
    store.database.require()
    stats = get_stats(store)
    assert not refused(store), refused(store)
    assert not stats.unreadable, f"not taken in: {counted(len(stats.unreadable), 'file')}"
    return counted(stats.memories, "memory")


def _nothing_held(store: Store) -> str:
    caught = caught_edits(store)
    assert not caught, caught
    return "no file was saved during a change"


def _model(store: Store) -> str:
    if store.settings.embedding_model == "none":
        return "switched off; recall searches by words only"
    store.database.require()  # without an index no model is opened
    meaning = store.meaning()
    assert meaning, store.meaning.problem or "the model did not load"
    (probe,) = meaning.embedder.embed_queries(["probe"])
    assert len(probe.vector) == 4 * meaning.embedder.dimensions
    destination = f"; texts are sent to {store.settings.embedding_model}" if meaning.embedder.sends else ""
    return meaning.embedder.model + destination


def _round_trip(store: Store) -> str:
    """Remember, find by words and by meaning, and forget a memory of our own, in a store of its own."""
    with tempfile.TemporaryDirectory(prefix="daybook-") as folder, _aside(store, Path(folder)) as aside:
        probe = remember(aside, Draft("Daybook doctor's probe", "Of the doctor: zirconium lighthouse."))
        answer = recall(aside, Query("zirconium lighthouse", mode=Mode.KEYWORD))
        assert probe.memory.id in [hit.id for hit in answer.hits], "the probe was not found by words"
        if aside.meaning():
            embed_pending(aside)
            answer = recall(aside, Query("what did the physician leave behind", mode=Mode.SEMANTIC))
            found = probe.memory.id in [hit.id for hit in answer.hits]
            assert found or aside.meaning.problem, "the probe was not found by meaning"
        forget(aside, probe.memory.id)
        answer = recall(aside, Query("zirconium lighthouse", mode=Mode.KEYWORD))
        assert not answer.hits, "the probe was found after it was forgotten"
    return "remembered, found and forgotten"


class _SameModel:
    """The embedding model of another store, with vectors of its own."""

    def __init__(self, of: Embeds) -> None:
        self._of = of
        self._meaning: Meaning | None = None

    @property
    def problem(self) -> str:
        return self._of.problem

    def __call__(self) -> "Meaning | None":
        meaning = self._of()
        if meaning and self._meaning is None:
            from mcp_server.adapters.index.search.semantic import Matrix, Meaning  # slow to load

            embedder = meaning.embedder
            self._meaning = Meaning(embedder, Matrix(embedder.model, embedder.dimensions))
        return self._meaning

    loaded = __call__


@contextlib.contextmanager
def _aside(store: Store, folder: Path) -> Iterator[Store]:
    """
    Yield an empty store in *folder* with the settings and the models of *store*.

    What is tried there is in no history of the person, reaches no other machine, and outlives no kill.
    """
    database = Database(folder / store.database.path.name)
    try:
        yield replace(
            store,
            home=folder,
            vaults=(places.user_vault(folder),),
            project=None,
            database=database,
            ledger=Ledger(folder / "ledger"),
            meaning=_SameModel(store.meaning),
            team=lambda: None,
        )
    finally:
        database.close()


def _hooks(plugin: Path) -> str:
    for name in ("hooks/hooks.json", ".mcp.json", "bin/daybook"):
        assert (plugin / name).is_file(), f"{plugin / name} is missing"
    launcher = plugin / "bin" / "daybook"
    assert os.access(launcher, os.X_OK), f"{launcher} is not executable"
    wrong = try_hook()
    assert not wrong, f"the hook of a new session {wrong}"
    return f"{plugin}, and a new session's hook answers"


def _toolsets(store: Store) -> str:
    """Tell which sets of tools Claude is offered, and how others are switched on."""
    on = store.settings.toolsets
    off = [name for name in TOOLSETS if name not in on]
    if not off:
        return " ".join(on)
    return f"{' '.join(on)}; off: {' '.join(off)}, switched on by naming the sets in DAYBOOK_TOOLSETS"


def _captures(store: Store) -> str:
    """Look whether sessions that ended are in the raw tier by now."""
    if store.settings.capture == "manual":
        return "switched off"
    store.database.require()
    catch_up_if_free(store)
    with store.database.read() as db:
        late_sessions = transcripts.late(db, store.now() - LATE)
        last = transcripts.last_kept(db)
    assert not late_sessions, f"not kept an hour after the end: {counted(late_sessions, 'session')}"
    last_time = f"{datetime.fromtimestamp(last, UTC):%Y-%m-%d %H:%M} UTC" if last else "none yet"
    return f"{store.settings.capture}, last session kept: {last_time}"


def _language_model(store: Store) -> str | AllowedModel:
    """Tell whether the model may and can be called; never calls it, because that would cost."""
    if store.settings.on_plan:
        store.database.require()
        calls = spending(store).plan_calls
        return f"on your plan; {calls} of {counted(store.settings.daily_plan_calls, 'call')} made today"
    if not store.settings.model_calls:
        return "not allowed: nothing is sent, nothing is spent"
    store.database.require()
    assert store.model(), "it is allowed, but there is no API key"
    spent = spending(store)
    assert not (spent.paused_reason and not spent.paused_until), spent.paused_reason
    return AllowedModel(store.settings.model, spent, store.settings.daily_usd)
