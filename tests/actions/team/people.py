"""People of one team, each with a store of their own, and a team's memory that may be slow or gone."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from threading import Event
from typing import Any

from mcp_server.actions.team import membership
from mcp_server.actions.team.give import remember_for_team
from mcp_server.actions.team.store_in_team import StoredInTeam
from mcp_server.adapters import places
from mcp_server.core.memory import Draft, Memory
from mcp_server.core.search.query import Query
from mcp_server.core.storage.port import Results, Stored
from mcp_server.core.team.team import Role, TeamStorage
from mcp_server.store import Store
from tests.team_server.minimal_team import MinimalTeam

URL = "https://team.example.org"
MOMENT = datetime(2026, 11, 20, 9, 12, 3, tzinfo=UTC)
WEBHOOK = "The webhook of Stripe needs the raw body, so body parsing is skipped for it."


class Reached:
    """
    A team's memory as a network reaches it: while it *stalls*, questions are not answered.

    The team that *goes_away_after_saving* is away once something was saved. *while_saving* is done once,
    before the server takes what it is sent.
    """

    def __init__(self, storage: TeamStorage) -> None:
        self._storage = storage
        self.stalls = Event()
        self.goes_on = Event()
        self.goes_away_after_saving: MinimalTeam | None = None
        self.while_saving: Callable[[], object] | None = None
        self.asked: list[Query] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    def search(self, query: Query, *, patience: float = inf) -> Results:
        self.asked.append(query)
        if self.stalls.is_set():
            self.goes_on.wait()
        return self._storage.search(query)

    def save(self, memory: Memory, *, replaces: str = "") -> Stored:
        meanwhile, self.while_saving = self.while_saving, None
        if meanwhile:
            meanwhile()
        stored = self._storage.save(memory, replaces=replaces)
        if self.goes_away_after_saving:
            self.goes_away_after_saving.away = True
            self.goes_away_after_saving = None
        return stored


@dataclass(frozen=True)
class Person:
    """Somebody with a store of their own; `team` is the team's memory as they reach it."""

    open_store: Callable[[], Store]
    team: Reached

    @property
    def store(self) -> Store:
        joined = bool(places.team_vaults(self.open_store().home))
        return self.open_store()._replace(team=lambda: self.team if joined else None)

    def join(self) -> None:
        joining = membership.look_ahead(self.store, URL, "secret-token", self.team)
        membership.join(self.store, joining, self.team)


def memory(memory_id: str, text: str = WEBHOOK, **more: object) -> Memory:
    fields: dict[str, Any] = {"type": "gotcha", "created": MOMENT, "updated": MOMENT, **more}
    return Memory(id=memory_id, title=fields.pop("title", memory_id), text=text, **fields)


def confirmed(team: MinimalTeam, memory_id: str, text: str = WEBHOOK, **more: object) -> Stored:
    """Let anna write a memory, and carla confirm it."""
    stored = saved(team, memory_id, text, **more)
    return of(team, "carla", Role.CURATOR).confirm(memory_id, digest=stored.digest)


def saved(team: MinimalTeam, memory_id: str, text: str = WEBHOOK, **more: object) -> Stored:
    """Let anna write a memory, or change hers."""
    storage = of(team, "anna", Role.WRITER)
    stored = {entry.memory.id: entry for entry in storage.page()}.get(memory_id)
    return storage.save(memory(memory_id, text, **more), replaces=stored.digest if stored else "")


def of(team: MinimalTeam, name: str, role: Role) -> TeamStorage:
    """Return the team's memory for that member, who gets a token when they have none."""
    member = next((member for member in team.members() if member.name == name), None)
    if member is None:
        member = team.member_of(team.issue(name, role))
    assert member
    return team.storage_for(member)


def away(team: MinimalTeam) -> None:
    team.away = True


def draft(text: str = WEBHOOK, **more: object) -> Draft:
    return Draft(str(more.pop("title", "Webhook")), text, type="gotcha", **more)  # type: ignore[arg-type]


def remembered(store: Store, text: str = WEBHOOK, **more: object) -> StoredInTeam:
    """Remember *text* for the team, whose server answers."""
    stored = remember_for_team(store, draft(text, **more)).done
    assert stored
    return stored


def put_off(store: Store, text: str = WEBHOOK, **more: object) -> Memory:
    """Remember *text* for the team, whose server does not answer; return what waits."""
    outcome = remember_for_team(store, draft(text, **more))
    assert (outcome.done, outcome.waits) == (None, "The team's database does not answer.")
    return outcome.memory
