"""
emptied: tell a folder whose memories were moved or forgotten from one that vanished.

A disk that is not connected, a folder that was deleted as a whole, and a remote that somebody emptied must
delete no memories on the other machines. The ledger has what Daybook did since the files were read last.
"""

from collections.abc import Iterator, Mapping

from mcp_server.actions.remote.merged_files import Contents
from mcp_server.actions.remote.store_tree import Disk, own_ledger
from mcp_server.adapters.index.events import a_list, moves
from mcp_server.adapters.ledger import Event, read_events
from mcp_server.adapters.remote.repository import Repository
from mcp_server.core.memory_parts import id_in
from mcp_server.core.remote import paths
from mcp_server.core.remote.tree_merge import Tree
from mcp_server.core.runs import PLACE, change_of
from mcp_server.store import Store

FEW = 5  # so many files missing at once from a folder count as deleted by the person
_MOVES = moves.ALSO | {row.name for row in moves.EVENTS}


def bring_back(
    store: Store, disk: Disk, contents: Contents, last_tree: Tree, positions: Mapping[str, int]
) -> None:
    """
    Put those files of `disk.emptied` that vanished into the tree of *disk*, and among those that come back.

    *last_tree* is the tree when the files were read last, *positions* how far the ledger was read then.
    """
    if not disk.emptied:
        return
    contents.fetch(last_tree[path] for lost_paths in disk.emptied.values() for path in lost_paths)
    taken_away = {*_new_ids(disk, contents, last_tree), *_removed(store, positions)}
    for lost_paths in disk.emptied.values():
        vanished = [path for path in lost_paths if taken_away.isdisjoint(_names(contents, path, last_tree))]
        if len(vanished) > FEW:
            disk.tree |= {path: last_tree[path] for path in vanished}
            disk.back.update(vanished)


def _names(contents: Contents, path: str, tree: Tree) -> set[str]:
    """Return the id of the memory at *path*, and what its file is called."""
    memory = contents.parse(path, tree[path])
    return {paths.stem_of(path), *([memory.id] if memory else [])}


def _new_ids(disk: Disk, contents: Contents, last_tree: Tree) -> Iterator[str]:
    """Yield the ids of the memories that lie where none lay: they were moved there, or are new."""
    for path in disk.tree.keys() - last_tree.keys():
        if paths.sort_of(path) is paths.PathSort.MEMORY and (memory := contents.parse(path, disk.tree[path])):
            yield memory.id


def _removed(store: Store, positions: Mapping[str, int]) -> Iterator[str]:
    """Yield the names of what Daybook moved or deleted after *positions*, as `_names` has them."""
    for file in own_ledger(store):
        for event, _ in read_events(file, positions.get(file.name, 0)):
            yield from _removed_by(event)


def _removed_by(event: Event) -> Iterator[str]:
    """Yield the names of what *event* says was moved or deleted."""
    refs = [*a_list(event.data.get("candidates"))]
    for effect in a_list(event.data.get("files")):
        match effect:
            case [str(ref), str(before), _, str(after), *_] if before and before != after:
                yield paths.stem_of(before)
                refs.append(ref)
    for change in filter(None, map(change_of, a_list(event.data.get("changes")))):
        if change.was.get(PLACE) != change.now.get(PLACE):
            refs.append(change.ref)
    if event.event in _MOVES:
        refs += a_list(event.data.get("from"))
    if event.data.get("forever"):
        refs += a_list(event.data.get("refs"))
    yield from (id_in(str(ref)) for ref in refs)


def lost_a_ledger(repository: Repository, base: str, theirs: str) -> bool:
    """
    Tell whether a ledger of the commit *base* is missing in the remote's commit *theirs*.

    No machine deletes one, so somebody else did, and what is missing beside it was not forgotten either.
    """
    tree = repository.tree(theirs)
    return any(
        paths.sort_of(path) is paths.PathSort.LEDGER and path not in tree for path in repository.tree(base)
    )


def has_all_given(repository: Repository, former: str, theirs: str, copy: str) -> bool:
    """
    Tell whether the remote's commit *theirs* has all that the machine of *copy* had given it in *former*.

    One that has not comes from a backup: what it lacks was not forgotten.
    """
    tree = repository.tree(theirs)
    return all(
        tree.get(path) == blob
        for path, blob in repository.tree(former).items()
        if paths.sort_of(path) is paths.PathSort.LEDGER and paths.copy_of(path) == copy
    )
