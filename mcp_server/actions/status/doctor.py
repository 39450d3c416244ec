"""doctor: try every part for real."""

import contextlib
import os
import platform
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.actions.context.notice import LATE
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.files.unfinished_files import caught_edits
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import refused
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.model.model_call import spending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.checks import (
    AllowedModel,
    CapturedLate,
    Captures,
    CaughtEdits,
    Check,
    CheckedPart,
    ClaudeSettings,
    Finding,
    HookFails,
    LastExchange,
    Memories,
    Missing,
    NotExecutable,
    NotTakenIn,
    OpenedModel,
    PlanCalls,
    Plugin,
    Seen,
    ServerFails,
    StoreFolder,
    SwitchedOff,
    TeamSeen,
    Toolsets,
)
from mcp_server.actions.status.module_seen import module_seen
from mcp_server.actions.status.stats import get_stats
from mcp_server.adapters import claude_settings, files, git, places
from mcp_server.adapters.auto_memory_folder import claude_folder
from mcp_server.adapters.index.database import integrity
from mcp_server.adapters.index.database.database import Database
from mcp_server.adapters.index.events import sessions, transcripts
from mcp_server.adapters.ledger import Ledger
from mcp_server.adapters.open_files import open_to_others
from mcp_server.adapters.own_process import try_hook, try_server
from mcp_server.adapters.project import worktree_around
from mcp_server.adapters.remote.notes import has_remote
from mcp_server.adapters.team_membership import has_team
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Mode, Query
from mcp_server.core.settings import TOOLSETS
from mcp_server.store import Embeds, Store

if TYPE_CHECKING:
    from mcp_server.adapters.index.search.semantic import Meaning


PROBE = "Daybook doctor's probe", "Of the doctor: zirconium lighthouse."  # title and text
BY_WORDS, BY_MEANING = "zirconium lighthouse", "what did the physician leave behind"  # questions that find it


class _Failed(Exception):
    """A check did not pass; *seen* is why."""

    def __init__(self, seen: Seen) -> None:
        super().__init__(seen)
        self.seen = seen


def doctor(store: Store, *, plugin: Path) -> Iterator[Check]:
    """Try every part for real, one check after the other; never raises."""
    yield Check(CheckedPart.PYTHON, True, platform.python_version())
    yield _tried(CheckedPart.SQLITE, integrity.check_sqlite)
    yield _tried(CheckedPart.STORE, lambda: _writable(store))
    yield _tried(CheckedPart.INDEX, lambda: _index(store))
    yield _tried(CheckedPart.FILES, lambda: _readable(store))
    yield _tried(CheckedPart.EDITS, lambda: _nothing_held(store))
    yield _tried(CheckedPart.EMBEDDING_MODEL, lambda: _model(store))
    yield _tried(CheckedPart.ROUND_TRIP, lambda: _round_trip(store))
    yield _tried(CheckedPart.HOOKS, lambda: _hooks(plugin, store.project and store.project.root))
    yield _tried(CheckedPart.SERVER, _server)
    yield Check(CheckedPart.MODULE, True, module_seen(store.home))
    yield Check(CheckedPart.TOOLS, True, _toolsets(store))
    yield _tried(CheckedPart.CAPTURE, lambda: _captures(store))
    yield _tried(CheckedPart.LANGUAGE_MODEL, lambda: _language_model(store))
    if has_remote(store.home):
        yield _tried(CheckedPart.REMOTE, lambda: _remote(store))
    if has_team(store.home):
        yield _tried(CheckedPart.TEAM, lambda: _team(store))


def _tried(part: CheckedPart, look: Callable[[], Seen]) -> Check:
    """Return what *look* saw, or why it failed."""
    try:
        return Check(part, True, look())
    except _Failed as failure:
        return Check(part, False, failure.seen)
    except (DaybookError, OSError, sqlite3.Error) as error:
        return Check(part, False, error)


def _writable(store: Store) -> StoreFolder:
    files.try_writing(store.home)
    return StoreFolder(store.home, open_to_others(store.home), _repository_around(store))


def _repository_around(store: Store) -> Path | None:
    """Return the repository that would take the store in; a store that is one itself is the person's wish."""
    worktree = worktree_around(store.home)
    if worktree is None or worktree.top.samefile(store.home):
        return None
    return worktree.top if git.ignores(store.git, store.home, "knowledge") is False else None


def _index(store: Store) -> Path:
    store.database.require()  # what stands in for an index that cannot be used is no index
    with store.database.alone() as db:
        integrity.check(db)
    return store.database.path


def _readable(store: Store) -> Memories:
    store.database.require()
    stats = get_stats(store)
    if refusal := refused(store):
        raise refusal
    if stats.unreadable:
        raise _Failed(NotTakenIn(len(stats.unreadable)))
    return Memories(stats.memories)


def _nothing_held(store: Store) -> Finding:
    if caught := caught_edits(store):
        raise _Failed(CaughtEdits(caught))
    return Finding.NO_EDITS_CAUGHT


def _model(store: Store) -> Finding | OpenedModel:
    if store.settings.embedding_model == "none":
        return Finding.EMBEDDING_OFF
    store.database.require()  # without an index no model is opened
    meaning = store.meaning()
    if not meaning:
        raise _Failed(store.meaning.problem or Finding.EMBEDDING_NOT_LOADED)
    meaning.embedder.embed_queries(["probe"])
    return OpenedModel(
        meaning.embedder.model, store.settings.embedding_model if meaning.embedder.sends else ""
    )


def _round_trip(store: Store) -> Finding:
    """Remember, find by words and by meaning, and forget a memory of our own, in a store of its own."""
    with tempfile.TemporaryDirectory(prefix="daybook-") as folder, _aside(store, Path(folder)) as aside:
        probe = remember(aside, Draft(*PROBE))
        answer = recall(aside, Query(BY_WORDS, mode=Mode.KEYWORD))
        if probe.memory.id not in [hit.id for hit in answer.hits]:
            raise _Failed(Finding.NOT_FOUND_BY_WORDS)
        if aside.meaning():
            embed_pending(aside)
            answer = recall(aside, Query(BY_MEANING, mode=Mode.SEMANTIC))
            if probe.memory.id not in [hit.id for hit in answer.hits] and not aside.meaning.problem:
                raise _Failed(Finding.NOT_FOUND_BY_MEANING)
        forget(aside, probe.memory.id)
        if recall(aside, Query(BY_WORDS, mode=Mode.KEYWORD)).hits:
            raise _Failed(Finding.FOUND_AFTER_FORGET)
    return Finding.ROUND_TRIP


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
        yield store._replace(
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


def _hooks(plugin: Path, project: Path | None) -> Plugin:
    for name in ("hooks/hooks.json", ".mcp.json", "bin/daybook"):
        if not (plugin / name).is_file():
            raise _Failed(Missing(plugin / name))
    launcher = plugin / "bin" / "daybook"
    if not os.access(launcher, os.X_OK):
        raise _Failed(NotExecutable(launcher))
    own, *of_project = claude_settings.files_of(claude_folder(os.environ), [project] if project else [])
    if problem := claude_settings.problem(own):
        raise _Failed(ClaudeSettings(own, *problem))
    if off := claude_settings.switching_off([own, *of_project], "daybook"):
        raise _Failed(SwitchedOff(*off))
    if wrong := try_hook():
        raise _Failed(HookFails(wrong))
    return Plugin(plugin)


def _server() -> Finding:
    if wrong := try_server():
        raise _Failed(ServerFails(wrong))
    return Finding.SERVER_ANSWERS


def _toolsets(store: Store) -> Toolsets:
    on = store.settings.toolsets
    return Toolsets(tuple(on), tuple(name for name in TOOLSETS if name not in on))


def _captures(store: Store) -> Finding | Captures:
    """Look whether sessions that ended are in the raw tier by now."""
    if store.settings.capture == "manual":
        return Finding.CAPTURE_OFF
    store.database.require()
    catch_up_if_free(store)
    with store.database.read() as db:
        late_sessions = transcripts.late(db, store.now() - LATE)
        last, is_any_open = transcripts.last_kept(db), sessions.is_any_open(db)
    if late_sessions:
        raise _Failed(CapturedLate(late_sessions))
    return Captures(store.settings.capture, last, is_any_open)


def _language_model(store: Store) -> Finding | PlanCalls | AllowedModel:
    """Look whether the model may and can be called; never calls it, because that would cost."""
    if store.settings.on_plan:
        store.database.require()
        return PlanCalls(spending(store).plan_calls, store.settings.daily_plan_calls)
    if not store.settings.model_calls:
        return Finding.CALLS_OFF
    store.database.require()
    if not store.model():
        raise _Failed(Finding.NO_KEY)
    spent = spending(store)
    if spent.paused_reason and not spent.paused_until:
        raise _Failed(spent.paused_reason)
    return AllowedModel(store.settings.model, spent, store.settings.daily_usd)


def _remote(store: Store) -> LastExchange:
    """Return how the last exchange ended: a new one would send what only waits to be sent."""
    from mcp_server.actions.remote.set_up import state_of  # most stores have no remote

    remote = state_of(store.home)
    if remote is None:  # removed just now
        raise _Failed("it was removed")
    seen = LastExchange(remote.url, remote.last.at, remote.last.trouble)
    if seen.trouble:
        raise _Failed(seen)
    return seen


def _team(store: Store) -> TeamSeen:
    """Ask the server of the person's team who they are there."""
    team = store.team()
    if team is None:
        raise _Failed("its address or token cannot be read: join again with 'daybook team join URL'")
    try:
        seen = team.team()
    except DaybookError as error:
        raise _Failed(error.with_hint) from None
    return TeamSeen(seen.name, seen.member, seen.role.value)
