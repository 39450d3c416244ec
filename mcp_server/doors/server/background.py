"""
What one server of several does besides answering: it takes in edits made by hand, and embeds.

An OS lock selects it; the others wait for the lock and take over at once when it ends.
"""

import logging
import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from mcp_server.actions.files.litter import sweep_litter
from mcp_server.actions.files.sync import catch_up, make_folders, sync, take_in
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.upkeep.work import exchange_is_due, note_left_behind, note_quiet
from mcp_server.adapters import files, places
from mcp_server.adapters.heap import give_back
from mcp_server.adapters.own_process import start_worker
from mcp_server.adapters.vault import Vault, is_memory_name
from mcp_server.bootstrap import Opened, open_watcher
from mcp_server.core.errors import DaybookError
from mcp_server.core.settings import hooks_are_off
from mcp_server.store import Store

log = logging.getLogger(__name__)

RECONCILE = 300.0  # seconds between two comparisons of all stamps, in case an event was lost
AGAIN = 5.0  # seconds after which a sync that other processes blocked is tried again
DEEP = 3600.0  # seconds after which every file is read, to find changes that kept size and time
FEW = 50  # changed files that are taken in one by one; for more, their vault is synced
CHOICE_EVERY = 60.0  # seconds between two checks for a newly chosen model
MINUTE = 60.0
COMPARED = 20  # new memories compared per minute: prompts wait meanwhile; tidying does the rest


def keep_current(opened: Opened) -> None:
    """Hold the watcher's lock and keep the index equal to the files until the process ends."""
    try:
        files.make_folder(opened.home)
        make_folders(opened.store(), places.user_vault(opened.home))
        files.make_folder(opened.home / places.PROJECTS)
        files.make_folder(opened.home / "ledger")
        opened.meaning()
        _take_up_left_work(opened, note_left_behind)
        with files.lock(opened.home / ".watcher.lock", patience=math.inf):
            _watch(opened)
    except Exception:  # a background thread that fails is logged once; answers go on
        log.exception("edits made by hand are not taken in until the next session")


def _take_up_left_work(opened: Opened, look: Callable[[Store], bool]) -> None:
    """Start a worker when *look* finds work of earlier sessions, which may have ended without their hook."""
    if hooks_are_off(opened.environment):
        return
    try:
        store = opened.store()
        if look(store) or exchange_is_due(store):
            start_worker(opened.environment)
    except (DaybookError, OSError) as error:
        log.warning("what earlier sessions left waits: %s", error)


def _watch(opened: Opened) -> None:
    work = threading.Event()
    threading.Thread(target=_embed, args=(opened, work), name="embed", daemon=True).start()
    due, deep_due = 0.0, time.monotonic() + RECONCILE
    trouble = opened.database.trouble
    for batch in open_watcher(
        lambda: _folders(opened), wanted=_is_ours, idle=lambda: AGAIN if trouble else RECONCILE
    ):
        try:
            # The first batch is empty, and comes when the watch has started.
            if not batch or time.monotonic() > due:
                # A check that is repeated because the index was busy is not a deep one, which takes seconds.
                deep = time.monotonic() > deep_due
                _reconcile(opened, deep=deep)
                due = time.monotonic() + RECONCILE
                deep_due = time.monotonic() + DEEP if deep else deep_due
                _take_up_left_work(opened, note_quiet)  # a session that was killed just before this one
            elif opened.settings.auto_indexing:
                _take_in_changed(opened, batch)
        except (DaybookError, OSError) as error:
            due = 0.0
            trouble.miss()
            log.warning("a sync was put off: %s", error)
        work.set()


def _reconcile(opened: Opened, *, deep: bool) -> None:
    vaults = _vaults(opened)
    sweep_litter(opened.store())
    sync(opened.store(), vaults=vaults, deep=deep)


def _embed(opened: Opened, work: threading.Event) -> None:
    """Embed and compare what is new when *work* is set; check now and then which model is chosen."""
    since, left = 0.0, 0
    while True:
        work.wait(CHOICE_EVERY)
        work.clear()
        try:
            if embed_pending(opened.store()):
                give_back()
            if time.monotonic() - since > MINUTE:
                since, left = time.monotonic(), COMPARED
            left -= compare_pending(opened.store(), most=left)
        except (DaybookError, OSError) as error:
            log.warning("embedding was put off: %s", error)


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
        known = all(is_memory_name(path.name) for path in paths) and all(map(Path.is_dir, folders))
        if len(paths) > FEW or not known:
            sync(store, vaults=[vaults[key]])
        else:
            take_in(store, vaults[key], *paths, by_hand=True)
    catch_up(store)


def _vaults(opened: Opened) -> list[Vault]:
    """Return every vault of the person, and those of this project even when they came with a clone."""
    return places.all_vaults(opened.home, opened.store().vaults)


def _folders(opened: Opened) -> list[Path]:
    home = opened.home
    folders = [*places.user_vault(home).folders(), home / places.PROJECTS, home / "ledger"]
    for vault in _vaults(opened):
        if vault.in_repository:
            folders += vault.folders()
    return folders


def _is_ours(path: str) -> bool:
    name = path.rpartition("/")[2]
    return is_memory_name(name) or name.endswith(".jsonl") or name == places.PROJECT_FILE
