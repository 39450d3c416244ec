"""trash: delete files past their grace, but only on request or above the size limit."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.files.clock_check import dated_from, old_before
from mcp_server.actions.files.sync import catch_up
from mcp_server.adapters import files, history
from mcp_server.adapters.index.events import audit
from mcp_server.adapters.index.memories import selections
from mcp_server.core.memory import DAY
from mcp_server.store import Store

GRACE_DAYS = 90  # days in the trash in which nothing deletes a file; as long as orphans wait


@dataclass(frozen=True, slots=True)
class Trashed:
    """A file in the trash: where it lies, what the ledger calls it, its bytes."""

    path: Path
    ref: str
    size: int

    @property
    def id(self) -> str:
        return self.ref.rpartition("/")[2]


def late(store: Store) -> list[Trashed]:
    """Return the files whose memory has had no event for 90 days: they lie there at least that long."""
    catch_up(store)
    found = _all(store)
    with store.database.read() as db:
        done = audit.last_done(db, {each.ref for each, _ in found})
    start, before = dated_from(store), old_before(store, GRACE_DAYS * DAY)
    return [each for each, moved in found if start <= done.get(each.ref, moved) < before]


def size(store: Store) -> int:
    """Return the bytes of all files in the trash."""
    return sum(found.size for found, _ in _all(store))


def empty(store: Store, found: Iterable[Trashed]) -> list[Trashed]:
    """
    Delete those files and their history for good, each with an event; return them.

    Raises OSError.
    """
    deleted = []
    for each in found:
        store.ledger.append("emptied", store.clock(), refs=[each.ref])
        files.delete(each.path)
        with store.database.read() as db:
            lives = selections.with_ref(db, each.ref)
        if not lives:
            history.erase(history.versions(store.home, each.ref))
        deleted.append(each)
    return deleted


def _all(store: Store) -> list[tuple[Trashed, float]]:
    """Return every file in the trash, with its ctime: when it was moved last, as far as the disk knows."""
    folder = store.home / "trash"
    found = []
    for path in sorted(folder.rglob("*.md")) if folder.is_dir() else ():
        try:
            said = path.lstat()
        except FileNotFoundError:
            continue
        ref = f"{path.relative_to(folder).parts[0]}/{path.name.partition('.')[0]}"
        found.append((Trashed(path, ref, said.st_size), said.st_ctime))
    return found
