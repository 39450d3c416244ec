"""
exchange: send this machine's memories to the person's other machines, and take in theirs.

First the files are committed, then the remote's commits are merged and the result is pushed, then the files
are changed to the result. A kill at any point loses nothing: each step starts from the disk and the
repository, and the next exchange does what is missing.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mcp_server.actions.remote.commits import (
    Changes,
    came_back,
    changes_of,
    commit_of,
    cut_history,
    message_of,
    waiting,
    without_past,
)
from mcp_server.actions.remote.emptied import bring_back, has_all_given, lost_a_ledger
from mcp_server.actions.remote.merged_files import Contents
from mcp_server.actions.remote.store_tree import (
    MOST_LEDGER,
    POSITIONS,
    Disk,
    read_memories,
    read_other_ledgers,
    read_own_ledger,
)
from mcp_server.actions.remote.take_in import back_again, take_in_tree
from mcp_server.adapters import files
from mcp_server.adapters.remote import notes
from mcp_server.adapters.remote.notes import Last, Remote
from mcp_server.adapters.remote.repository import DISK, HEAD, STALE, THEIRS, Blob, Commit, Repository
from mcp_server.core.addresses import shown_url
from mcp_server.core.authors import ELSEWHERE
from mcp_server.core.errors import DaybookError, Rejected, RemoteRefuses, RemoteUnavailable
from mcp_server.core.memory_parts import timestamp
from mcp_server.core.remote import paths
from mcp_server.core.remote.tree_merge import merge_trees
from mcp_server.core.render import bytes_of
from mcp_server.store import Store

LOCK = ".exchange.lock"
ROUNDS = 8  # attempts to push: each failed because another machine was faster
BACKGROUND = 60.0  # seconds that the remote may take for one step in the background
REWRITTEN = "Stands for"  # begins the message of a commit that replaces a history, before its last commit
LOOSE = 2000  # objects in files of their own after which they are packed
MOST = {
    paths.PathSort.MEMORY: files.MAX_MEMORY_FILE,
    paths.PathSort.LEDGER: MOST_LEDGER,
    paths.PathSort.PROJECT: 64 * 1024,
}
"""The most bytes of each sort of file that are taken from a remote."""
MOST_TOGETHER = 1_000_000_000  # bytes of all files of a remote: a merge holds them in memory


@dataclass(slots=True)
class Exchanged:
    """
    What an exchange did: how many files were sent, or wait in case of `trouble`; the ids of what arrived.

    `clashes` is id → id of the memory beside it with the other machine's words. `held` is path → why the
    file does not leave, `left` path → why it could not be written here. `trouble` says why the remote could
    not be reached and what to do, '' if it was; what is here waits. `refused`: it was, and refuses us.
    `rewritten`: another machine took out its history. `refilled`: the remote had been emptied, and has
    everything again. `back` are the ids of memories that were forgotten here and came with other words.
    """

    given: int = 0
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    clashes: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    trouble: str = ""
    refused: bool = False
    rewritten: bool = False
    refilled: bool = False
    back: tuple[str, ...] = ()


def repository_of(store: Store) -> Repository:
    """Return the repository of *store*, whether or not it is made."""
    around = store.project.root if store.project else store.home
    return Repository(store.home / notes.FOLDER / notes.REPOSITORY, store.git, around)


def remote_of(store: Store) -> Remote:
    """Return the remote of *store*; raises Rejected without one."""
    remote = notes.remote_of(store.home)
    if remote is None:
        raise Rejected("This store has no remote.", "Add one with 'daybook remote add URL'.")
    return remote


@contextlib.contextmanager
def alone(store: Store, *, patience: float) -> Iterator[None]:
    """
    Hold the lock of exchanges while the block runs; raises Held after *patience* seconds.

    A git of an exchange that was killed holds it, too, while it goes on writing into the repository.
    """
    files.make_folder(store.home / notes.FOLDER)
    with files.lock(store.home / notes.FOLDER / LOCK, patience=patience, handed_on=True):
        yield


def exchange(store: Store, *, timeout: float = BACKGROUND, patience: float = 0.0) -> Exchanged:
    """
    Exchange once; a remote that cannot be reached is no error: the answer says so.

    *timeout* is the time that the remote may take for one step, *patience* how long to wait for another
    exchange, both in seconds. Raises Rejected without a remote, Held, RemoteUnavailable when our own
    repository fails.
    """
    remote = remote_of(store)
    with alone(store, patience=patience):
        notes.note_begun(store.home)
        before = notes.last_of(store.home)
        try:
            result = _exchange(store, remote, timeout)
        except DaybookError as error:
            notes.note_last(store.home, replace(before, trouble=error.with_hint))
            raise
        at = before.at if result.trouble else timestamp(store.clock())
        refusals = before.refusals + 1 if result.refused else 0
        notes.note_last(store.home, Last(at, result.trouble, tuple(sorted(result.held.items())), refusals))
    return result


def _exchange(store: Store, remote: Remote, timeout: float) -> Exchanged:
    forever = store.home / notes.FOLDER / notes.FOREVER
    cuts = forever.exists()
    repository = repository_of(store)
    repository.make()
    repository.clear_locks()
    contents, result = Contents(repository, store.clock()), Exchanged()
    disk = commit_disk(store, remote, repository, contents, result)
    result.given = waiting(repository)
    try:
        _give_and_take(store, remote.url, repository, contents, result, timeout)
    except RemoteUnavailable as error:
        result.trouble, result.refused = error.with_hint, isinstance(error, RemoteRefuses)
    goal = _of_ours(repository.tree(repository.ref(HEAD)))
    news = take_in_tree(store.acting_as(ELSEWHERE), remote, contents, disk, goal)
    if written := changes_of(disk.tree, news.tree):
        repository.commit(_disk_commit(store, repository, written, {}))
    if news.refs:
        notes.note_came(store.home, news.refs, store.now())
    result.added, result.changed, result.forgotten = map(tuple, (news.added, news.changed, news.forgotten))
    result.back = back_again(store, news)
    result.held, result.left = disk.held_back, news.not_written
    if not result.trouble and (cuts or result.rewritten or came_back(repository)):
        cut_history(store, repository)
        forever.unlink(missing_ok=True)
    elif repository.objects() > LOOSE:
        repository.pack()
    return result


def commit_disk(
    store: Store, remote: Remote, repository: Repository, contents: Contents, result: Exchanged
) -> Disk:
    """Commit the files, merged with what came from other machines since they were read last."""
    head, last = repository.ref(HEAD), repository.ref(DISK)
    disk_blobs, had = repository.tree(last), _of_ours(repository.tree(head))
    last_tree = _of_ours(disk_blobs) if head else {}  # without a head it does not show what was deleted
    positions = _positions(repository, disk_blobs)
    disk = Disk(positions={**positions})
    own = {
        path: blob
        for path, blob in had.items()
        if paths.sort_of(path) is paths.PathSort.LEDGER and paths.copy_of(path) == remote.copy
    }
    data = repository.data(own.values())
    read_own_ledger(store, remote, disk, {path: data[blob] for path, blob in own.items()}, last_tree)
    read_other_ledgers(store, remote, disk, last_tree)
    # The ledger is read first: a line about what was moved meanwhile is new once more at the next exchange.
    read_memories(store, remote, disk, last_tree)
    contents.new |= disk.new
    bring_back(store, disk, contents, last_tree, positions)
    merged = merge_trees(last_tree, disk.tree, had, contents.files())
    result.clashes |= merged.clashes
    if changes := changes_of(had, merged.files):
        parents = [head] if head else []
        repository.commit(commit_of(store, HEAD, parents, changes, contents.new, message_of(changes)))
    # HEAD first: a change that only DISK has looks to the next exchange as if others had taken it back.
    if changed := changes_of(last_tree, disk.tree):
        # Every file's bytes as they were read: the base of its next change.
        changed[0][POSITIONS] = contents.keep(json.dumps(disk.positions, sort_keys=True).encode())
        repository.commit(_disk_commit(store, repository, changed, contents.new))
    return disk


def _give_and_take(
    store: Store, url: str, repository: Repository, contents: Contents, result: Exchanged, timeout: float
) -> None:
    """Merge the remote's commit with the one made here, and push the result."""
    for _ in range(ROUNDS):
        theirs = repository.fetch(url, timeout=timeout)
        former, head = repository.ref(THEIRS), repository.ref(HEAD)
        if theirs and not former:
            _check_is_a_memory(repository, url, theirs)
        if theirs and not (head and repository.is_ancestor(theirs, head)):
            _check_weight(repository.tree(theirs))
            _merge(store, repository, contents, result, (former, head, theirs))
            head = repository.ref(HEAD)
        if theirs:
            repository.set_ref(THEIRS, theirs)
        if not head or head == theirs:
            return
        result.refilled |= bool(former and not theirs)
        if not theirs and repository.cuts():  # git gives an empty remote no history that was cut
            head = without_past(store, repository, head, "Begin anew")
            repository.set_ref(HEAD, head)
        if repository.push(url, head, timeout=timeout):
            repository.set_ref(THEIRS, head)
            return
    raise slower(repository, url)


def slower(repository: Repository, url: str) -> RemoteUnavailable:
    """Return why nothing could be pushed, although the remote can be reached."""
    sentence = "Other machines change the remote faster than this one can write to it."
    if repository.is_locked(url):
        sentence = (
            "Another program writes to the remote just now, or was killed while it did:"
            f" then its lock is taken away after {STALE / 60:.0f} minutes."
        )
    return RemoteUnavailable(sentence, "Nothing is lost. Try again later.")


def _check_is_a_memory(repository: Repository, url: str, theirs: str) -> None:
    """Raise RemoteUnavailable when the commit *theirs* of the remote has files, and none of them is ours."""
    tree = repository.tree(theirs)
    if tree and not any(map(paths.sort_of, tree)):
        raise RemoteUnavailable(f"{shown_url(url)} holds something else: the file {min(tree)}.")


def _check_weight(theirs: dict[str, Blob]) -> None:
    """Raise RemoteUnavailable when our files of the remote's tree are more than a machine should take."""
    size = sum(theirs[path].size for path in _of_ours(theirs))
    if size > MOST_TOGETHER:
        raise RemoteUnavailable(
            f"The remote holds {bytes_of(size)}; {bytes_of(MOST_TOGETHER)} is the most that is taken in.",
            "Look at what lies there; without '--conversations' much less leaves a machine.",
        )


def _merge(
    store: Store, repository: Repository, contents: Contents, result: Exchanged, heads: tuple[str, str, str]
) -> None:
    """
    Merge the remote's commit; *heads* are the one merged last, the one made here, and the remote's.

    If they have no common ancestor because another machine removed the history, the base is the one merged
    last: the new history has its files, and what was changed since. An earlier one from a backup has not.
    """
    former, head, theirs = heads
    base = repository.merge_base(head, theirs) if head else ""
    emptied = lost_a_ledger(repository, base, theirs)
    if not head or (base == head and not emptied):
        repository.set_ref(HEAD, theirs)
        return
    apart = not base
    rewritten = (
        apart
        and any(repository.message(root).startswith(REWRITTEN) for root in repository.roots(theirs))
        and has_all_given(repository, former, theirs, remote_of(store).copy)
    )
    if rewritten:
        base = former
    was, ours, other = (_of_ours(repository.tree(commit)) for commit in (base, head, theirs))
    contents.fetch({blob for tree in (ours, other) for path, blob in tree.items() if was.get(path) != blob})
    contents.fetch({blob for path, blob in was.items() if ours.get(path) != blob or other.get(path) != blob})
    merged = merge_trees(was, ours, {**was, **other} if emptied else other, contents.files())
    result.clashes |= merged.clashes
    changes = changes_of(other, merged.files)
    if rewritten and not changes:
        repository.set_ref(HEAD, theirs)
    else:
        # A history that was removed, there or here, must not come back as the past of this commit.
        parents = [theirs] if rewritten or (apart and repository.cuts()) else [theirs, head]
        repository.commit(commit_of(store, HEAD, parents, changes, contents.new, "Join two machines"))
    result.rewritten |= rewritten
    result.refilled |= emptied


def _disk_commit(store: Store, repository: Repository, changes: Changes, new: dict[str, bytes]) -> Commit:
    """Return the commit to DISK of what the files say, with the *new* contents by their ids."""
    last = repository.ref(DISK)
    return commit_of(store, DISK, [last] if last else [], changes, new, "Note what the files say")


def _positions(repository: Repository, blobs: dict[str, Blob]) -> dict[str, int]:
    if POSITIONS not in blobs:
        return {}
    positions = json.loads(repository.data([blobs[POSITIONS].id])[blobs[POSITIONS].id])
    return {str(name): int(end) for name, end in positions.items()}


def _of_ours(tree: dict[str, Blob]) -> dict[str, str]:
    """Return path → id of our files that are not too large; everything else stays in the remote."""
    return {
        path: blob.id
        for path, blob in tree.items()
        if (sort := paths.sort_of(path)) is not None and blob.size <= MOST[sort]
    }
