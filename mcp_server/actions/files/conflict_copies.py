"""What becomes of the conflict copies that a sync service leaves: they are named, and not read."""

import os

from mcp_server.adapters.index.memories.unreadable import Problem
from mcp_server.core.conflict_copies import original_of
from mcp_server.store import Store

_WHAT = "is the copy that a sync service made when two machines changed"


def why_not_taken_in(path: str) -> str:
    """Return what the copy at *path* is and what to do about it, a clause; '' when it is no conflict copy."""
    folder, name = os.path.split(path)
    original = original_of(name)
    if not original:
        return ""
    if os.path.exists(os.path.join(folder, original)):
        return f"{_WHAT} {original}: put what you need of it there, and delete this copy"
    return f"{_WHAT} {original}, which is gone: rename this copy to {original}, or delete it"


def ledger_copies(store: Store) -> list[Problem]:
    """Return the conflict copies among the ledger's files: read, most of their lines would count twice."""
    return [
        Problem(
            str(path), 0, f"{_WHAT} {original_of(path.name)}: add the lines that only it has, and delete it"
        )
        for path in store.ledger.conflict_copies()
    ]
