"""
What one server of several does besides answering: it takes in edits made by hand, and embeds.

An OS lock selects it; the others wait for the lock and take over at once when it ends.
"""

import logging
import math
import threading
import time
from collections.abc import Callable

from mcp_server.actions.files.sync import make_folders
from mcp_server.actions.files.unfinished_files import sweep_litter
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.upkeep.work import begins_work, goes_on
from mcp_server.adapters import files, places
from mcp_server.adapters.heap import give_back
from mcp_server.adapters.own_process import start_worker
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import DaybookError, IndexOfNewer
from mcp_server.core.settings import hooks_are_off
from mcp_server.doors import hand_edits
from mcp_server.store import Store

log = logging.getLogger(__name__)

CHOICE_EVERY = 60.0  # seconds between two checks for a newly chosen model
MINUTE = 60.0
COMPARED = 20  # new memories compared per minute: prompts wait meanwhile; tidying does the rest


def keep_current(opened: Opened) -> None:
    """
    Hold the watcher's lock and keep the index equal to the files until the process ends.

    Or until a newer Daybook makes the index, the server of which takes the lock over.
    """
    try:
        files.make_folder(opened.home)
        make_folders(opened.store(), places.user_vault(opened.home))
        files.make_folder(opened.home / places.PROJECTS)
        files.make_folder(opened.home / "ledger")
        _take_up_left_work(opened, begins_work)
        with files.lock(opened.home / ".watcher.lock", patience=math.inf):
            _watch(opened)
    except IndexOfNewer as error:
        log.warning("edits made by hand are left to a newer server: %s", error)
    except Exception:  # a background thread that fails is logged once; answers go on
        log.exception("edits made by hand are not taken in until the next session")


def _take_up_left_work(opened: Opened, look: Callable[[Store], bool]) -> None:
    """Start a worker when *look* finds work of earlier sessions, which may have ended without their hook."""
    if hooks_are_off(opened.environment):
        return
    try:
        store = opened.store()
        if look(store):
            start_worker(opened.environment)
    except (DaybookError, OSError) as error:
        log.warning("what earlier sessions left waits: %s", error)


def _watch(opened: Opened) -> None:
    work = threading.Event()
    threading.Thread(target=_embed, args=(opened, work), name="embed", daemon=True).start()
    for whole in hand_edits.taken_in(opened):
        if whole:
            try:
                sweep_litter(opened.store())
            except (DaybookError, OSError) as error:
                log.warning("unfinished files of killed processes stay: %s", error)
            _take_up_left_work(opened, goes_on)  # a session that was killed just before this one
        work.set()


def _embed(opened: Opened, work: threading.Event) -> None:
    """Embed and compare what is new when *work* is set; check now and then which model is chosen."""
    since, remaining = 0.0, 0
    while True:
        work.wait(CHOICE_EVERY)
        work.clear()
        try:
            if embed_pending(opened.store()):
                give_back()
            if time.monotonic() - since > MINUTE:
                since, remaining = time.monotonic(), COMPARED
            remaining -= compare_pending(opened.store(), most=remaining)
        except IndexOfNewer:
            return
        except (DaybookError, OSError) as error:
            log.warning("embedding was put off: %s", error)
