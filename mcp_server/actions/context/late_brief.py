"""
late_brief: the brief of a session that began while there was no index, shown with a later prompt.

There is none after an update that changed it, on a new machine, and after somebody deleted it; one that was
last used at another path of the store knows no file here. The server makes it within seconds, but a session
is shown its brief before that, or while it holds nothing yet.
"""

import contextlib
from pathlib import Path

from mcp_server.actions.context.brief import brief, is_of_new_index, note_given
from mcp_server.actions.files.sync import ensure_synced
from mcp_server.adapters import files, places
from mcp_server.core.context.brief import Brief
from mcp_server.core.memory_parts import DAY
from mcp_server.store import Store


def note_owed(store: Store) -> None:
    """
    Note that this session was shown no brief, if there is anything to tell; never raises.

    Notes of over a day ago are deleted.
    """
    if not store.session or not _is_anything_known(store):
        return
    folder = store.home / places.WORK
    with contextlib.suppress(OSError):
        for earlier in folder.glob(places.OWED_BRIEFS.format("*")):
            if store.now() - earlier.stat().st_mtime > DAY:
                files.delete(earlier)
        files.make_folder(folder)
        files.write_new(places.owed_brief(store.home, store.session), b"")


def owed(store: Store, folder: Path) -> Brief | None:
    """Return the brief that this session in *folder* is owed, None for none. Raises IndexUnavailable."""
    if not places.owed_brief(store.home, store.session).exists():
        return None
    ensure_synced(store)  # an index that was just made is empty
    if is_of_new_index(store):
        return None  # the server is about to take in the files at this place
    late = brief(store, folder=folder)
    if late.text:
        return late
    _settle(store)  # what is remembered from now on is in the session anyway
    return None


def note_shown(store: Store, late: Brief) -> None:
    """Note that this session was shown what it was owed. Raises IndexUnavailable."""
    note_given(store, late)
    _settle(store)


def _is_anything_known(store: Store) -> bool:
    """Tell whether a vault has a file: without an index nothing else is known of it."""
    folders = (folder for vault in store.vaults for folder in vault.folders())
    return any(next(folder.glob("*.md"), None) for folder in folders)


def _settle(store: Store) -> None:
    with contextlib.suppress(OSError):
        files.delete(places.owed_brief(store.home, store.session))
