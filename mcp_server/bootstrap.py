"""
Settings and adapters, opened on first use: the only reader of the environment. It is long because
what is opened, and when, is one thing to read.

Slow modules (the embedding model, the watcher, numpy) are imported inside the functions
that need them, so that a hook or a search by words never pays for them.
"""

import atexit
import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.adapters import files, places
from mcp_server.adapters.index.database.database import Database
from mcp_server.adapters.ledger import Ledger
from mcp_server.adapters.project import Project, resolve_project
from mcp_server.adapters.remote.same_projects import as_everywhere
from mcp_server.core.addresses import is_loopback
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import Barred, ModelUnavailable, SettingsError, Unreadable
from mcp_server.core.ports import Embedder, Model
from mcp_server.core.settings import Settings, is_unattended, parse_settings
from mcp_server.environment import is_own_network, person_home, persons_git, persons_own
from mcp_server.store import NoEmbedding, Reading, Store, unwatched

if TYPE_CHECKING:
    from mcp_server.core.remarks import Remark
    from mcp_server.core.team.team import JoinedTeam

INDEX_NAME = "memory.db"


def now() -> datetime:
    return datetime.now(UTC)


def memory_dir(environment: Mapping[str, str]) -> Path:
    """Return the store's folder: MEMORY_DIR, or `~/.claude-memory`; raise SettingsError when unusable."""
    configured = environment.get("MEMORY_DIR", "").strip() or "~/.claude-memory"
    shown = configured if len(configured) <= _SHOWN else f"{configured[:_SHOWN]}…"
    try:
        folder = Path(os.path.expanduser(configured))
        if configured.startswith("~/"):
            folder = Path(person_home(environment), configured[2:])
        if not folder.is_absolute():
            raise SettingsError(
                f"MEMORY_DIR is '{shown}', which is not an absolute path.", "Give the whole path."
            )
        if folder.exists() and not folder.is_dir():
            raise SettingsError(f"MEMORY_DIR is '{shown}', which is not a folder.", "Name a folder.")
        if folder.is_symlink() and not folder.exists():  # made anew, it would be hidden when the disk is back
            goal = os.readlink(folder)
            raise SettingsError(
                f"MEMORY_DIR is '{shown}', a link to {goal}, which is not there.",
                "Connect the disk that has it, or make that folder.",
            )
        above = next(parent for parent in folder.parents if os.path.lexists(parent))
        if not above.is_dir():
            raise SettingsError(f"MEMORY_DIR is '{shown}', but {above} is not a folder.", "Name a folder.")
        return Path(os.path.realpath(folder))
    except (OSError, ValueError) as error:  # too long, a NUL byte, an unreadable folder
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingsError(
            f"MEMORY_DIR is '{shown}', which cannot be used: {reason}.", "Name a folder."
        ) from error


_SHOWN = 300  # characters of a path in a sentence


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings of the environment and of `config.toml`; raise SettingsError."""
    return parse_settings(environment, read_config(environment))


def read_config(environment: Mapping[str, str]) -> dict[str, object]:
    """Return the values in the store's `config.toml`; raise SettingsError when it cannot be read."""
    path = memory_dir(environment) / "config.toml"
    try:
        # The file may be a link into the folder where a person keeps such files.
        data = files.read(Path(os.path.realpath(path)), _MOST_CONFIG)
        import tomllib  # slow to load, and most hooks have nothing to parse

        return tomllib.loads(data.decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except Unreadable as error:
        hint = error.hint if isinstance(error, Barred) else _CORRECT
        raise SettingsError(f"{path} {error.reason}.", hint) from error
    except RecursionError as error:
        raise SettingsError(f"{path} cannot be read: it is nested too deeply.", _CORRECT) from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 text.", _CORRECT) from error
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.", _CORRECT) from error


_MOST_CONFIG = 64 * 1024  # bytes
_CORRECT = "Correct the file or delete it."


class Models:
    """
    The language model as the person allows it now: consent, key and endpoint are read at each call.

    *own_network* is false when a repository named proxies or certificates.
    """

    def __init__(self, environment: Mapping[str, str], *, own_network: bool) -> None:
        self._environment = environment
        self._own_network = own_network
        self._opened: tuple[tuple[str, str, str], Model] | None = None

    def __call__(self) -> Model | None:
        """Return the model, None without consent or key; raises ModelUnavailable when it cannot be loaded."""
        from mcp_server.core import budget  # hooks never call the model

        settings = read_settings(self._environment)
        key, base_url = model_key(self._environment)
        if not settings.model_calls or not has_key(key, base_url):
            return None
        try:
            wanted = (key, budget.endpoint(base_url), settings.model)
        except ValueError as error:
            raise ModelUnavailable(str(error), "Correct ANTHROPIC_BASE_URL, or api_base_url.") from None
        if budget.price(settings) is None and not is_loopback(base_url):
            raise ModelUnavailable(
                f"What {settings.model} costs is not known, so no day's limit could hold.",
                "Set DAYBOOK_MODEL_PRICE, or model_price in config.toml: 0 where it costs nothing.",
            )
        if self._opened is None or self._opened[0] != wanted:
            try:
                from mcp_server.adapters.claude_model import ClaudeModel
            except ImportError as error:
                raise ModelUnavailable(f"The model's library cannot be loaded: {error}.") from error
            self._opened = (wanted, ClaudeModel(*wanted, consent=True, own_network=self._own_network))
        return self._opened[1]


def model_identity(environment: Mapping[str, str]) -> str:
    """Return an identifier of the key and the endpoint of the model, '' where it cannot be called."""
    key, base_url = model_key(environment)
    if not has_key(key, base_url):
        return ""
    from mcp_server.core.budget import endpoint, identity  # most people have no key

    try:
        return identity(key, endpoint(base_url))
    except ValueError:
        return ""


def has_key(key: str, base_url: str) -> bool:
    """Tell whether a call can go out: an endpoint on this machine needs no key."""
    return bool(key) or is_loopback(base_url)


def model_key(environment: Mapping[str, str]) -> tuple[str, str]:
    """
    Return the key and the endpoint of the model, each '' when the person named none.

    Read from the environment, from `config.toml`, and, for keys only, from two files of the home folder.
    Never from a repository: *environment* is the result of `persons_own`.
    """
    config = read_config(environment)
    key = environment.get("ANTHROPIC_API_KEY", "").strip() or str(config.get("api_key") or "").strip()
    for name in (".config/anthropic/api_key", ".anthropic/api_key"):
        if key:
            break
        with contextlib.suppress(OSError, ValueError):
            path = Path(person_home(environment), name)
            if path.is_file() and path.stat().st_size <= _MOST_KEY:
                key = path.read_text(encoding="utf-8").strip()
    # Without a key, this variable belongs to Claude Code only.
    named = environment.get("ANTHROPIC_BASE_URL", "").strip() if key else ""
    return key, named or str(config.get("api_base_url") or "").strip()


_MOST_KEY = 4096  # bytes


class Teams:
    """
    The memory of the team that the person joined, opened when it is first needed.

    *own_network* is false when a repository named proxies or certificates.
    """

    def __init__(self, home: Path, *, own_network: bool) -> None:
        self._home = home
        self._own_network = own_network
        self._opened: tuple[tuple[str, str], JoinedTeam] | None = None

    def __call__(self) -> "JoinedTeam | None":
        """Return the team's memory, None without a team; raises Rejected for a damaged note of it."""
        from mcp_server.adapters.team_membership import has_team, joined_of  # most people have no team

        joined = joined_of(self._home) if has_team(self._home) else None
        if joined is None:
            return None
        if self._opened is None or self._opened[0] != (joined.url, joined.token):
            self._opened = ((joined.url, joined.token), self.at(joined.url, joined.token))
        return self._opened[1]

    def at(self, url: str, token: str) -> "JoinedTeam":
        """Return the memory of the team whose server is at *url*; raises Rejected for a bad address."""
        from mcp_server.adapters.team_client import TeamClient  # slow to load, and most people have no team

        return TeamClient(url, token, own_network=self._own_network)


class Opened:
    """What a process keeps open; each `store()` checks which vaults exist."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        folder: Path | None = None,
        wait_for_model: bool = True,
        clock: Callable[[], datetime] = now,
        by: Callable[[], str] = lambda: PERSON,
        session: Callable[[], str] = lambda: "",
    ) -> None:
        variables = os.environ if environment is None else environment
        self.folder = folder or working_folder(variables)
        self.environment = persons_own(variables, self.folder)
        self.home = memory_dir(self.environment)
        self.settings = read_settings(self.environment)
        self.own_network = is_own_network(variables, self.environment)
        self.model = Models(self.environment, own_network=self.own_network)
        self.team = Teams(self.home, own_network=self.own_network)
        self.database = Database(_index_path(self.home))
        from mcp_server.embedding import Embedding  # slow to load, and hooks do not need it

        self.meaning = Embedding(
            self._embedding_model, self.load_embedder, self.database, wait=wait_for_model
        )
        self._chosen, self._looked_at = self.settings.embedding_model, (-1, -1)
        self.clock = clock
        self.by = by
        self.session = session
        self.reading: Reading = unwatched
        self._projects: dict[Path, Project | None] = {}

    def load_embedder(self, setting: str, *, key: str | None = None) -> Embedder:
        """Load the model of a setting; an endpoint gets *key*, or else the person's."""
        from mcp_server.embedding import embedding_key, load_embedder

        def read_key() -> str:
            return embedding_key(self.environment, read_config(self.environment)) if key is None else key

        return load_embedder(self.home, setting, key=read_key, own_network=self.own_network)

    def store(self, *, folder: Path | None = None) -> Store:
        """Return the store as seen from *folder* or our working folder; it answers even without its index."""
        project = self._project(folder or self.folder)
        project_vaults = places.project_vaults(self.home, project) if project else []
        store = Store(
            home=self.home,
            vaults=(places.user_vault(self.home), *places.team_vaults(self.home), *project_vaults),
            project=project,
            database=self.database,
            ledger=Ledger(self.home / "ledger"),
            settings=read_settings(self.environment),  # again: what the person switches off is off at once
            clock=self.clock,
            meaning=self.meaning,
            model=self.model,
            git=persons_git(self.environment),
            by=self.by,
            session=self.session(),
            team=self.team,
            set_now=lambda: read_settings(self.environment),
            reading=self.reading,
        )
        from mcp_server.actions.files.unindexed import usable  # slow to load, and hooks do not need it

        return usable(store)

    def _project(self, folder: Path) -> Project | None:
        """Return the project of *folder*; of one that is gone, as a worktree may be, that which it had."""
        if folder not in self._projects or os.path.lexists(folder):
            person = Path(person_home(self.environment))
            self._projects[folder] = as_everywhere(self.home, resolve_project(folder, home=person))
        return self._projects[folder]

    def look_is_due(self) -> bool:
        """Tell whether the index should be checked after this answer."""
        from mcp_server.adapters.index.database import checkups  # hooks never check

        return checkups.is_due(self.database.path, self.clock().timestamp())

    def finds_damage(self) -> bool:
        """Check the whole index; return whether it was damaged: the next answer uses a new one."""
        from mcp_server.adapters.index.database import checkups

        return checkups.finds_damage(self.database, self.clock().timestamp())

    def remarks(self) -> "list[Remark]":
        """Return the remarks for the end of this thread's answer: what failed, or which memories are gone."""
        # Slow to load, and hooks do not need it.
        from mcp_server.actions.files.vanished_folders import take_losses

        remarks = self.database.trouble.remarks()
        project = self._projects.get(self.folder)
        if not os.path.lexists(project.root if project else self.folder):
            from mcp_server.core.remarks import FolderGone

            remarks = [*remarks, FolderGone(str(self.folder))]
        return remarks if is_unattended(self.environment) else [*remarks, *take_losses(self.home)]

    def delete_temporary_index(self) -> None:
        """Delete the temporary index of a store that can only be read: for a process that exits abruptly."""
        if self.database.path.parent != self.home:
            import shutil

            shutil.rmtree(self.database.path.parent, ignore_errors=True)

    def _embedding_model(self) -> str:
        """Return the embedding model chosen now: 'daybook model use' may change it while we run."""
        try:
            status = (self.home / "config.toml").stat()
            stamp = (status.st_mtime_ns, status.st_size)
        except OSError:
            stamp = (0, 0)
        if stamp != self._looked_at:
            with contextlib.suppress(SettingsError):
                self._chosen = read_settings(self.environment).embedding_model
            self._looked_at = stamp
        return self._chosen


def open_for_reading(environment: Mapping[str, str], folder: Path) -> Store:
    """Return a store whose index is only read, for hooks; there is no embedder and no language model."""
    environment = persons_own(environment, folder)
    home = memory_dir(environment)
    project = as_everywhere(home, resolve_project(folder, home=Path(person_home(environment))))
    return Store(
        home=home,
        vaults=(
            places.user_vault(home),
            *places.team_vaults(home),
            *(places.project_vaults(home, project) if project else []),
        ),
        project=project,
        database=Database(home / INDEX_NAME, read_only=True),
        ledger=Ledger(home / "ledger"),
        settings=read_settings(environment),
        clock=now,
        meaning=NoEmbedding(),
        model=lambda: None,
        git=persons_git(environment),
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
    """Return the path of the index: in a private temporary folder when the store can only be read."""
    with contextlib.suppress(OSError):
        files.make_folder(home)
    if os.access(home, os.W_OK):
        return home / INDEX_NAME
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="daybook-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder / INDEX_NAME


def open_watcher(
    folders: Callable[[], Iterable[Path]],
    *,
    wanted: Callable[[str], bool],
    idle: Callable[[], float],
    goes_on: Callable[[], bool],
    look: float,
) -> Iterator[set[Path]]:
    """Return the batches of paths that change below *folders*; see `adapters.watcher.watch`."""
    from mcp_server.adapters.watcher import watch

    return watch(folders, wanted=wanted, idle=idle, goes_on=goes_on, look=look)
