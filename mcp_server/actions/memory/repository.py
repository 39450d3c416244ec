"""init, share and trust: memories inside a repository, only when the person says so."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.files.commit import new_name, one_change, one_run, relocate, write_line
from mcp_server.actions.files.read import find, read_row
from mcp_server.actions.files.sync import catch_up_if_free, sync, sync_if_free
from mcp_server.actions.files.trash import same_places
from mcp_server.actions.memory.remember import supersede
from mcp_server.actions.memory.revise import take_over
from mcp_server.adapters import files, git, moving, places
from mcp_server.adapters.git import GitTrouble
from mcp_server.adapters.index.events import deeds, usage
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.project import worktree_around
from mcp_server.adapters.vault import Vault, make_vault_folders, stamps
from mcp_server.core.batches import batches
from mcp_server.core.errors import Rejected, Unreadable, all_or_none
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.provenance.provenance import ACCEPTED_AS, SEEDED
from mcp_server.store import Store

AT_ONCE = 500  # memories kept by one event, whose length is limited
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

    The project's private knowledge moves there; memories that wait for the person's word go on waiting.
    Raises Rejected outside a project.
    """
    vault = _vault(store)
    sync(store)
    waiting_paths = {row.path for row in [*untrusted(store), *_said_alone(store)]}
    make_vault_folders(vault)
    ignore = vault.root / ".gitignore"
    if not ignore.exists():
        files.write_new(ignore, IGNORE_ALL.encode())
    assert store.project
    places.note_project(store.home, store.project, adopt=vault.root)
    private = store.vault(store.project.key)
    with store.database.read() as db:
        ids = selections.ids_of(db, store.project.key)
    moves: dict[Path, Path] = {}
    if private:
        paths = [Path(stamp.path) for stamp in stamps(private)]
        knowledge_paths = [
            path for path in paths if path.is_relative_to(private.root / Kind.KNOWLEDGE.folder)
        ]
        moves = {path: vault.root / path.relative_to(private.root) for path in knowledge_paths}
        moves = {path: target for path, target in moves.items() if moving.is_free(path, target)}
        # First what the person accepted: after a kill in between the next call moves the files.
        for path in moves:
            if str(path) not in waiting_paths:
                ref = private.ref(ids.get(str(path), path.stem))
                digest = files.digest(files.read(path))
                store.record("accepted", refs=[ref], digests=[digest])
        relocate(store, private, vault, moves, ids=ids)
    sync_if_free(store, vaults=[*([private] if private else []), vault])
    return Initialised(vault.root, len(moves), files.read(ignore) == IGNORE_ALL.encode())


@dataclass(frozen=True, slots=True)
class Left:
    """Where the memories are now, how many moved, the ids of those that stay, and whether git saw them."""

    root: Path
    moved: int
    stay: tuple[str, ...]
    shared: bool


def is_there(store: Store) -> bool:
    """Tell whether the project keeps its knowledge in its repository; raises Rejected outside a project."""
    return _vault(store).adopted


def leave(store: Store) -> Left:
    """
    Take the project's knowledge out of its repository again, where `init` put it.

    What others wrote and the person did not accept stays, and is only read from now on, as does a file whose
    name another one has in the private vault. Raises Rejected outside a project, OSError; what moved until
    then stays moved, and the next call continues. A folder that holds nothing any more is deleted.
    """
    vault = _vault(store)
    assert store.project
    sync(store)
    private = next(known for known in store.vaults if known.key == store.project.key)
    make_vault_folders(private)
    shared = is_shared(vault)
    with store.database.read() as db:
        ids = selections.ids_of(db, vault.key)
        rows = [row for name in ids.values() if (row := selections.with_ref(db, vault.ref(name)))]
        accepted = usage.accepted_digests(db, [row.digest for row in rows])
        own = [row for row in rows if row.digest in accepted or deeds.is_as_written(db, row.ref, row.digest)]
    for row in own:
        if row.digest in accepted and row.source in ACCEPTED_AS and row.status is Status.ACTIVE:
            # Outside of a repository its source says that the person accepted it.
            take_over(store, row.id, row.source, version=row.digest)
    moves = {Path(row.path): private.root / Path(row.path).relative_to(vault.root) for row in own}
    moves = {path: target for path, target in moves.items() if moving.is_free(path, target)}
    trash, goal = (places.trash_folder(store.home, place) for place in (vault, private))
    relocate(store, vault, private, moves | same_places(trash, goal), ids=ids)
    places.note_left(store.home, store.project, vault.root)
    sync_if_free(store, vaults=[private, vault])
    _clear(vault.root)
    stay = tuple(memory_id for path, memory_id in ids.items() if Path(path) not in moves)
    return Left(private.root, len(moves), stay, shared)


def _clear(root: Path) -> None:
    """Delete the vault's folder *root* in the repository where only Daybook's own files are left in it."""
    ignore = root / ".gitignore"
    rest = [path for path in root.rglob("*") if path.is_symlink() or not path.is_dir()]
    if any(path != ignore and path.name != files.LOCK_NAME for path in rest):
        return
    with contextlib.suppress(OSError, Unreadable):  # it is only untidy when it stays
        if files.read(ignore) not in (IGNORE_ALL.encode(), IGNORE_ALL_BUT_KNOWLEDGE.encode()):
            return
        for path in rest:
            path.unlink(missing_ok=True)
        for folder, _, _ in os.walk(root, topdown=False):
            os.rmdir(folder)


def is_in_git(store: Store) -> bool:
    """Tell whether the project is a git repository: a folder without git may keep its knowledge, too."""
    return store.project is not None and worktree_around(store.project.root) is not None


def share(store: Store) -> Path:
    """Let git see `knowledge/` of the vault in the repository; return the `.gitignore` that says so."""
    vault = _vault(store)
    ignore = vault.root / ".gitignore"
    if not ignore.exists():
        raise Rejected(
            "This project keeps no memories in its repository.", "Run 'daybook init --repository' first."
        )
    text = files.read(ignore)
    if text == IGNORE_ALL.encode():
        files.replace(ignore, IGNORE_ALL_BUT_KNOWLEDGE.encode(), expected=files.digest(text))
    return ignore


def is_shared(vault: Vault) -> bool:
    """Tell whether git sees the memories of *vault*: it is in a repository and was shared."""
    ignore = vault.root / ".gitignore"
    try:
        return vault.in_repository and files.read(ignore) != IGNORE_ALL.encode()
    except FileNotFoundError:
        return True


def untrusted(store: Store) -> list[Row]:
    """Return the memories that are not shown unasked until the person accepts them."""
    with store.database.read() as db:
        return selections.not_accepted(db, store.own, store.shared)


def from_documents(store: Store) -> list[Row]:
    """Return the memories made of documents (`seed`, `bootstrap`), not shown unasked until accepted."""
    return [row for row in _said_alone(store) if row.source == SEEDED]


def _said_alone(store: Store) -> list[Row]:
    with store.database.read() as db:
        return selections.searched_alone(db, store.private)


def trust(store: Store, memory_ids: Sequence[str] | None = None) -> list[Row]:
    """
    Accept memories as they are now, those with the ids given or, with None, all of `untrusted`; return them.

    With None the files of this repository count as the person's own from now on, too.
    A file that changes afterwards waits again. A memory from a program or a document counts as taken over by
    the person. Raises NotFound for an id that no memory has, Conflict when a file changes meanwhile.
    """
    sync(store)
    refs = {row.ref for row in all_or_none(memory_ids or (), lambda memory_id: find(store, memory_id))}
    rows = [row for row in untrusted(store) if memory_ids is None or row.ref in refs]
    alone = [row for row in _said_alone(store) if row.ref in refs]
    if memory_ids is None and store.project:
        places.note_accepted(store.home, store.project)
    accept(store, [*rows, *alone])
    return [*rows, *alone]


@one_run()
def accept(store: Store, rows: Sequence[Row]) -> None:
    """
    Accept the very bytes that the index has as *rows*.

    A memory from a program or a document counts as taken over by the person, and one that Claude stored
    supersedes what it names: one change for each. Raises Conflict when such a file changed meanwhile,
    NotFound.
    """
    changes = [(row, new_name()) for row in rows]
    for row, change in changes:
        with one_change(change):
            if row.source in ACCEPTED_AS and row.vault in store.private:
                take_over(store.only(row.vault), row.id, row.source, version=row.digest)
            else:
                write_line(store, "accepted", refs=[row.ref], digests=[row.digest])
            keep(store, [row.ref])
    catch_up_if_free(store)
    for row, change in changes:
        if row.vault in store.private:
            with one_change(change):
                supersede(store, read_row(store, row))  # while it waited it superseded none


def keep(store: Store, refs: Sequence[str]) -> None:
    """Note that the person wants *refs* kept: they no longer age. Raises OSError."""
    for batch in batches(refs, AT_ONCE):
        write_line(store, "approved", refs=batch)


def refused(store: Store) -> Rejected | None:
    """Return why the vault in the repository is neither read nor written, None when nothing is wrong."""
    link = places.linked(store.project.root / places.REPOSITORY_FOLDER) if store.project else None
    if not link:
        return None
    return Rejected(
        f"{link} is a symbolic link, so it is neither read nor written.",
        "Replace it with a real folder, or delete it.",
    )


def git_trouble(store: Store, folder: Path) -> GitTrouble | None:
    """Return why git may not be run in the repository around *folder*; None when it may or there is none."""
    return git.trouble(store.git, folder) if git.git_state(folder) else None


def _vault(store: Store) -> Vault:
    if not store.project:
        raise Rejected("This folder belongs to no project.", "Go into the project's folder and run it again.")
    if refusal := refused(store):
        raise refusal
    return places.repository_vault(store.home, store.project)
