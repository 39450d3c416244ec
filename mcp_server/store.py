"""The store: vaults, ledger, index, embedder and clock, opened together."""

import contextlib
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mcp_server.adapters import places
from mcp_server.adapters.git import Git
from mcp_server.adapters.index.database.database import Database
from mcp_server.adapters.ledger import Ledger
from mcp_server.adapters.project import Project
from mcp_server.adapters.vault import Vault
from mcp_server.core.authors import PERSON
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.ports import Clock, Model
from mcp_server.core.settings import Settings

if TYPE_CHECKING:
    from mcp_server.adapters.index.search.semantic import Meaning
    from mcp_server.core.team.team import JoinedTeam


class Embeds(Protocol):
    """The embedding model that is chosen, with its vectors."""

    @property
    def problem(self) -> str:
        """Why it cannot be loaded, a sentence; '' when nothing failed."""

    def __call__(self) -> "Meaning | None":
        """Return the model, None while it loads or when there is none."""

    def loaded(self) -> "Meaning | None":
        """Return the model, waiting while it loads; None when there is none."""


class NoEmbedding:
    """No model: memories are found by words only."""

    problem = ""

    def __call__(self) -> None:
        return None

    loaded = __call__


Reading = Callable[[int], contextlib.AbstractContextManager[Callable[[int], None]]]


def unwatched(_: int) -> contextlib.AbstractContextManager[Callable[[int], None]]:
    """Show nothing of how far the reading of files is."""
    return contextlib.nullcontext(lambda _: None)


class Store(NamedTuple):
    """
    Everything an action works on.

    `vaults` are the person's, the team's copy and this project's, in that order. `model()` returns the
    language model, None without the person's consent or a key; actions call it through `actions.model_call`.
    `git` says where the person's git is. `by` is the author of changes: a word of `core.authors`.
    `session` is the id of the session that acts, '' for none; the ledger names it with each change.
    `team()` opens the memory of the team that the person joined, None without one.
    `set_now()` reads the settings again, None where they are not read again.
    `reading(files)` shows that so many files are read into the index, and gives what is told of more of them.
    """

    home: Path
    vaults: tuple[Vault, ...]
    project: Project | None
    database: Database
    ledger: Ledger
    settings: Settings
    clock: Clock
    meaning: Embeds
    model: Callable[[], Model | None]
    git: Git
    by: Callable[[], str] = lambda: PERSON
    session: str = ""
    team: "Callable[[], JoinedTeam | None]" = lambda: None
    set_now: Callable[[], Settings] | None = None
    reading: Reading = unwatched

    @property
    def user_vault(self) -> Vault:
        return self.vaults[0]

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys of the visible vaults."""
        return tuple(vault.key for vault in self.vaults)

    @property
    def of_project(self) -> tuple[str, ...]:
        """Return the keys of this project's visible vaults."""
        return tuple(vault.key for vault in self.vaults if vault.level is Level.PROJECT)

    @property
    def of_team(self) -> tuple[str, ...]:
        """Return the key of the vault with what the team's curators confirmed; () without a team."""
        return tuple(vault.key for vault in self.vaults if vault.level is Level.TEAM)

    @property
    def own(self) -> tuple[str, ...]:
        """Return the keys of the visible vaults but the team's: of these the person decides."""
        return tuple(vault.key for vault in self.vaults if vault.level is not Level.TEAM)

    @property
    def private(self) -> tuple[str, ...]:
        """Return the keys of the visible vaults outside repositories: no stranger wrote their files."""
        return tuple(vault.key for vault in self.private_vaults)

    @property
    def private_vaults(self) -> tuple[Vault, ...]:
        """Return the visible vaults outside repositories: the person's and this project's private one."""
        return tuple(vault for vault in self.vaults if not vault.in_repository)

    @property
    def shared(self) -> tuple[str, ...]:
        """Return the keys of the visible vaults in a repository, where anybody may have written the files."""
        return tuple(vault.key for vault in self.vaults if vault.in_repository and vault.key in self.own)

    @property
    def adopted(self) -> tuple[str, ...]:
        """Return the keys of the visible vaults that may be written."""
        return tuple(vault.key for vault in self.vaults if vault.adopted)

    def vault(self, key: str) -> Vault | None:
        """Return the visible vault with that key."""
        return next((vault for vault in self.vaults if vault.key == key), None)

    def vault_for(self, kind: Kind, level: Level) -> Vault:
        """Return the vault for a new memory of that kind and level: the last one that accepts it."""
        return next(
            vault
            for vault in reversed(self.vaults)
            if vault.level is level and kind in vault.kinds and vault.adopted
        )

    def as_set_now(self) -> "Store":
        """Return this store with the settings of this moment; raises SettingsError for unreadable ones."""
        return self._replace(settings=self.set_now()) if self.set_now else self

    def scoped(self, vaults: Iterable[Vault]) -> "Store":
        """Return this store with *vaults* as the visible ones."""
        return self._replace(vaults=tuple(vaults))

    def only(self, *keys: str) -> "Store":
        """Return this store with the vaults *keys* alone: another vault may have a memory of the same id."""
        return self.scoped(vault for vault in self.vaults if vault.key in keys)

    def everywhere(self) -> "Store":
        """Return this store with the vaults of every project as the visible ones."""
        return self.scoped(places.all_vaults(self.home, self.vaults))

    def acting_as(self, author: str) -> "Store":
        """Return this store with *author*, a word of `core.authors`, as the author of changes."""
        return self._replace(by=lambda: author)

    def in_session(self, session: str) -> "Store":
        """Return this store with *session*, the id of a session or '' for none, as the one that acts."""
        return self._replace(session=session)

    def now(self) -> int:
        """Return the present moment in Unix seconds."""
        return int(self.clock().timestamp())

    def moment(self) -> datetime:
        """Return the present moment as files have it, to the second."""
        return self.clock().replace(microsecond=0)

    def record(self, event: str, **data: object) -> None:
        """
        Write one line into the ledger, of now and of this store's session unless *data* names another.

        Raises OSError when the disk is full or read-only.
        """
        self.ledger.append(event, self.clock(), **{"session": self.session, **data})

    def try_record(self, event: str, **data: object) -> None:
        """Write that line, or none when the disk refuses: the answer matters more than its count."""
        with contextlib.suppress(OSError):
            self.record(event, **data)
