"""commits: record changes in our repository, and remove its history."""

from mcp_server.adapters.remote.repository import DISK, FETCHED, HEAD, THEIRS, Commit, Repository
from mcp_server.core.remote.tree_merge import Tree
from mcp_server.store import Store

ALONE = "refs/daybook/alone"  # for a moment: a commit without a past

Changes = tuple[dict[str, str], set[str]]
"""The paths that changed, with their new ids, and the paths that are gone."""


def changes_of(old: Tree, new: Tree) -> Changes | tuple[()]:
    """Return the changes that turn *old* into *new*; () for none."""
    changed = {path: blob for path, blob in new.items() if old.get(path) != blob}
    deleted = {path for path in old if path not in new}
    return (changed, deleted) if changed or deleted else ()


def waiting(repository: Repository) -> int:
    """Return how many files differ between what is committed here and the remote as it was seen last."""
    trees = (repository.tree(repository.ref(ref)) for ref in (THEIRS, HEAD))
    theirs, ours = ({path: blob.id for path, blob in tree.items()} for tree in trees)
    changes = changes_of(theirs, ours)
    return len(changes[0]) + len(changes[1]) if changes else 0


def message_of(changes: Changes) -> str:
    """Return the message of a commit that makes *changes*."""
    changed, deleted = changes
    return f"{len(changed)} changed, {len(deleted)} gone"


def commit_of(
    store: Store,
    ref: str,
    parents: list[str],
    changes: Changes | tuple[()],
    new: dict[str, bytes],
    message: str,
) -> Commit:
    """
    Return the commit that makes *changes* to the first of *parents*, and set *ref* to it.

    *new* has the bytes of ids that the repository may not have yet; what *changes* do not name stays out.
    """
    changed, deleted = changes or ({}, set())
    blobs = {*changed.values()}
    return Commit(
        ref=ref,
        parents=parents,
        changed=changed,
        deleted=deleted,
        new={blob: data for blob, data in new.items() if blob in blobs},
        message=message,
        at=store.clock(),
    )


def cut_history(store: Store, repository: Repository) -> None:
    """Forget what the repository here had before now: what was deleted for good leaves no byte in it."""
    head, last = repository.ref(HEAD), repository.ref(DISK)
    if last:
        repository.set_ref(DISK, without_past(store, repository, last, "Note what the files say"))
        repository.drop(ALONE)
    if head:
        repository.set_ref(THEIRS, head)
        repository.drop(FETCHED)
        repository.cut_before(head)


def came_back(repository: Repository) -> bool:
    """Tell whether a part of the history that was cut here came with what another machine committed."""
    cuts, head = repository.cuts(), repository.ref(HEAD)
    return bool(cuts and head and repository.roots(head) - cuts)


def without_past(store: Store, repository: Repository, commit: str, message: str) -> str:
    """Return a new commit without parents that has the files of *commit*."""
    tree = {path: blob.id for path, blob in repository.tree(commit).items()}
    repository.drop(ALONE)
    repository.commit(commit_of(store, ALONE, [], (tree, set()), {}, message))
    return repository.ref(ALONE)
