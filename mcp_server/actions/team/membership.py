"""membership: joining and leaving a team, and the state of both."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_server.actions.files.sync import if_free, sync
from mcp_server.actions.model.embed import chosen_model
from mcp_server.actions.team.copy import LOCK, Copy, copy, withdraw
from mcp_server.actions.team.send import Waiting, unreadable_waiting, waiting
from mcp_server.adapters import files, places, team_membership
from mcp_server.adapters.team_membership import LastCopy, Stayed
from mcp_server.core.addresses import shown_url
from mcp_server.core.errors import Rejected, StorageUnavailable
from mcp_server.core.team.team import JoinedTeam, Team
from mcp_server.store import Store

MEMBERSHIP_LOCK = ".team.lock"  # beside the folder of the team, which is deleted
PATIENCE = 30.0  # seconds that a command waits for a copy in the background


@dataclass(frozen=True, slots=True)
class Joining:
    """
    A team that the person may join: what its server at *url* says of it, and the token for it.

    `model` is the person's embedder if it differs from the team's, else ''. `waiting` is how many memories
    wait here for that address, and are sent to this team then.
    """

    url: str
    token: str
    team: Team
    model: str = ""
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Membership:
    """
    The state of the membership: the team, how many memories are copied, and how the last copy ended.

    `url` has no password in it; `waiting` is what was not sent yet, or was refused, `unreadable` are files
    that wait and cannot be sent. `stayed` is what the team kept although a worker sent a replacement.
    """

    url: str
    name: str
    member: str
    role: str
    curators: tuple[str, ...]
    model: str
    copied: int
    last: LastCopy
    waiting: tuple[Waiting, ...]
    stayed: tuple[Stayed, ...] = ()
    unreadable: tuple[str, ...] = ()


def look_ahead(store: Store, url: str, token: str, team: JoinedTeam) -> Joining:
    """
    Return the team at *url*, which *team* reaches with *token*; nothing is written.

    Joining the same team again takes another *token*, and what waits to be sent goes on waiting.
    Raises Rejected when the person is in a team at another address, and what the server answers.
    """
    from mcp_server.adapters.team_client import checked_url  # slow to load, and `status` needs none of it

    url, joined = checked_url(url), team_membership.joined_of(store.home)
    if joined and checked_url(joined.url) != url:
        raise Rejected(f"You are in the team '{joined.name}' already.", "Leave it first: daybook team leave")
    try:
        about = team.team()
    except StorageUnavailable as error:
        if error.hint != StorageUnavailable.hint:  # which is for members
            raise
        raise StorageUnavailable(str(error), "Nothing was changed.") from None
    own = chosen_model(store)
    model = own if about.model and own and own != about.model else ""
    return Joining(url, token, about, model, len(waiting(store)) if joined else 0)


def join(store: Store, joining: Joining, team: JoinedTeam) -> Copy:
    """
    Join the team, and copy what its curators confirmed: from now on it is shown unasked.

    Raises what `copy` does; then the person is in the team, and the copy is made by the next worker.
    """
    about = joining.team
    with _alone(store):
        if not team_membership.has_team(store.home):
            # A kill may have left what waits for another team; it must not reach this one.
            team_membership.forget_team(store.home)
        team_membership.note_joined(store.home, team_membership.note_of(joining.url, joining.token, about))
    store.record("team_joined", team=about.name, curators=list(about.curators))
    return copy(store, team, patience=PATIENCE)


def leave(store: Store) -> str:
    """
    Leave the team: its memories are no longer shown, and copy, token and what waits are deleted.

    Return the team's name. Raises Rejected without a team, Held.
    """
    joined = team_membership.joined_of(store.home)
    if not team_membership.has_team(store.home):
        finish_leaving(store)
        raise Rejected("You are not in a team.", "Nothing was changed.")
    vault = places.team_vault(store.home)
    with _alone(store), files.lock(vault.root / LOCK, patience=PATIENCE):
        withdraw(store)
        name = joined.name if joined else ""
        store.record("team_left", team=name)
        _delete(store)
    return name


def finish_leaving(store: Store) -> None:
    """Delete what is left of a team when `leave` was killed. Raises Held."""
    with _alone(store):
        if team_membership.has_rest(store.home):
            _delete(store)


def _delete(store: Store) -> None:
    """Delete all files of the team, and take their words out of the index."""
    team_membership.forget_team(store.home)
    with if_free(store):
        sync(store, vaults=[places.team_vault(store.home)])


@contextlib.contextmanager
def _alone(store: Store) -> Iterator[None]:
    """Keep other processes from joining and leaving while the block runs: neither may delete what is new."""
    files.make_folder(store.home)
    with files.lock(store.home / MEMBERSHIP_LOCK, patience=PATIENCE):
        yield


def membership(store: Store) -> Membership | None:
    """Return the state of the membership, None without a team; asks no server."""
    joined = team_membership.joined_of(store.home)
    if joined is None:
        return None
    return Membership(
        shown_url(joined.url),
        joined.name,
        joined.member,
        joined.role,
        joined.curators,
        joined.model,
        len(team_membership.copied_of(store.home)),
        team_membership.last_of(store.home),
        waiting(store),
        team_membership.stayed_of(store.home),
        tuple(map(str, unreadable_waiting(store))),
    )
