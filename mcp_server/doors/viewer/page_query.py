"""page_query: what the address of a page asks for: a selection of memories, a project, a store."""

from dataclasses import asdict, dataclass, fields, replace
from enum import Enum
from typing import TypeVar

from starlette.requests import Request

from mcp_server.actions.files.read import look_up
from mcp_server.adapters import places
from mcp_server.adapters.project import Project
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import Kind, Level, Status, id_in, vault_in
from mcp_server.core.search.query import ANY_STATUS, Filter, Mode, filter_of
from mcp_server.doors.viewer.page import ALL, address, number, root_of, store_of, viewer
from mcp_server.store import Store

ANY = "any"  # as a status: whatever it is
MEMORY = "/memories/{memory_id}"  # where one is shown; what is done with it has its address below
WRITE = "/memories-new"  # where a memory is written; below /memories/ any word may be an id
MODES = {"": Mode.HYBRID, "words": Mode.KEYWORD, "meaning": Mode.SEMANTIC}
TRASH = "trash"  # as a status: what is in the trash
STATUSES = {
    **{status.value: (status,) for status in Status},
    "": (Status.ACTIVE,),
    ANY: ANY_STATUS,
    TRASH: ANY_STATUS,
}
Word = TypeVar("Word", bound=Enum)


@dataclass(frozen=True, slots=True)
class Selection:
    """The question, the filters and the place in the list; each is '' where the address does not say it."""

    q: str = ""
    mode: str = ""
    project: str = ""
    level: str = ""
    kind: str = ""
    type: str = ""
    tag: str = ""
    category: str = ""
    status: str = ""
    since: str = ""
    until: str = ""
    offset: int = 0

    @property
    def filters(self) -> dict[str, str]:
        """The filters that are set, by their names; the project is where one looks from, and is none."""
        values = {name: str(value) for name, value in asdict(self).items() if value}
        return {
            name: value for name, value in values.items() if name not in ("q", "mode", "project", "offset")
        }

    def url(self, **changed: object) -> str:
        """Return the address of the page that asks this, with what is *changed*."""
        return address("/memories", **{**asdict(self), "offset": self.offset or "", **changed})

    def at(self, offset: int) -> str:
        """Return the address of the page that asks this and begins at the row *offset*."""
        return self.url(offset=offset or "")

    def filter(self) -> Filter:
        """Return the filter that is asked for; raise Rejected for a word that is none."""
        check_one_of(Level, self.level, "a level")
        check_one_of(Kind, self.kind, "a kind")
        if self.status not in STATUSES:
            raise _unknown(self.status, "a status", [*map(str, Status), TRASH, ANY])
        basis = filter_of(
            level=self.level,
            kind=self.kind,
            type=self.type,
            tags=(self.tag,) if self.tag else (),
            category=self.category,
            since=self.since,
            until=self.until,
            all_projects=self.project == ALL,
        )
        return replace(basis, statuses=STATUSES[self.status])


def selection_of(request: Request) -> Selection:
    """Return what the address of *request* asks for; raise Rejected for a bad mode or offset."""
    values = {
        name.name: request.query_params.get(name.name, "").strip()
        for name in fields(Selection)
        if name.name != "offset"
    }
    if values["mode"] not in MODES:
        raise _unknown(values["mode"], "a way to search", ["words", "meaning"])
    return Selection(**values, offset=number(request, "offset"))


def store_for(request: Request) -> Store:
    """
    Return the store as seen from the project that is asked for, of all projects that of the start.

    With `vault` in the address it is that vault alone, see `Where.to`.
    """
    params = request.query_params
    store = viewer(request).opened.store() if params.get("project") == ALL else store_of(request)
    vault = store.vault(params.get("vault", ""))
    return store.scoped([vault]) if vault else store


class Where:
    """
    Where memories are opened: the address of each, seen from the project that it belongs to.

    `vault` is the key of the one vault that is looked at, '' for all of `project_key`.
    """

    def __init__(self, request: Request, store: Store) -> None:
        key = request.query_params.get("project", "")
        self.project_key = "" if key == ALL else key
        self.vault = request.query_params.get("vault", "")
        self._opened = viewer(request).opened
        self._store = store
        self._at_hand = request.path_params.get("memory_id", "")
        self._others: dict[str, str] | None = None

    def to(self, vault: str, memory_id: str, tail: str = "") -> str:
        """Return the address of the memory of the vault with that key, without the viewer's base."""
        only = vault if self._is_hidden(vault, memory_id) else ""
        return address(f"/memories/{memory_id}{tail}", project=self.project(vault), vault=only)

    @property
    def write(self) -> str:
        """The address of the page on which a memory is written."""
        return address(WRITE, project=self.project_key)

    def tagged(self, tag: str) -> str:
        """Return the address of the list of memories with that tag."""
        return address("/memories", project=self.project_key, tag=tag)

    def store(self, vault: str) -> Store:
        """Return the store as seen from the project of that vault, '' for the one at hand; raise NotFound."""
        if not vault or self._store.vault(vault):
            return self._store
        return self._opened.store(folder=root_of(self._opened, self.project(vault)))

    def seen(self, memory_id: str, tail: str = "") -> str:
        """Return the address of a memory as it is seen from here; the one at hand stays in its vault."""
        only = self.vault if memory_id == self._at_hand else ""
        return address(f"/memories/{memory_id}{tail}", project=self.project_key, vault=only)

    def of(self, ref: str) -> str:
        """Return the address of what the ledger calls *ref*, without the viewer's base; '' for ''."""
        if not ref:
            return ""
        vault, memory_id = vault_in(ref), id_in(ref)
        return self.to(vault, memory_id)

    def project(self, vault: str) -> str:
        """Return the key of the project from which that vault is seen, '' where it is seen from the start."""
        if self._store.vault(vault):
            return self.project_key
        if self._others is None:
            self._others = {place.key: place.project for place in places.all_vaults(self._store.home)}
        return self._others.get(vault, vault)

    def _is_hidden(self, vault: str, memory_id: str) -> bool:
        """Tell whether a nearer vault has another memory of that id: a person's graph may, at both levels."""
        if len(self._store.vaults) == 1:
            return vault == self.vault
        if vault != self._store.user_vault.key:
            return False
        row = look_up(self._store, memory_id)
        return row is not None and row.vault != vault


def projects(request: Request) -> list[Project]:
    """Return the other projects that can be looked at."""
    opened = viewer(request).opened
    started_in = opened.store().project
    return [
        project
        for project in places.known_projects(opened.home)
        if project.key != (started_in and started_in.key)
    ]


def check_one_of(words: type[Word], word: str, noun: str) -> None:
    """Raise Rejected for a *word* of an address that is none of *words*, which *noun* names; '' is none."""
    values = [str(value.value) for value in words]
    if word and word not in values:
        raise _unknown(word, noun, values)


def _unknown(word: str, noun: str, values: list[str]) -> Rejected:
    return Rejected(f"'{word[:40]}' is not {noun}.", f"Use one of: {', '.join(values)}.")
