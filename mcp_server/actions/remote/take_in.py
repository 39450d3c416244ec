"""
take in: write the changes of other machines into the store's files.

The history keeps what a file said before, and what was deleted elsewhere goes to the trash. A file that an
editor saves at this moment stays as it was saved; the next exchange merges both.
"""

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.actions.files.commit import indexed, put_bytes
from mcp_server.actions.files.sync import catch_up, if_free
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.files.trash import path_in_trash
from mcp_server.actions.remote.merged_files import Contents
from mcp_server.actions.remote.store_tree import Disk, vault_at
from mcp_server.adapters import files, history, moving, places
from mcp_server.adapters.index.events import deeds, usage
from mcp_server.adapters.json_file import object_in
from mcp_server.adapters.remote.notes import Remote
from mcp_server.adapters.remote.repository import blob_id
from mcp_server.adapters.vault import Vault, confined, make_vault_folders
from mcp_server.core.batches import batches
from mcp_server.core.errors import Conflict, DaybookError
from mcp_server.core.memory_parts import id_in, vault_in
from mcp_server.core.remote import paths
from mcp_server.core.remote.tree_merge import Tree
from mcp_server.store import Store

EXCHANGED = "exchanged"  # the event, and the verb of a version in the history
BATCH = 250  # files in one transaction of the index


@dataclass(slots=True)
class TakenIn:
    """
    What was taken in: ids of memories by what became of them, and what is left for next time.

    `tree` is what the files say now, as far as Daybook knows. `refs` are the ledger's names of what came or
    changed.
    """

    tree: dict[str, str]
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    not_written: dict[str, str] = field(default_factory=dict)
    refs: list[str] = field(default_factory=list)


def take_in_tree(store: Store, remote: Remote, contents: Contents, disk: Disk, goal: Tree) -> TakenIn:
    """Change the files of *store* from the tree *disk* to the tree *goal*; return what was done."""
    taken_in = TakenIn(dict(disk.tree))
    wanted_files = {path: blob for path, blob in goal.items() if paths.sort_of(path) is not None}
    if not remote.conversations:
        wanted_files = {path: wanted_files[path] for path in wanted_files if not paths.is_conversation(path)}
    present = {path: blob for path, blob in disk.tree.items() if path not in disk.back}
    differing = {path for path in {*wanted_files, *present} if wanted_files.get(path) != present.get(path)}
    differing -= disk.held_back.keys()
    contents.fetch(wanted_files[path] for path in differing if path in wanted_files)
    contents.fetch(present[path] for path in differing if path in present and path not in wanted_files)
    for path in sorted(differing):
        match paths.sort_of(path):
            case paths.PathSort.LEDGER if paths.copy_of(path) != remote.copy and path in wanted_files:
                with _noting_failure(taken_in, path):
                    files.write_over(store.home / path, contents.data(wanted_files[path]))
                    taken_in.tree[path] = wanted_files[path]
            case paths.PathSort.PROJECT if path in wanted_files:
                with _noting_failure(taken_in, path):
                    _note_project(store.home, paths.vault_of(path), contents.data(wanted_files[path]))
            case _:
                pass
    with if_free(store):
        catch_up(store)  # the ledger comes first, because it says which files are accepted
    memories = {path for path in differing if paths.sort_of(path) is paths.PathSort.MEMORY}
    _take_in_memories(
        store, contents, taken_in, {path: present.get(path, "") for path in memories}, wanted_files
    )
    _accept(store, contents)
    return taken_in


def back_again(store: Store, news: TakenIn) -> tuple[str, ...]:
    """Return the ids of memories that were forgotten and that *news* brought back, with other words."""
    arrived = {ref for ref in news.refs if id_in(ref) in news.added}
    with store.database.read() as db:
        refs = [ref for ref, _ in deeds.back_again(db, [*set(map(vault_in, arrived))])]
    return tuple(id_in(ref) for ref in refs if ref in arrived)


@contextlib.contextmanager
def _noting_failure(taken_in: TakenIn, path: str) -> Iterator[None]:
    """Note that the file at *path* stays as it is when the block fails; the next exchange tries again."""
    try:
        yield
    except (DaybookError, OSError) as error:
        taken_in.not_written[path] = str(error)


def _note_project(home: Path, key: str, data: bytes) -> None:
    """Note the name and the git remote that another machine knows of a project, where none are known."""
    if about := object_in(data):
        places.note_elsewhere(home, key, str(about.get("name", "")), str(about.get("remote", "")))


def _take_in_memories(
    store: Store, contents: Contents, taken_in: TakenIn, present: dict[str, str], wanted_files: Tree
) -> None:
    """
    Write into the vaults what *wanted_files* say of the memories *present*: path → blob here, '' for none.

    What becomes of each is added to *taken_in*.
    """
    gone_paths = {path for path, blob in present.items() if blob and path not in wanted_files}
    new_paths = {path for path, blob in present.items() if not blob and path in wanted_files}
    moves = _moves(contents, present, wanted_files, gone_paths, new_paths)
    gone_paths -= {old for old, _ in moves}
    new_paths -= {new for _, new in moves}
    stays = [(path, path) for path, blob in present.items() if blob and path in wanted_files]
    touched: dict[str, list[Path]] = defaultdict(list)
    vaults: dict[str, Vault] = {}
    for path in gone_paths:
        vault = vault_at(store.home, path)
        vaults[vault.key] = vault
        with _noting_failure(taken_in, path):
            taken_in.forgotten.append(_forget(store, contents, vault, path, present[path]))
            taken_in.tree.pop(path, None)
        touched[vault.key].append(vault.root / paths.in_vault(path))
    for old, new in [*moves, *stays]:
        vault, former = vault_at(store.home, new), vault_at(store.home, old)
        vaults |= {vault.key: vault, former.key: former}
        with _noting_failure(taken_in, new):
            memory_id = _change(store, contents, (former, old, present[old]), (vault, new, wanted_files[new]))
            taken_in.changed.append(memory_id)
            taken_in.refs.append(vault.ref(memory_id))
            taken_in.tree.pop(old, None)
            taken_in.tree[new] = wanted_files[new]
        touched[former.key].append(former.root / paths.in_vault(old))
        touched[vault.key].append(vault.root / paths.in_vault(new))
    for new_batch in batches(sorted(new_paths), BATCH):
        for path, vault in _add_many(store, contents, taken_in, new_batch, wanted_files).items():
            vaults[vault.key] = vault
            touched[vault.key].append(vault.root / paths.in_vault(path))
    for key, changed_paths in touched.items():
        for batch in batches(indexed(vaults[key], changed_paths), BATCH):
            with if_free(store):
                take_in(store, vaults[key], *batch)


def _moves(
    contents: Contents,
    present: dict[str, str],
    wanted_files: Tree,
    gone_paths: Collection[str],
    new_paths: Collection[str],
) -> list[tuple[str, str]]:
    """Return (old path, new path) of the memories that moved, changed or not."""
    if not (gone_paths and new_paths):
        return []
    before, after = (defaultdict[str, list[str]](list) for _ in range(2))
    for side, tree, into in ((gone_paths, present, before), (new_paths, wanted_files, after)):
        for path in sorted(side):
            if (memory := contents.parse(path, tree[path])) and not paths.is_candidate(path):
                into[memory.id].append(path)
    pairs = [(before[memory_id], after[memory_id]) for memory_id in before if memory_id in after]
    return [(olds[0], news[0]) for olds, news in pairs if len(olds) == len(news) == 1]


def _id_at(contents: Contents, path: str, blob: str) -> str:
    memory = contents.parse(path, blob)
    return memory.id if memory else paths.stem_of(path)


def _file(vault: Vault, path: str) -> Path:
    return confined(vault, vault.root / paths.in_vault(path))


def _add_many(
    store: Store, contents: Contents, taken_in: TakenIn, new_batch: Iterable[str], wanted_files: Tree
) -> dict[str, Vault]:
    """
    Write all new files at once; return path → vault of those that exist now.

    All are on the disk when this returns. Only then is it noted that they were taken in, so that after a kill
    the next exchange takes them again.
    """
    vaults: dict[str, Vault] = {}
    targets: dict[str, Path] = {}
    for path in new_batch:
        vault = vault_at(store.home, path)
        with _noting_failure(taken_in, path):
            targets[path], vaults[path] = _file(vault, path), vault
    for vault in {vault.key: vault for vault in vaults.values()}.values():
        if not vault.root.is_dir():
            make_vault_folders(vault)
    try:
        data = {target: contents.data(wanted_files[path]) for path, target in targets.items()}
        occupied, single = files.write_many_new(data), False
    except OSError:  # one of the files cannot be written: write each by itself
        occupied, single = set(), True
    for path, target in targets.items():
        with _noting_failure(taken_in, path):
            if single or target in occupied:
                _add(target, contents.data(wanted_files[path]))
            taken_in.added.append(_id_at(contents, path, wanted_files[path]))
            taken_in.refs.append(vaults[path].ref(taken_in.added[-1]))
            taken_in.tree[path] = wanted_files[path]
    return {path: vaults[path] for path in targets if path not in taken_in.not_written}


def _add(target: Path, data: bytes) -> None:
    """Write a new file; raises Conflict when another one has its path by now, OSError."""
    files.make_folder(target.parent)
    try:
        files.write_new(target, data)
    except FileExistsError:
        if files.read(target) != data:
            raise Conflict(f"{target} was written meanwhile.") from None


def _change(
    store: Store, contents: Contents, was: tuple[Vault, str, str], now: tuple[Vault, str, str]
) -> str:
    """Give a file the words and the path that it has on the other machine; raises Conflict."""
    (former, old, before), (vault, new, after) = was, now
    source, target, memory_id = _file(former, old), _file(vault, new), _id_at(contents, new, after)
    if old != new and former.key != vault.key:
        make_vault_folders(vault)
        history.carry(store.home, former.ref(memory_id), vault.ref(memory_id))
    ref = vault.ref(memory_id)
    files.make_folder(target.parent)
    put_bytes(
        store, vault, ref, source, contents.data(before), contents.data(after), to=target, verb=EXCHANGED
    )
    return memory_id


def _forget(store: Store, contents: Contents, vault: Vault, path: str, blob: str) -> str:
    """Move to the trash what was deleted elsewhere; raises Conflict when it was changed here."""
    source, memory_id = _file(vault, path), _id_at(contents, path, blob)
    if blob_id(files.read(source)) != blob:
        raise Conflict(f"{source} was changed meanwhile.")
    moving.move(source, path_in_trash(store, vault, source, memory_id))
    return memory_id


def _accept(store: Store, contents: Contents) -> None:
    """Note which merged bytes may be shown unasked: those made only of bytes that may be."""
    if not contents.origins_of:
        return
    with if_free(store):
        source_digests = {digest for parts in contents.origins_of.values() for digest in parts}
        with store.database.read() as db:
            accepted = usage.accepted_digests(db, source_digests)
        digests = [digest for digest, parts in contents.origins_of.items() if accepted.issuperset(parts)]
        if digests:
            store.try_record(EXCHANGED, refs=[], digests=digests)
            catch_up(store)
