"""hand_edits: take in what people change in their files, in a process that watches them."""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from mcp_server.actions.files import vanished_folders
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.adapters import places
from mcp_server.adapters.vault import Vault, is_memory_name
from mcp_server.bootstrap import Opened, open_watcher
from mcp_server.core.errors import DaybookError, IndexOfNewer
from mcp_server.core.memory_parts import Kind

log = logging.getLogger(__name__)

RECONCILE = 300.0  # seconds between two comparisons of all stamps, in case an event was lost
AGAIN = 5.0  # seconds after which a sync that other processes blocked is tried again
DEEP = 3600.0  # seconds after which every file is read, to find changes that kept size and time
FEW = 50  # changed files that are taken in one by one; for more, their vault is synced
LOOK = 1.0  # seconds after which it is noticed that the watching is to end


def taken_in(
    opened: Opened, *, deep: bool = True, goes_on: Callable[[], bool] = lambda: True, look: float = LOOK
) -> Iterator[bool]:
    """
    Keep the index equal to the files for as long as *goes_on* says.

    Yield after each change that was taken in, or put off: whether all files were compared. With *deep* every
    file is read now and then. The end is noticed within *look* seconds. Raises IndexOfNewer.
    """
    due, deep_due = 0.0, time.monotonic() + RECONCILE
    trouble = opened.database.trouble
    for batch in open_watcher(
        lambda: _folders(opened),
        wanted=_is_ours,
        idle=lambda: AGAIN if trouble else RECONCILE,
        goes_on=goes_on,
        look=look,
    ):
        whole = False
        try:
            # The first batch is empty, and comes when the watch has started.
            if not batch or time.monotonic() > due:
                # A check that is repeated because the index was busy is not a deep one, which takes seconds.
                deeply = deep and time.monotonic() > deep_due
                sync(opened.store(), vaults=_vaults(opened), deep=deeply)
                whole = True
                due = time.monotonic() + RECONCILE
                deep_due = time.monotonic() + DEEP if deeply else deep_due
            elif opened.settings.auto_indexing:
                _take_in_changed(opened, batch)
        except IndexOfNewer:
            raise
        except (DaybookError, OSError) as error:
            due = 0.0
            trouble.miss()
            log.warning("a sync was put off: %s", error)
        yield whole


def _take_in_changed(opened: Opened, changed: Iterable[Path]) -> None:
    store = opened.store()
    by_vault: dict[str, list[Path]] = defaultdict(list)
    vaults = {vault.key: vault for vault in _vaults(opened)}
    for path in changed:
        for vault in vaults.values():
            if any(path.is_relative_to(folder) for folder in vault.folders()):
                by_vault[vault.key].append(path)
    for key, paths in by_vault.items():
        folders = vaults[key].folders()
        are_memories = all(is_memory_name(path.name) for path in paths) and all(map(Path.is_dir, folders))
        # A sync notes that a folder was emptied, so that the person is told.
        many_gone = sum(not path.exists() for path in paths) > vanished_folders.FEW
        if len(paths) > FEW or many_gone or not are_memories:
            sync(store, vaults=[vaults[key]])
        else:
            take_in(store, vaults[key], *paths, by_hand=True)
    catch_up(store)


def _vaults(opened: Opened) -> list[Vault]:
    """Return every vault of the person, and those of known projects even when they came with a clone."""
    store = opened.store()
    vaults = places.all_vaults(opened.home, store.vaults)
    known = {vault.root for vault in vaults}
    return [
        *vaults,
        *(
            vault
            for vault in places.repository_vaults(opened.home, store.project)
            if vault.root not in known and (vault.root / Kind.KNOWLEDGE.folder).is_dir()
        ),
    ]


def _folders(opened: Opened) -> list[Path]:
    """Return the folders to watch; those in repositories need not exist: a checkout brings them back."""
    home = opened.home
    folders = [*places.user_vault(home).folders(), home / places.PROJECTS, home / "ledger"]
    for vault in (*_vaults(opened), *places.repository_vaults(home, opened.store().project)):
        if vault.in_repository:
            folders += vault.folders()
    return folders


def _is_ours(path: str) -> bool:
    name = path.rpartition("/")[2]
    return is_memory_name(name) or name.endswith(".jsonl") or name == places.PROJECT_FILE
