"""
same_in_projects: memories that three projects have in the same words, so that one may serve all projects.

They are found by code and offered in each of those projects. Only the person decides: what holds in three
projects need not hold in the next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from mcp_server.actions.context.open_questions import MOST_OPEN
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read_row
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.actions.memory.link import note_resolved
from mcp_server.actions.review.answer import joined
from mcp_server.actions.review.entries import (
    Became,
    Entry,
    SaidIn,
    Verdict,
    WaitingKind,
    changed_after,
    entry_of,
)
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import settled_pairs
from mcp_server.adapters.index.memories import memories, pairs, selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.errors import NotFound, Unreadable
from mcp_server.core.memory_parts import Level, fingerprint
from mcp_server.store import Store

EVERYWHERE = "everywhere"
PROJECTS = 3  # that must say the same before the person is asked

Group = Sequence[Row]  # the memories that say the same, the one of this project first


def _groups(store: Store) -> list[Group]:
    """Return the groups that this project and at least two others share, those in most projects first."""
    own_vaults = [vault.key for vault in store.vaults if vault.level is Level.PROJECT and vault.adopted]
    if not own_vaults:
        return []
    wide = store.everywhere()
    all_vaults = [vault.key for vault in wide.vaults if vault.level is Level.PROJECT and vault.adopted]
    groups: list[Group] = []
    with store.database.read() as db:
        for numbers in pairs.said_alike(db, own_vaults, all_vaults, private=wide.private, least=PROJECTS):
            rows = sorted(
                memories.by_rows(db, numbers).values(), key=lambda row: (row.vault not in own_vaults, row.ref)
            )
            is_settled = any(settled_pairs.is_resolved(db, *pair) for pair in combinations(rows, 2))
            if not is_settled and len(_projects(wide, rows)) >= PROJECTS:
                groups.append(rows)
    groups.sort(key=lambda rows: (-len(rows), rows[0].id))
    return groups[:MOST_OPEN]


def _projects(wide: Store, rows: Group) -> list[str]:
    """Return the names of the projects of *rows*; a project that got a remote is at the same place still."""
    names: dict[object, str] = {}
    for row in rows:
        vault = wide.vault(row.vault)
        key = vault.project if vault else row.vault
        notes = places.project_notes(wide.home, key)
        names.setdefault(notes.get("root") or key, str(notes.get("name") or key))
    return [*names.values()]


def _listed(store: Store) -> tuple[int, Iterator[Entry]]:
    groups = _groups(store)
    return len(groups), (entry for rows in groups if (entry := _entry(store, rows)))


def _again(store: Store, entry: Entry) -> Entry | None:
    rows = _group(store, entry)
    return _entry(store, rows) if rows else None


def _group(store: Store, entry: Entry) -> Group:
    return next((rows for rows in _groups(store) if rows[0].ref == entry.ref), ())


def _entry(store: Store, rows: Group) -> Entry | None:
    wide = store.everywhere()
    try:
        memory_files = [read_row(wide, row) for row in rows]
    except (NotFound, Unreadable):
        return None  # the file vanished this moment, or `status` reports it
    said_in = SaidIn(tuple(_projects(wide, rows)))
    entry = entry_of(EVERYWHERE, rows[0], memory_files[0], said_in, KIND.words)
    return replace(entry, digest=_digest(memory_files))


def _digest(memory_files: Sequence[MemoryFile]) -> str:
    return files.digest(" ".join(file.digest for file in memory_files).encode())


def _shown(store: Store, entry: Entry) -> list[MemoryFile]:
    """Return the files that were shown as *entry*; raises Conflict when one changed since."""
    wide = store.everywhere()
    memory_files = [read_row(wide, row) for row in _group(store, entry)]
    if _digest(memory_files) != entry.digest:
        raise changed_after(entry.path)
    return memory_files


def _keep_once(store: Store, entry: Entry) -> Became:
    """Replace all of them, and any user memory that says the same already, by one user memory."""
    wide = store.everywhere()
    memory_files = _shown(store, entry)
    words = fingerprint(entry.title, entry.text)
    with store.database.read() as db:
        same_row = selections.saying(db, store.user_vault.key, words)
    if same_row:
        memory_files.append(read_row(store, same_row))
    joined(wide, memory_files, entry.title, entry.text, vault=store.user_vault)
    return Became.ACCEPTED


def _keep_all(store: Store, entry: Entry) -> Became:
    for file, other in pairwise(_shown(store, entry)):
        note_resolved(store, file, other, how="keep_all")
    catch_up_if_free(store)
    return Became.REJECTED


KIND = WaitingKind(_listed, _again, {Verdict.ACCEPT: _keep_once, Verdict.REJECT: _keep_all})
