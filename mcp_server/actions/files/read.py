"""read: one whole memory, from its file."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from mcp_server.actions.files.load import MemoryFile, load
from mcp_server.actions.files.sync import ensure_synced
from mcp_server.actions.files.trash import in_trash
from mcp_server.actions.files.unindexed import look_again, self_healing, with_files_of
from mcp_server.adapters.index.events import usage
from mcp_server.adapters.index.memories import memories, selections, unreadable
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.vault import stamp
from mcp_server.core.errors import Elsewhere, NotFound, Unreadable
from mcp_server.core.memory_parts import id_of_name, typed_id
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.provenance import may_be_pushed
from mcp_server.store import Store

BACK = "'daybook restore {}', or the tool restore_memory,"


def read(store: Store, memory_id: str) -> MemoryFile:
    """
    Return the memory with that id, of any status, from its file.

    Raises NotFound (with the nearest ids), Unreadable when the file holds no memory, IndexUnavailable.
    """
    return read_row(store, find(store, memory_id))


def read_or_none(store: Store, memory_id: str) -> MemoryFile | None:
    """Return what `read` does; None for none, or a broken file, which must not stop what is about others."""
    with contextlib.suppress(NotFound, Unreadable):
        return read(store, memory_id)
    return None


def read_told(store: Store, name: str) -> MemoryFile:
    """
    Return the memory that a session was shown as *name*: an id, or only the ending of one.

    Raises what `read` raises. To change a memory a caller must give its whole id.
    """
    try:
        return read(store, name)
    except NotFound:
        with store.database.read() as db:
            row = selections.with_ending(db, store.keys, name.strip())
        if row is None:
            raise
        return read_row(store, row)


def read_row(store: Store, row: Row) -> MemoryFile:
    """Return the memory that the index has as *row*, from its file; raises NotFound, Unreadable."""
    vault = store.vault(row.vault)
    assert vault
    try:
        return load(vault, Path(row.path))
    except FileNotFoundError:
        raise NotFound(row.id) from None  # the file vanished this moment


def read_rows(store: Store, rows: Iterable[Row]) -> Iterator[MemoryFile]:
    """Yield the memories that the index has as *rows*, without those whose file is gone or unreadable."""
    for row in rows:
        with contextlib.suppress(NotFound, Unreadable):
            yield read_row(store, row)


@self_healing
def find(store: Store, memory_id: str) -> Row:
    """
    Return the index row of the memory with that id, whose file exists.

    The nearest vault wins, but a memory that merely came with a repository hides none of the person's.
    Raises NotFound, but only after a look at the files: one may have been renamed by hand, or written by a
    process that was killed before it updated the index.
    """
    memory_name = typed_id(memory_id)
    row = look_up(store, memory_name)
    if row is None or not stamp(Path(row.path)):
        look_again(store)
        row = look_up(store, memory_name)
    if store.database.trouble and (row is None or not stamp(Path(row.path))):
        row = look_up(with_files_of(store, memory_name), memory_name)
    if row is None:
        with store.database.read() as db:
            nearest = memories.nearest_ids(db, store.keys, memory_name)
            other = selections.with_id(db, selections.vaults_in_use(db), memory_name)
            problems = unreadable.listed(db, store.keys)
        for problem in problems:
            if id_of_name(Path(problem.path).stem) == memory_name:
                unread = Unreadable(problem.path, problem.line, problem.reason)
                raise Elsewhere(memory_name, hint=f"A file of that name is not taken in: {unread}.")
        if any(in_trash(store, memory_name)):
            raise Elsewhere(memory_name, hint=f"It was forgotten; {BACK.format(memory_name)} brings it back.")
        if other:
            raise Elsewhere(
                memory_name,
                hint=f"It is of another project, {other.vault}: change it there. 'daybook read' shows it.",
            )
        raise NotFound(memory_name[:80], nearest)
    return row


def look_up(store: Store, memory_id: str) -> Row | None:
    """Return the index row of the memory with that id, None when there is none."""
    ensure_synced(store)
    vaults = sorted(store.vaults, key=lambda vault: vault.adopted)
    with store.database.read() as db:
        return selections.with_id(db, [vault.key for vault in vaults], memory_id)


def is_shown(store: Store, file: MemoryFile) -> bool:
    """Tell whether a memory's origin lets it be shown unasked as it is now."""
    return may_be_pushed(
        source=file.memory.source,
        in_repository=file.vault.in_repository,
        accepted=is_accepted(store, file),
        instructing=reads_like_instruction(f"{file.memory.title}\n{file.memory.text}"),
    )


@self_healing
def is_accepted(store: Store, file: MemoryFile) -> bool:
    """Tell whether the person wrote or accepted exactly these bytes; a change may then carry that on."""
    with store.database.read() as db:
        return bool(usage.accepted_digests(db, [file.digest]))
