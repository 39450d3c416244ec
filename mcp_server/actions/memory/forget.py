"""
forget and restore: move a memory to the trash, and back.

Forgetting moves the file to `trash/<vault>/` under the path it had; restoring moves it back.
A memory in the archive comes back the same way. Forgetting for good leaves no byte of the text.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_server.actions.context.claude_md import refresh
from mcp_server.actions.files.accepted import last_accepted, taken_away
from mcp_server.actions.files.commit import check_ours, commit, create, move, one_change, put_bytes, tell
from mcp_server.actions.files.load import MemoryFile, load, parsed
from mcp_server.actions.files.read import find, is_accepted, read
from mcp_server.actions.files.shadows import covered_by, uncovered
from mcp_server.actions.files.sync import catch_up_if_free, if_free
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.files.trash import CANDIDATES, in_trash, path_in_trash
from mcp_server.actions.memory.remember import reinstate, still_superseded
from mcp_server.adapters import files, history, leftovers, memory_file, moving, places
from mcp_server.adapters.index.database import erase
from mcp_server.adapters.index.events import deeds, transcripts
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.remote import notes
from mcp_server.adapters.vault import Vault, confined, is_memory_name, kept_path, make_vault_folders, stamps
from mcp_server.core.addresses import shown_url
from mcp_server.core.errors import (
    DaybookError,
    Held,
    IndexUnavailable,
    NotFound,
    PlaceTaken,
    Rejected,
    Unreadable,
)
from mcp_server.core.memory_parts import ARCHIVE_FOLDER, Kind, Status, fingerprint, typed_id
from mcp_server.core.remarks import BlockBehind, WordsRemain
from mcp_server.store import Store

AWAY = (Status.ARCHIVED, Status.ORPHANED)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """
    What was forgotten: the id, and the file's path in the trash; None when it is deleted for good.

    `superseded` are the memories that it had superseded: they stay superseded until they are restored.
    `heirs` are those into which it was merged: they go on saying what it said.
    `uncovered` are those of the person that it had shadowed in this project: they hold here again.
    `remote` is the address of the person's remote, which still has what was deleted for good.
    """

    id: str
    path: Path | None
    superseded: tuple[str, ...] = ()
    heirs: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    remote: str = ""


def forget(store: Store, memory_id: str, *, forever: bool = False) -> Forgotten:
    """
    Move a memory to the trash, or with *forever* delete it, its copies in the trash, its history, its index
    rows and its line in this project's managed block.

    Raises NotFound, OSError.
    """
    try:
        row = find(store, memory_id)
    except NotFound:
        memory_name = typed_id(memory_id)
        trashed = list(in_trash(store, memory_name))
        if not (forever and trashed):
            raise
        refs = {vault.ref(memory_name) for vault, _ in trashed}
        _delete(_and_proposed(store, refs, (path for _, path in trashed)))
        heirs = [
            heir
            for vault in {vault.key: vault for vault, _ in trashed}.values()
            for heir in _erase_history(store, vault, memory_name)
        ]
        store.try_record("forgotten", refs=sorted(refs), forever=True)
        _leave_no_trace(store)
        return Forgotten(memory_name, None, heirs=tuple(heirs), remote=_still_held(store))
    return _forget(store, row, forever=forever)


def to_trash(store: Store, row: Row) -> Forgotten:
    """Move to the trash the very memory that the index has as *row*; raises OSError."""
    return _forget(store, row, forever=False)


def _forget(store: Store, row: Row, *, forever: bool) -> Forgotten:
    """Move the memory of *row* to the trash, or delete it with its history *forever*."""
    vault = store.vault(row.vault)
    assert vault
    check_ours(vault, row.id)
    path = confined(vault, Path(row.path))
    superseded, covered = still_superseded(store, row.id), covered_by(store, [row.ref])
    target, heirs = None, list[str]()
    if forever:
        # The file itself last: a process that is killed before leaves it.
        paths = [*(trashed for _, trashed in in_trash(store, row.id)), path]
        _delete(_and_proposed(store, [row.ref], paths))
        heirs = _erase_history(store, vault, row.id)
        store.try_record("forgotten", refs=[row.ref], forever=True)
    else:
        target = path_in_trash(store, vault, path, row.id)
        detail = {} if path.name == f"{row.id}.md" else {"name": path.name}  # it may be named after its title
        move(store, vault, row.ref, path, target, "forgotten", forever=False, **detail)
    with if_free(store):
        if row.kind is Kind.CONVERSATION:
            _unlearned_is_never_sent(store, row.session)
        if forever:
            take_in(store, vault, path)
    if forever:
        _leave_no_trace(store)
    back = uncovered(store, covered)
    remote = _still_held(store) if forever else ""
    return Forgotten(row.id, target, superseded, tuple(heirs), back, remote)


def _still_held(store: Store) -> str:
    """Let the next exchange take out of our repository what was deleted; return the remote's address."""
    notes.note_forever(store.home)
    remote = notes.remote_of(store.home)
    return shown_url(remote.url) if remote else ""


def _leave_no_trace(store: Store) -> None:
    """Erase deleted texts from the index and the block in CLAUDE.md; the answer says if that must wait."""
    try:
        store.database.require()
        erase.erase_traces(store.database)
    except IndexUnavailable as error:
        store.database.trouble.remark(WordsRemain(str(error)))
    try:
        refresh(store)
    except (Held, IndexUnavailable) as error:
        store.database.trouble.remark(BlockBehind(str(error)))


def _unlearned_is_never_sent(store: Store, session: str) -> None:
    """Note the unread turns of a forgotten *session* as learned, so that no model reads them later."""
    with store.database.read() as db:
        unlearned = transcripts.unlearned(db, paid=False)
    for transcript in [entry for entry in unlearned if entry.session == session]:
        store.try_record("transcript_learned", path=transcript.path, session=session, end=transcript.kept)
    catch_up_if_free(store)


@one_change()
def restore(store: Store, memory_id: str) -> MemoryFile:
    """
    Bring a memory back from the trash or the archive, and return it: it is active, and its file says so.

    A superseded memory is active again beside its successor, if that still exists. A repository's memory that
    was changed or deleted there comes back as the person accepted it.
    Raises NotFound, Rejected when it is active already or its place is taken, and Unreadable when its file is
    back and cannot be read.
    """
    memory_name = typed_id(memory_id)
    for vault, path in in_trash(store, memory_name):
        # A file without a title has that of its name, which was another before it came into the trash.
        name = _name_of(store, vault, memory_name)
        place = path.relative_to(places.trash_folder(store.home, vault)).with_name(name).as_posix()
        try:
            file = load(vault, path, place=place)
        except FileNotFoundError:  # another process brought it back, or deleted it, at this moment
            continue
        except Unreadable as error:  # move it as it is
            target = confined(vault, vault.root / place)
            move(store, vault, vault.ref(memory_name), path, target, "restored")
            raise type(error)(str(target), error.line, f"was restored, and {error.reason}") from error
        file = replace(file, memory=replace(file.memory, id=memory_name))  # the name there may have a number
        target = kept_path(vault, file.memory.kind, place=place)
        return _reinstated(store, _move_back(store, file, target))
    try:
        file = read(store, memory_name)
    except NotFound:
        if restored := _from_history(store, memory_name):
            return restored
        raise
    if accepted := _as_accepted(store, file):
        return accepted
    back = _reinstated(store, file)
    return back if back is not file and not in_archive(back) else unarchive(store, back)


def unarchive(store: Store, file: MemoryFile) -> MemoryFile:
    """Bring a memory back from the archive; raises Rejected when it is not there or its place is taken."""
    if file.memory.status is Status.ACTIVE and not in_archive(file):
        raise Rejected(f"'{file.memory.id}' is already active.", "Read it with 'daybook read'.")
    target = file.path
    if in_archive(file):
        target = kept_path(file.vault, file.memory.kind, place=file.place)
    return _move_back(store, file, target)


def _from_history(store: Store, memory_id: str) -> MemoryFile | None:
    """Write back the accepted version of a memory that a pull deleted from the repository; else None."""
    accepted = taken_away(store, memory_id)
    if accepted is None:
        return None
    vault, data = accepted[0], files.read(accepted[1].path)
    path = vault.path_for(memory_id, Kind.KNOWLEDGE)
    memory = replace(parsed(vault, path, data), id=memory_id)
    make_vault_folders(vault)
    try:
        return create(store, vault, path, memory, data=data, accept=True, event="restored")
    except FileExistsError:
        raise PlaceTaken(path) from None


def _as_accepted(store: Store, file: MemoryFile) -> MemoryFile | None:
    """Restore a changed file of the repository to the version that the person accepted; None without one."""
    version = last_accepted(store, file.ref) if file.vault.in_repository else None
    if not version or is_accepted(store, file):
        return None
    data = files.read(version.path)
    put_bytes(store, file.vault, file.ref, file.path, file.data, data, verb="restored")
    now = load(file.vault, file.path)
    tell(store, "restored", file, now, accept=True)
    return now


def _name_of(store: Store, vault: Vault, memory_id: str) -> str:
    """Return the name of a memory's file when it was last forgotten."""
    catch_up_if_free(store)
    with store.database.read() as db:
        forgettings = deeds.listed(db, ref=vault.ref(memory_id), events=["forgotten"], limit=1)
    name = str(forgettings[0].detail.get("name", "")) if forgettings else ""
    return name if is_memory_name(name) and "/" not in name else f"{memory_id}.md"


def is_put_away(file: MemoryFile) -> bool:
    """Tell whether a memory is in the archive, or its file says so."""
    return file.memory.status in AWAY or in_archive(file)


def in_archive(file: MemoryFile) -> bool:
    """Tell whether the file of a memory lies in the archive."""
    return file.path.relative_to(file.vault.root).parts[0] == ARCHIVE_FOLDER


def _move_back(store: Store, file: MemoryFile, target: Path) -> MemoryFile:
    """Move *file* to *target*, without the status that says it was put away."""
    if not moving.is_free(file.path, target):
        raise PlaceTaken(target)
    status = Status.ACTIVE if file.memory.status in AWAY else file.memory.status
    memory = replace(file.memory, status=status, archived_reason="")
    if memory_file.rewrite(file.data, memory, path=str(target)) == file.data:
        move(store, file.vault, file.ref, file.path, target, "restored")
        return read(store, file.memory.id)
    commit(store, file, memory, "restored", to=target)
    return read(store, file.memory.id)


def _reinstated(store: Store, file: MemoryFile) -> MemoryFile:
    """Make *file* active again if it is superseded, and return it."""
    if file.memory.status is not Status.SUPERSEDED:
        return file
    reinstate(store, file.memory.id, by=file.memory.superseded_by)
    return read(store, file.memory.id)


def _erase_history(store: Store, vault: Vault, memory_id: str) -> list[str]:
    """
    Delete the history of a memory, and the versions of others that it was merged into.

    Return the ids of the current memories that it was merged into: they still say it.
    """
    versions = history.versions(store.home, vault.ref(memory_id))
    prefix, placeholder = f"{vault.key}/", vault.root / "kept.md"
    for version in history.everything(store.home):
        if version.ref.startswith(prefix) and _took_over(vault, version.path, placeholder, memory_id):
            versions.append(version)
    history.erase(dict.fromkeys(versions))
    heirs = [Path(stamp.path) for stamp in stamps(vault)]
    return [path.stem for path in heirs if _took_over(vault, path, path, memory_id)]


def _and_proposed(store: Store, refs: Iterable[str], paths: Iterable[Path]) -> list[Path]:
    """Return the candidates in the trash with the same words as *refs*, now or earlier, and then *paths*."""
    own = list(paths)
    version_paths = [version.path for ref in refs for version in history.versions(store.home, ref)]
    contents = {_words_hash(store, path) for path in (*own, *version_paths)} - {""}
    folders = dict.fromkeys(places.trash_folder(store.home, vault) / CANDIDATES for vault in store.vaults)
    proposed = [path for folder in folders for path in sorted(folder.glob("*.md"))]
    return [*(path for path in proposed if _words_hash(store, path) in contents), *own]


def _words_hash(store: Store, path: Path) -> str:
    """Return the fingerprint of what the file at *path* says, '' for one that cannot be read."""
    with contextlib.suppress(OSError, DaybookError):
        memory = parsed(store.user_vault, store.user_vault.root / "kept.md", files.read(path))
        return fingerprint(memory.title, memory.text)
    return ""


def _took_over(vault: Vault, path: Path, place: Path, memory_id: str) -> bool:
    """Tell whether the file at *path*, which belongs at *place*, is a memory that took over another."""
    with contextlib.suppress(OSError, Unreadable):
        data = files.read(path)
        return memory_id.encode() in data and memory_id in parsed(vault, place, data).merged_from
    return False


def _delete(paths: Iterable[Path]) -> None:
    for path in paths:
        files.delete(path)
        leftovers.sweep_taken_out(path.parent)  # leftover bytes from before a revision
