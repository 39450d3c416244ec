"""
Settings and adapters, opened when they are first needed: the only reader of the environment.

What is slow to import (the embedding model, the watcher, numpy) is imported inside the function
that opens it, so that a hook or a search by words never pays for it.
"""

import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.adapters import files, places
from mcp_server.adapters.index.database import Database
from mcp_server.adapters.ledger import Ledger
from mcp_server.adapters.project import resolve_project
from mcp_server.core.errors import DaybookError, IndexUnavailable, SettingsError
from mcp_server.core.settings import Settings, parse_settings
from mcp_server.store import Store

if TYPE_CHECKING:
    from mcp_server.adapters.index.semantic import Meaning

INDEX_NAME = "memory.db"


def now() -> datetime:
    return datetime.now(UTC)


def memory_dir(environment: Mapping[str, str]) -> Path:
    """Return where the store lies: MEMORY_DIR, or `~/.claude-memory`; raise SettingsError when unusable."""
    configured = environment.get("MEMORY_DIR", "").strip()
    folder = Path(configured or "~/.claude-memory").expanduser()
    if not folder.is_absolute():
        raise SettingsError(
            f"MEMORY_DIR is '{configured}', which is not an absolute path.", "Give the whole path."
        )
    if folder.exists() and not folder.is_dir():
        raise SettingsError(f"MEMORY_DIR is '{folder}', which is not a folder.", "Name a folder.")
    return Path(os.path.realpath(folder))


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings of the environment and of `config.toml`; raise SettingsError."""
    path = memory_dir(environment) / "config.toml"
    config: dict[str, object] = {}
    try:
        if path.exists():
            import tomllib  # a hook that has nothing to parse need not wait for the parser

            config = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.", "Correct the file or delete it.") from error
    return parse_settings(environment, config)


class Meanings:
    """
    The embedding model with its vectors, loaded once for a process.

    *wait*: the first call loads the model; otherwise it is loaded beside, and there is none until then.
    """

    def __init__(self, settings: Settings, *, wait: bool) -> None:
        self._wanted = settings.embedding_model != "none"
        self._wait = wait
        self._lock = threading.Lock()
        self._started = False
        self._loaded: Meaning | None = None
        self.problem = ""
        """Why there is no embedding model, as a sentence; '' when there is one or none was tried."""

    def __call__(self) -> "Meaning | None":
        if self._loaded or not self._wanted:
            return self._loaded
        if self._wait:
            self._load()
        else:
            with self._lock:
                if not self._started:
                    self._started = True
                    threading.Thread(target=self._load, name="load-embedder", daemon=True).start()
        return self._loaded

    def _load(self) -> None:
        try:
            from mcp_server.adapters.fastembed_embedder import FastembedEmbedder
            from mcp_server.adapters.index.semantic import Matrix, Meaning

            embedder = FastembedEmbedder()
            self._loaded = Meaning(embedder, Matrix(embedder.model, embedder.dimensions))
        except (DaybookError, ImportError, OSError) as error:
            self._wanted = False
            self.problem = str(error)


class Opened:
    """What a process keeps open; `store()` looks afresh at which vaults there are."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        folder: Path | None = None,
        wait_for_model: bool = True,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.environment = os.environ if environment is None else environment
        self.home = memory_dir(self.environment)
        self.settings = read_settings(self.environment)
        self.folder = folder or working_folder(self.environment)
        self.meaning = Meanings(self.settings, wait=wait_for_model)
        self.database = Database(_index_path(self.home))
        self.clock = clock

    def store(self, *, folder: Path | None = None) -> Store:
        """Return the store as seen from *folder*, by default from where the process works."""
        person = Path(os.path.expanduser("~"))
        project = resolve_project(folder or self.folder, home=person)
        project_vaults = places.project_vaults(self.home, project) if project else []
        return Store(
            home=self.home,
            vaults=(places.user_vault(self.home), *project_vaults),
            project=project,
            database=self.database,
            ledger=Ledger(self.home / "ledger"),
            settings=self.settings,
            clock=self.clock,
            meaning=self.meaning,
        )


def open_for_reading(environment: Mapping[str, str], folder: Path) -> Store:
    """Return a store whose index is only read, for hooks; there is no embedder."""
    home = memory_dir(environment)
    project = resolve_project(folder, home=Path(os.path.expanduser("~")))
    return Store(
        home=home,
        vaults=(places.user_vault(home), *(places.project_vaults(home, project) if project else [])),
        project=project,
        database=Database(home / INDEX_NAME, read_only=True),
        ledger=Ledger(home / "ledger"),
        settings=read_settings(environment),
        clock=now,
        meaning=lambda: None,
    )


def working_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder the session belongs to: where Claude Code was started, else the working directory."""
    started = environment.get("CLAUDE_PROJECT_DIR", "")
    if started:
        return Path(started)
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.path.expanduser("~"))


def _index_path(home: Path) -> Path:
    """Return where the index lies; a private temporary folder when the store can only be read."""
    with contextlib.suppress(OSError):
        files.make_folder(home)
    if os.access(home, os.W_OK):
        with contextlib.suppress(IndexUnavailable):
            database = Database(home / INDEX_NAME)
            database.connection()
            database.close()
            return home / INDEX_NAME
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="daybook-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder / INDEX_NAME


def open_watcher(
    folders: Callable[[], Iterable[Path]], *, wanted: Callable[[str], bool], idle: float
) -> Iterator[set[Path]]:
    """Return the batches of paths that change below *folders*; see `adapters.watcher.watch`."""
    from mcp_server.adapters.watcher import watch

    return watch(folders, wanted=wanted, idle=idle)
