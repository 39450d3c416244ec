"""init, share and trust: memories inside a repository, only when the person says so."""

from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.read import find
from mcp_server.actions.sync import catch_up, sync
from mcp_server.adapters import files, places
from mcp_server.adapters.index import selections
from mcp_server.adapters.index.memories import Row
from mcp_server.adapters.vault import Vault, make_vault_folders, stamps
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Kind
from mcp_server.store import Store

AT_ONCE = 500  # memories accepted in one line of the ledger, which has its bounds
IGNORE_ALL = "*\n"
IGNORE_ALL_BUT_KNOWLEDGE = "*\n!.gitignore\n!knowledge/\n!knowledge/**\n.daybook*\n"


@dataclass(frozen=True, slots=True)
class Initialised:
    """The vault in the repository, how many memories moved into it, and whether git ignores all of it."""

    root: Path
    moved: int
    ignored: bool


def init(store: Store) -> Initialised:
    """
    Keep the project's knowledge in `<repository>/.claude-memory/`, ignored by git until it is shared.

    What was private knowledge of the project moves there, and what waits for the person's word goes on
    waiting. Raises Rejected outside a project.
    """
    vault = _vault(store)
    sync(store)
    waiting = {row.path for row in untrusted(store)}
    make_vault_folders(vault)
    ignore = vault.root / ".gitignore"
    if not ignore.exists():
        files.write_new(ignore, IGNORE_ALL.encode())
    assert store.project
    places.note_project(store.home, store.project)
    places.note_project(store.home, store.project, adopt=vault.root)
    private = store.vault(store.project.key)
    with store.database.read() as db:
        ids = selections.ids_of(db, store.project.key)
    moved = 0
    for found in stamps(private) if private else []:
        path = Path(found.path)
        assert private
        relative = path.relative_to(private.root)
        if relative.parts[0] == Kind.KNOWLEDGE.folder and not (vault.root / relative).exists():
            files.move(path, vault.root / relative)
            moved += 1
            memory_id = ids.get(found.path, path.stem)
            ref, old = f"{vault.key}/{memory_id}", f"{private.key}/{memory_id}"
            store.ledger.append("moved", store.clock(), refs=[ref], **{"from": [old]})
            if found.path not in waiting:
                digest = files.digest(files.read(vault.root / relative))
                store.ledger.append("accepted", store.clock(), refs=[ref], digests=[digest])
    sync(store, vaults=[*([private] if private else []), vault])
    return Initialised(vault.root, moved, files.read(ignore) == IGNORE_ALL.encode())


def share(store: Store) -> Path:
    """Let git see `knowledge/` of the vault in the repository; return the `.gitignore` that says so."""
    vault = _vault(store)
    ignore = vault.root / ".gitignore"
    if not ignore.exists():
        raise Rejected(
            "This project keeps no memories in its repository.", "Run 'daybook init --repository' first."
        )
    said = files.read(ignore)
    if said == IGNORE_ALL.encode():
        files.replace(ignore, IGNORE_ALL_BUT_KNOWLEDGE.encode(), expected=files.digest(said))
    return ignore


def untrusted(store: Store) -> list[Row]:
    """Return the memories that are not shown unasked until the person accepts them."""
    shared = [vault.key for vault in store.vaults if vault.in_repository]
    with store.database.read() as db:
        return selections.not_accepted(db, [vault.key for vault in store.vaults], shared)


def trust(store: Store, memory_ids: tuple[str, ...] = ()) -> list[Row]:
    """
    Accept memories as they are now, all that wait or those with the ids given; return them.

    A file that changes afterwards waits again. Raises NotFound for an id that no memory has.
    """
    sync(store)
    for memory_id in memory_ids:
        find(store, memory_id)
    chosen = [row for row in untrusted(store) if not memory_ids or row.id in memory_ids]
    for start in range(0, len(chosen), AT_ONCE):
        batch = chosen[start : start + AT_ONCE]
        refs, digests = [row.ref for row in batch], [row.digest for row in batch]
        store.ledger.append("accepted", store.clock(), refs=refs, digests=digests)
    catch_up(store)
    return chosen


def _vault(store: Store) -> Vault:
    if not store.project:
        raise Rejected("This folder belongs to no project.", "Go into the project's folder and run it again.")
    return places.repository_vault(store.home, store.project)
