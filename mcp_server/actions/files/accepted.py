"""
accepted: keep a copy, outside the repository, of each memory in it that the person accepted.

A pull may change or delete the file of a memory that they rely on. The history keeps the bytes that they
accepted, so that the difference can be shown and a deleted memory restored.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.files.load import parsed
from mcp_server.adapters import files, history, places
from mcp_server.adapters.history import Version
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.memories import accepted_bytes
from mcp_server.adapters.vault import Vault
from mcp_server.core.difference import difference
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import ID, vault_in
from mcp_server.store import Store

ACCEPTED = "accepted"  # the verb of such a version, which no change made


@dataclass(frozen=True, slots=True)
class AcceptedBefore:
    """
    The version of a memory that the person accepted before a pull changed its file.

    `is_kept`: it can be restored; `differs` is what differs now, '' when only layout and dates do.
    """

    is_kept: bool
    differs: str = ""


def keep_accepted(store: Store, vaults: Iterable[Vault]) -> None:
    """
    Copy the bytes of all accepted memories in *vaults*, which lie in a repository, into the history.

    What cannot be read or written now is kept the next time. Raises IndexUnavailable.
    """
    if store.database.stands_in:
        return
    with store.database.read() as db:
        rows = accepted_bytes.not_kept(db, [vault.key for vault in vaults])
        unknown = [vault.key for vault in vaults if accepted_bytes.is_empty(db, vault.key)]
    # A new index does not know what was kept before: ask the history, as files may be changed or gone.
    versions = [version for key in unknown for version in history.of_vault(store.home, key)]
    pairs = [(version.ref, version.was) for version in versions if version.verb == ACCEPTED]
    for row in rows:
        with contextlib.suppress(OSError, DaybookError):
            data = files.read(Path(row.path))
            if files.digest(data) == row.digest:
                _keep(store, row.ref, data)
                pairs.append((row.ref, row.digest))
    if pairs:
        with store.database.write() as db:
            accepted_bytes.note_kept(db, pairs)


def last_accepted(store: Store, ref: str) -> Version | None:
    """Return the version of *ref*, in a repository, that the person accepted last and did not take back."""
    versions = [version for version in history.versions(store.home, ref) if version.verb == ACCEPTED]
    if not versions:
        return None
    with store.database.read() as db:
        accepted = usage.accepted_digests(db, [version.was for version in versions])
    return next((version for version in reversed(versions) if version.was in accepted), None)


def taken_away(store: Store, memory_id: str) -> tuple[Vault, Version] | None:
    """Return the repository's vault and the last accepted version of a memory whose file is gone from it."""
    if not ID.fullmatch(memory_id):
        return None
    vault = places.repository_vault(store.home, store.project) if store.project else None
    version = last_accepted(store, vault.ref(memory_id)) if vault else None
    return (vault, version) if vault and version and not places.linked(vault.root) else None


def changed_since(store: Store, ref: str, now: Memory) -> AcceptedBefore:
    """Return how *now* differs from what the person accepted of *ref*."""
    version = last_accepted(store, ref)
    vault = store.vault(vault_in(ref))
    if version and vault:
        with contextlib.suppress(OSError, DaybookError):
            was = parsed(vault, vault.path_for(now.id, now.kind), files.read(version.path))
            return AcceptedBefore(is_kept=True, differs=difference(was, now))
    return AcceptedBefore(is_kept=False)


def _keep(store: Store, ref: str, data: bytes) -> None:
    digest = files.digest(data)
    if any(
        version.was == digest and version.verb == ACCEPTED for version in history.versions(store.home, ref)
    ):
        return
    at, by = store.clock(), store.by()
    path = history.new_place(store.home, ref, at, by=by, verb=ACCEPTED, was=digest, now=digest)
    files.write_new(path, data)
