"""
embedded: the person's own store, files and index, behind the port of a storage.

It is how another program uses the store as it would use a team's; Daybook's own doors call the actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from mcp_server.actions.changes.deeds import MOST as MOST_DEEDS
from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.changes.history import history_of
from mcp_server.actions.changes.undo import effects_of
from mcp_server.actions.files import read as files_read
from mcp_server.actions.files.commit import Accept, commit, create, one_change
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.sync import ensure_synced, make_folders
from mcp_server.actions.memory import forget as forgetting
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters import files
from mcp_server.adapters.index.events.deeds import Deed
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.vault import confined
from mcp_server.core.errors import Conflict, NotFound
from mcp_server.core.memory import Memory, texts_beside
from mcp_server.core.memory_parts import Kind, Level, check_id, clean_text
from mcp_server.core.search.query import Query
from mcp_server.core.secrets.redaction import KEEP_SECRETS, refuse_secrets
from mcp_server.core.storage.port import PAGE, ChangeKind, ChangeRecord, Result, Results, Stored
from mcp_server.store import Store

_KINDS = {
    "remembered": ChangeKind.CREATED,
    "forgotten": ChangeKind.FORGOTTEN,
    "restored": ChangeKind.RESTORED,
    "accepted": ChangeKind.CONFIRMED,
}
"""What the events of the ledger are to the port; another one that changes a file is a revision."""


@dataclass(frozen=True, slots=True)
class EmbeddedStorage:
    """
    The knowledge of *store*, implementing `core.storage.port.Storage`; new memories get that *level*.

    It is the person's: what they save counts as their own word. A digest is that of a file's bytes.
    """

    store: Store
    level: Level = Level.USER

    def save(self, memory: Memory, *, replaces: str = "") -> Stored:
        """Do as the port says; a secret is refused."""
        clean_text(memory.text)
        refuse_secrets(memory.title, memory.text, *texts_beside(memory), anyway=KEEP_SECRETS)
        try:
            current = files_read.read(self.store, check_id(memory.id))
        except NotFound:
            if replaces:
                raise
            return self._created(memory)
        if current.memory == memory:
            return _stored(current)
        _check_version(current, replaces)
        return _stored(commit(self.store, current, memory, "revised", accept=Accept.YES))

    def load(self, memory_id: str) -> Stored:
        """Do as the port says."""
        return _stored(files_read.read(self.store, memory_id))

    def search(self, query: Query) -> Results:
        """Do as the port says; only knowledge answers."""
        answer = recall(self.store, replace(query, filter=replace(query.filter, kinds=(Kind.KNOWLEDGE,))))
        results = [Result(self.load(hit.id), hit.text, hit.parts, hit.confidence) for hit in answer.hits]
        return Results(tuple(results), answer.semantic)

    @one_change()
    def forget(self, memory_id: str, *, digest: str) -> None:
        """Do as the port says: the file goes to the trash."""
        _check_version(files_read.read(self.store, memory_id), digest)
        forgetting.forget(self.store, memory_id)

    def restore(self, memory_id: str) -> Stored:
        """Do as the port says; raises Rejected, too, when the memory is there already."""
        return _stored(forgetting.restore(self.store, memory_id))

    def history(self, memory_id: str) -> Sequence[ChangeRecord]:
        """Do as the port says, of the last 500 changes."""
        deeds = list_deeds(self.store, memory_id, limit=MOST_DEEDS)
        record = history_of(self.store, memory_id)
        memory_by_digest = {version.was: version.memory for version in record.versions}
        if record.path.exists():
            memory_by_digest[files.digest(files.read(record.path))] = record.memory
        changes = [_change(entry.deed, memory_by_digest) for entry in reversed(deeds)]
        return tuple(change for change in changes if change)

    def page(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        """Do as the port says; a memory of the nearest vault stands for others of its id."""
        ensure_synced(self.store)
        with self.store.database.read() as db:
            ids = selections.ids_after(db, self.store.keys, after, most)
        return tuple(self.load(memory_id) for memory_id in ids)

    def _created(self, memory: Memory) -> Stored:
        vault = self.store.vault_for(memory.kind, self.level)
        make_folders(self.store, vault)
        path = confined(vault, vault.path_for(memory.id, memory.kind))
        try:
            return _stored(create(self.store, vault, path, memory, accept=True))
        except FileExistsError:
            raise Conflict(f"Another memory got the id '{memory.id}' meanwhile.") from None


def _stored(file: MemoryFile) -> Stored:
    return Stored(file.memory, file.digest)


def _check_version(file: MemoryFile, digest: str) -> None:
    if file.digest != digest:
        raise Conflict(f"'{file.memory.id}' is not at the version '{digest}'.")


def _change(deed: Deed, memory_by_digest: dict[str, Memory | None]) -> ChangeRecord | None:
    """Return *deed* as a change, None when no file was changed; memories are by the digests of files."""
    effects = [effect for effect in effects_of(deed) if effect[0] == deed.ref]
    kind = _KINDS.get(deed.event)
    if not (effects or kind):
        return None
    before = memory_by_digest.get(effects[0][2]) if effects else None
    at = datetime.fromtimestamp(deed.at, UTC)
    return ChangeRecord(kind or ChangeKind.REVISED, at, str(deed.detail.get("by") or ""), before)
