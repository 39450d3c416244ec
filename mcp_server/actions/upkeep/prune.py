"""prune: above MAX_HISTORY_SIZE_MB delete the oldest versions in the history, a person's words last."""

import contextlib
from itertools import groupby

from mcp_server.actions.files.accepted import last_accepted
from mcp_server.actions.files.load import parsed
from mcp_server.actions.files.size_limit import MEGABYTE
from mcp_server.adapters import files, history
from mcp_server.adapters.history import Version
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import DaybookError
from mcp_server.core.judge.ageing import PERSONS
from mcp_server.core.memory import Memory
from mcp_server.store import Store

SLACK = 2  # seconds by which a file may be younger than it says, and be as Daybook wrote it


def prune(store: Store) -> int:
    """Delete versions until the rest is within the limit, and return how many; none without a limit."""
    limit = store.settings.max_history_size_mb * MEGABYTE
    if not limit:
        return 0
    found = sorted(history.everything(store.home), key=lambda each: (each.ref, each.number))
    over = sum(each.size for each in found) - limit
    if over <= 0:
        return 0
    ranked = []
    for ref, those in groupby(found, lambda each: each.ref):
        before, needed = None, last_accepted(store, ref)
        for each in those:
            if each == needed:
                continue  # the repository's own file may be gone or changed
            ranked.append((_is_persons(store, each, before), each.at, each.path.name, each))
            before = each
    gone = []
    for *_, each in sorted(ranked, key=lambda one: one[:3]):
        if over <= 0:
            break
        over -= each.size
        gone.append(each)
    history.erase(gone)
    store.ledger.try_append("history_pruned", store.clock(), versions=len(gone))
    return len(gone)


def _is_persons(store: Store, version: Version, before: Version | None) -> bool:
    """Tell whether a person may have written a version: true unless a machine must have written it."""
    memory = _memory(store, version)
    if memory is None or memory.source in PERSONS:
        return True
    if before:
        return before.by == PERSON or before.now != version.was
    return version.path.lstat().st_mtime > memory.updated.timestamp() + SLACK


def _memory(store: Store, version: Version) -> Memory | None:
    with contextlib.suppress(OSError, DaybookError):
        return parsed(store.user_vault, version.path, files.read(version.path))
    return None
