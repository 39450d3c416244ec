"""
copy: keep here, as memory files, what the curators of the person's team confirmed.

The files count as accepted, so they are shown unasked like the person's own; only the copy itself makes
them so. A kill at any point leaves files that are not accepted, which the next copy completes.
"""

import contextlib
import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_server.actions.files.sync import catch_up, if_free, sync
from mcp_server.actions.files.trash import path_in_trash
from mcp_server.adapters import files, history, memory_file, moving, places, team_membership
from mcp_server.adapters.index.events import team as confirmations
from mcp_server.adapters.team_membership import Copied, LastCopy
from mcp_server.adapters.vault import Vault, confined, stamps
from mcp_server.core.batches import batches
from mcp_server.core.errors import Conflict, DaybookError, NotAllowed, Rejected, Unreadable
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind, Status, id_of_name, timestamp
from mcp_server.core.render import one_line
from mcp_server.core.storage.port import Stored, all_pages
from mcp_server.core.team.team import TeamStorage
from mcp_server.store import Store

MOST = 2_000  # memories that are copied, the newest
LOOKED_AT = 20 * MOST  # confirmed memories that are looked at to find the newest
AT_ONCE = 250  # memories in one event, whose length is limited
LOCK = ".copy.lock"
CHANGED = "edited"  # the verb of a version of a file in the copy that somebody edited by hand


@dataclass(frozen=True, slots=True)
class Copy:
    """How many memories the copy has, how many of them are new or changed, and how many were removed."""

    memories: int
    written: int
    removed: int


def copy(store: Store, team: TeamStorage, *, patience: float = 0.0) -> Copy:
    """
    Make the copy equal to what is confirmed now; wait at most *patience* seconds for another copy to end.

    Raises StorageUnavailable, NotAllowed or Held; then the copy stays as it is.
    """
    home = store.home
    (vault,) = places.team_vaults(home) or (None,)
    if vault is None:
        raise Rejected("You are not in a team.", "Join one with 'daybook team join URL'.")
    with files.lock(vault.root / LOCK, patience=patience):
        before = team_membership.last_of(home)
        try:
            about = team.team()
            stored, beyond = _newest(team)
        except DaybookError as error:
            # That a server is away ends by itself; a token that it does not know needs the person.
            trouble = error.with_hint if isinstance(error, NotAllowed) else str(error)
            team_membership.note_last(home, replace(before, trouble=trouble))
            raise
        if joined := team_membership.joined_of(home):
            now = team_membership.note_of(joined.url, joined.token, about)
            if now != joined:
                team_membership.note_joined(home, now)
        outcome = _make(store, vault, about.name, stored)
        team_membership.note_last(home, LastCopy(timestamp(store.clock()), "", beyond))
    return outcome


def _newest(team: TeamStorage) -> tuple[Sequence[Stored], int]:
    """Return the newest confirmed memories, and how many other confirmed ones were looked at."""
    newest: list[tuple[float, str, Stored]] = []
    confirmed_count = 0
    for page in all_pages(team.confirmed):
        for stored in page:
            memory = stored.memory
            if memory.status is Status.ACTIVE and memory.kind is Kind.KNOWLEDGE and stored.confirmed_by:
                confirmed_count += 1
                entry = (memory.updated.timestamp(), memory.id, stored)
                if len(newest) < MOST:
                    heapq.heappush(newest, entry)
                else:
                    heapq.heappushpop(newest, entry)
        if confirmed_count >= LOOKED_AT:
            break
    return [stored for _, _, stored in newest], confirmed_count - len(newest)


def copied_memory(stored: Stored, team: str) -> Memory:
    """
    Return the memory as the copy has it: with who wrote and confirmed it, and nothing that ranks it here.

    These lines make its bytes differ from those of any other file, which must not be accepted with it.
    """
    lines = (
        f"team: {one_line(team, 80)}",
        f"written by: {one_line(stored.author, 80)}",
        f"confirmed by: {one_line(stored.confirmed_by, 80)}",
    )
    return replace(
        stored.memory,
        pinned=False,
        trust=None,
        verified=None,
        session="",
        conversation="",
        evidence="",
        notes=(*stored.memory.notes, *lines),
    )


def _make(store: Store, vault: Vault, team: str, stored: Iterable[Stored]) -> Copy:
    """Make files and acceptance those of *stored*."""
    wanted: dict[Path, bytes] = {}
    copied: dict[str, Copied] = {}
    refs: dict[str, str] = {}
    for version in stored:
        with contextlib.suppress(DaybookError):  # one that cannot be a file here is read from the server
            memory = copied_memory(version, team)
            path, data = vault.path_for(memory.id, Kind.KNOWLEDGE), memory_file.render(memory)
            wanted[confined(vault, path)] = data
            digest = files.digest(data)
            copied[memory.id] = Copied(version.digest, version.author, version.confirmed_by, digest)
            refs[digest] = vault.ref(memory.id)
    accepted = _known(store)
    # What is no longer confirmed is not shown from here on, even if the rest fails.
    _note(store, confirmations.WITHDRAWN, sorted(accepted - refs.keys()), {})
    ours = accepted | {version.digest for version in team_membership.copied_of(store.home).values()}
    copied_paths = [Path(stamp.path) for stamp in stamps(vault)]
    removed = sum(_removed(store, vault, path, ours) for path in copied_paths if path not in wanted)
    written = _written(store, vault, wanted, ours)
    _note(store, confirmations.CONFIRMED, sorted(refs.keys() - accepted), refs)
    team_membership.note_copied(store.home, copied)
    with if_free(store):
        sync(store, vaults=[vault])
    return Copy(len(wanted), written, removed)


def withdraw(store: Store) -> None:
    """Take back the acceptance of all that was copied. Raises OSError, IndexUnavailable."""
    _note(store, confirmations.WITHDRAWN, sorted(_known(store)), {})


def _known(store: Store) -> set[str]:
    """Return the digests that count as accepted because a curator confirmed them."""
    catch_up(store)
    with store.database.read() as db:
        return confirmations.confirmed(db)


def _note(store: Store, event: str, digests: Sequence[str], refs: dict[str, str]) -> None:
    for batch in batches(digests, AT_ONCE):
        named = [refs[digest] for digest in batch if digest in refs]
        store.record(event, refs=named, digests=batch)
    if digests:
        catch_up(store)


def _written(store: Store, vault: Vault, wanted: dict[Path, bytes], ours: set[str]) -> int:
    """Write the files that are missing or differ, and return how many."""
    files.make_folder(vault.root / Kind.KNOWLEDGE.folder)
    missing, number = {}, 0
    for path, data in wanted.items():
        now = _read(store, vault, path)
        if now is None:
            missing[path] = data
        elif now != data:
            _keep(store, vault, path, now, ours)
            with contextlib.suppress(Conflict):  # an editor saves it just now: the next copy corrects it
                files.replace(path, data, expected=files.digest(now))
                number += 1
    files.write_many_new(missing)
    return number + len(missing)


def _removed(store: Store, vault: Vault, path: Path, ours: set[str]) -> bool:
    data = _read(store, vault, path)
    if data is None:
        return False
    _keep(store, vault, path, data, ours)
    with contextlib.suppress(Conflict):
        files.delete(path, expected=files.digest(data))
        return True
    return False


def _read(store: Store, vault: Vault, path: Path) -> bytes | None:
    """Return the bytes of a file of the copy, None without one; what cannot be read goes to the trash."""
    try:
        return files.read(path)
    except FileNotFoundError:
        return None
    except Unreadable:
        with contextlib.suppress(OSError, DaybookError):
            moving.move(path, path_in_trash(store, vault, path, id_of_name(path.stem)))
        return None


def _keep(store: Store, vault: Vault, path: Path, data: bytes, ours: set[str]) -> None:
    """Keep in the history what was written into the copy by hand: no word of a person is destroyed."""
    digest = files.digest(data)
    if digest not in ours:
        ref = vault.ref(id_of_name(path.stem))
        place = history.new_place(
            store.home, ref, store.clock(), by=store.by(), verb=CHANGED, was=digest, now=digest
        )
        files.write_new(place, data)
