"""
What the store knows of the team that the person joined, in the folder `team/`.

    joined.json    which team, where its server is, and the person's token (0600)
    last.json      how the last copy ended
    copied.json    who wrote what was copied, and which curator confirmed it
    knowledge/     the copy of what curators confirmed
    waiting/       what the person gave to the team and its server has not got yet, or refused
    stayed.json    which of the team's memories something sent unasked was to replace, and did not
    untold         an empty file: the person was not told yet of what stayed

Without the first there is no team, and nothing of all this is loaded.
"""

import contextlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_server.adapters import files
from mcp_server.adapters.json_file import read_object, write_object
from mcp_server.adapters.places import JOINED, TEAM_KEY

if TYPE_CHECKING:  # most stores have no team
    from mcp_server.core.team.team import Team

LAST, COPIED, WAITING = "last.json", "copied.json", "waiting"
STAYED, UNTOLD = "stayed.json", "untold"


@dataclass(frozen=True, slots=True)
class MembershipNote:
    """
    The team that the person joined, as its server said when it last answered, and their token.

    `member` is the person's name in it, `role` what they may do, `model` the embedder of its server.
    """

    url: str
    token: str
    name: str
    member: str
    role: str
    curators: tuple[str, ...] = ()
    model: str = ""


@dataclass(frozen=True, slots=True)
class LastCopy:
    """
    How the last copy ended: when the last whole one was, '' for never, and `trouble`, '' for none.

    `beyond` is how many confirmed memories were not copied, because there are too many of them.
    """

    at: str = ""
    trouble: str = ""
    beyond: int = 0


@dataclass(frozen=True, slots=True)
class Copied:
    """One memory of the copy: its version on the server, who wrote and confirmed it, its file's digest."""

    version: str
    author: str
    confirmed_by: str
    digest: str


@dataclass(frozen=True, slots=True)
class Stayed:
    """A memory of the team that the memory *new* of the person was to replace: its id, and why it stays."""

    id: str
    new: str
    why: str


def note_of(url: str, token: str, team: "Team") -> MembershipNote:
    """Return what to keep of *team*, as its server at *url* says it is, and of the person's *token*."""
    return MembershipNote(url, token, team.name, team.member, team.role.value, team.curators, team.model)


def has_team(home: Path) -> bool:
    """Tell whether the person joined a team; costs one look at the disk."""
    return os.path.exists(home / TEAM_KEY / JOINED)


def is_due(home: Path, *, every: float, now: float) -> bool:
    """Tell whether there is a team, and no copy ended in the *every* seconds before *now*."""
    return has_team(home) and files.is_old(home / TEAM_KEY / LAST, seconds=every, now=now)


def joined_of(home: Path) -> MembershipNote | None:
    """Return the team that the person joined, None without one."""
    values = read_object(home / TEAM_KEY / JOINED)
    if not values.get("url") or not values.get("token"):
        return None
    curators = values.get("curators")
    return MembershipNote(
        **{name: str(values.get(name) or "") for name in ("url", "token", "name", "member", "role", "model")},
        curators=tuple(map(str, curators)) if isinstance(curators, list) else (),
    )


def note_joined(home: Path, joined: MembershipNote) -> None:
    """Note which team the person joined."""
    write_object(home / TEAM_KEY / JOINED, asdict(joined))


def last_of(home: Path) -> LastCopy:
    """Return how the last copy ended."""
    values = read_object(home / TEAM_KEY / LAST)
    beyond = values.get("beyond")
    return LastCopy(
        str(values.get("at", "")), str(values.get("trouble", "")), beyond if isinstance(beyond, int) else 0
    )


def note_last(home: Path, last: LastCopy) -> None:
    """Note how the last copy ended."""
    write_object(home / TEAM_KEY / LAST, asdict(last))


def copied_of(home: Path) -> dict[str, Copied]:
    """Return id → who wrote and confirmed it, for what was copied."""
    copied = {}
    for memory_id, values in read_object(home / TEAM_KEY / COPIED).items():
        with contextlib.suppress(TypeError, ValueError):
            copied[memory_id] = Copied(*map(str, values))
    return copied


def note_copied(home: Path, copied: dict[str, Copied]) -> None:
    """Note who wrote and confirmed what was copied."""
    values = {
        memory_id: [memory.version, memory.author, memory.confirmed_by, memory.digest]
        for memory_id, memory in copied.items()
    }
    write_object(home / TEAM_KEY / COPIED, values)


def waiting_of(home: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return (file, its payload, {} for a damaged one) for what waits to be sent, the oldest first."""
    folder = home / TEAM_KEY / WAITING
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json") and name[0] != ".")
    except OSError:
        return []
    return [(folder / name, read_object(folder / name)) for name in names]


def is_anything_waiting(home: Path) -> bool:
    """Tell whether a file waits to be sent; costs one look into a folder."""
    try:
        return any(name.endswith(".json") for name in os.listdir(home / TEAM_KEY / WAITING))
    except OSError:
        return False


def note_waiting(home: Path, name: str, payload: dict[str, Any]) -> None:
    """Keep *payload* until it was sent, under the name of the file without its ending."""
    write_object(home / TEAM_KEY / WAITING / f"{name}.json", payload)


def delete_waiting(path: Path) -> None:
    """Delete the file of what was sent, or is not to be sent any more."""
    files.delete(path)


def stayed_of(home: Path) -> tuple[Stayed, ...]:
    """Return what stayed of the team's when a worker gave the team what was to replace it."""
    return tuple(
        Stayed(memory_id, *map(str, values))
        for memory_id, values in read_object(home / TEAM_KEY / STAYED).items()
        if isinstance(values, list) and len(values) == 2
    )


def note_stayed(home: Path, stayed: Sequence[Stayed]) -> None:
    """Note what else *stayed*, of which the person is to be told."""
    known = {memory.id: [memory.new, memory.why] for memory in (*stayed_of(home), *stayed)}
    write_object(home / TEAM_KEY / STAYED, known)
    with contextlib.suppress(FileExistsError):
        files.write_new(home / TEAM_KEY / UNTOLD, b"")


def forget_stayed(home: Path) -> None:
    """Delete the note of what stayed: the person has seen it."""
    for name in (STAYED, UNTOLD):
        files.delete(home / TEAM_KEY / name)


def has_rest(home: Path) -> bool:
    """Tell whether files of a team are here that the person left: who deletes them was killed."""
    return not has_team(home) and os.path.exists(home / TEAM_KEY)


def forget_team(home: Path) -> None:
    """
    Delete all that is known of the team, its copy and what waits.

    The note of the team goes first: after a kill in between, nobody takes what is left for a team's memory.
    """
    (home / TEAM_KEY / JOINED).unlink(missing_ok=True)
    shutil.rmtree(home / TEAM_KEY, ignore_errors=True)
