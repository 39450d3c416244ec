"""
forget and restore: move a memory to the trash, and back.

Forgetting moves the file to `trash/<vault>/` under the path it had; restoring moves it back.
A memory in the archive comes back the same way. Forgetting for good leaves no byte of the text.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_server.actions.context.claude_md import refresh
from mcp_server.actions.files.accepted import last_accepted, taken_away
from mcp_server.actions.files.commit import commit, move, one_change, put_bytes, tell
from mcp_server.actions.files.load import load, parsed
from mcp_server.actions.files.read import Found, find, is_accepted, read
from mcp_server.actions.files.shadows import covered_by, uncovered
from mcp_server.actions.files.sync import catch_up_if_free, if_free
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.memory.remember import reinstate
from mcp_server.adapters import files, history, leftovers, memory_file, places
from mcp_server.adapters.index.database import erase
from mcp_server.adapters.index.events import audit, transcripts
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.adapters.vault import Vault, confined, is_memory_name, make_vault_folders, stamp, stamps
from mcp_server.core.errors import DaybookError, Held, IndexUnavailable, NotFound, Rejected, Unreadable
from mcp_server.core.memory import ARCHIVE_FOLDER, Kind, Status, check_id, fingerprint
from mcp_server.store import Store

AWAY = (Status.ARCHIVED, Status.ORPHANED)
CANDIDATES = "candidates"  # a folder of the trash whose files were never memories


@dataclass(frozen=True, slots=True)
class Forgotten:
    """
    What was forgotten: the id, and the file's path in the trash; None when it is deleted for good.

    `superseded` are the memories that it had superseded: they stay superseded until they are restored.
    `heirs` are those into which it was merged: they go on saying what it said.
    `uncovered` are those of the person that it had shadowed in this project: they hold here again.
    """

    id: str
    path: Path | None
    superseded: tuple[str, ...] = ()
    heirs: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()


def forget(store: Store, memory_id: str, *, forever: bool = False, session: str = "") -> Forgotten:
    """
    Move a memory to the trash, or with *forever* delete it, its copies in the trash, its history, its index
    rows and its line in this project's managed block.

    Raises NotFound, OSError.
    """
    try:
        row = find(store, memory_id)
    except NotFound:
        trashed = list(in_trash(store, check_id(memory_id.strip())))
        if not (forever and trashed):
            raise
        refs = {f"{vault.key}/{memory_id.strip()}" for vault, _ in trashed}
        _delete(_and_proposed(store, refs, (path for _, path in trashed)))
        heirs = [
            each
            for vault in {vault.key: vault for vault, _ in trashed}.values()
            for each in _erase_history(store, vault, memory_id.strip())
        ]
        _leave_no_trace(store)
        return Forgotten(memory_id, None, heirs=tuple(heirs))
    return _forget(store, row, forever=forever, session=session)


def to_trash(store: Store, row: Row, *, session: str = "") -> Forgotten:
    """Move to the trash the very memory that the index has as *row*; raises OSError."""
    return _forget(store, row, forever=False, session=session)


def _forget(store: Store, row: Row, *, forever: bool, session: str) -> Forgotten:
    vault = store.vault(row.vault)
    assert vault
    path = confined(vault, Path(row.path))
    with store.database.read() as db:
        old = selections.superseded_by(db, row.id, [each.key for each in store.vaults])
        covered = covered_by(store, db, [row.ref])
    target, heirs = None, list[str]()
    if forever:
        said = [*(trashed for _, trashed in in_trash(store, row.id)), path]  # last: a kill leaves it there
        _delete(_and_proposed(store, [row.ref], said))
        heirs = _erase_history(store, vault, row.id)
        store.ledger.try_append("forgotten", store.clock(), refs=[row.ref], forever=True, session=session)
    else:
        target = free_name(
            places.trash_folder(store.home, vault) / path.relative_to(vault.root).with_name(f"{row.id}.md")
        )
        named = {} if path.stem == row.id else {"name": path.name}  # a file may be named after its title
        move(store, vault, row.ref, path, target, "forgotten", forever=False, session=session, **named)
    with if_free(store):
        if row.kind is Kind.CONVERSATION:
            _unlearned_is_never_sent(store, row.session)
        if forever:
            take_in(store, vault, path)
    if forever:
        _leave_no_trace(store)
    return Forgotten(row.id, target, tuple(each.id for each in old), tuple(heirs), uncovered(store, covered))


def _leave_no_trace(store: Store) -> None:
    """Erase deleted texts from the index and the block in CLAUDE.md; the answer says if that must wait."""
    try:
        store.database.require()
        erase.erase_traces(store.database)
    except IndexUnavailable as error:
        store.database.trouble.remark(
            f"{error} The file is deleted for good, but the index has words of it until it is made anew:"
            " run 'daybook maintain rebuild' when it is free."
        )
    try:
        refresh(store)
    except (Held, IndexUnavailable) as error:
        store.database.trouble.remark(f"{error} Its line in CLAUDE.md goes when that is next kept up.")


def _unlearned_is_never_sent(store: Store, session: str) -> None:
    """Note the unread turns of a forgotten *session* as learned, so that no model reads them later."""
    with store.database.read() as db:
        waiting = [each for each in transcripts.unlearned(db, paid=False) if each.session == session]
    for each in waiting:
        store.ledger.try_append(
            "transcript_learned", store.clock(), path=each.path, session=session, end=each.kept
        )
    catch_up_if_free(store)


@one_change()
def restore(store: Store, memory_id: str, *, session: str = "") -> Found:
    """
    Bring a memory back from the trash or the archive, and return it: it is active, and its file says so.

    A superseded memory is active again beside its successor, if that still exists. A repository's memory that
    was changed or deleted there comes back as the person accepted it.
    Raises NotFound, and Rejected when it is active already or its place is taken.
    """
    wanted = check_id(memory_id.strip().removesuffix(".md"))
    for vault, path in in_trash(store, wanted):
        place = path.relative_to(places.trash_folder(store.home, vault)).as_posix()
        folder, name = (vault.root / place).parent, _name_of(store, vault, wanted)
        try:
            found = load(vault, path, place=place)
        except Unreadable:  # move it as it is; `sync` reports what is wrong with it
            move(store, vault, f"{vault.key}/{wanted}", path, confined(vault, folder / name), "restored")
            return read(store, wanted)
        found = replace(found, memory=replace(found.memory, id=wanted))  # the name there may have a number
        if place.startswith(f"{ARCHIVE_FOLDER}/"):
            folder = vault.path_for(wanted, found.memory.kind).parent
        back = _move_back(store, found, confined(vault, folder / name), session)
        return _reinstated(store, back, session)
    try:
        found = read(store, wanted)
    except NotFound:
        if taken := _from_history(store, wanted, session):
            return taken
        raise
    if accepted := _as_accepted(store, found, session):
        return accepted
    back = _reinstated(store, found, session)
    return back if back is not found and not _in_archive(back) else unarchive(store, back, session=session)


def unarchive(store: Store, found: Found, *, session: str = "") -> Found:
    """Bring a memory back from the archive; raises Rejected when it is not there or its place is taken."""
    if found.memory.status is Status.ACTIVE and not _in_archive(found):
        raise Rejected(f"'{found.memory.id}' is active and needs no restoring.", "Read it with read.")
    target = found.path
    if _in_archive(found):
        target = found.vault.path_for(found.memory.id, found.memory.kind).with_name(found.path.name)
    return _move_back(store, found, target, session)


def _from_history(store: Store, memory_id: str, session: str) -> Found | None:
    """Write back the accepted version of a memory that a pull deleted from the repository; else None."""
    taken = taken_away(store, memory_id)
    if taken is None:
        return None
    vault, data = taken[0], files.read(taken[1].path)
    path = vault.path_for(memory_id, Kind.KNOWLEDGE)
    memory = replace(parsed(vault, path, data), id=memory_id)
    make_vault_folders(vault)
    try:
        files.write_new(path, data)
    except FileExistsError:
        raise Rejected(f"{path} exists already.", "Rename or forget that file first.") from None
    found = Found(memory, vault, path, data, files.digest(data))
    tell(store, "restored", None, found, accept=True, session=session)
    return found


def _as_accepted(store: Store, found: Found, session: str) -> Found | None:
    """Restore a changed file of the repository to the version that the person accepted; None without one."""
    version = last_accepted(store, found.ref) if found.vault.in_repository else None
    if not version or is_accepted(store, found):
        return None
    data = files.read(version.path)
    put_bytes(store, found.vault, found.ref, found.path, found.data, data, verb="restored")
    now = load(found.vault, found.path)
    tell(store, "restored", found, now, accept=True, session=session)
    return now


def _name_of(store: Store, vault: Vault, memory_id: str) -> str:
    """Return the name of a memory's file when it was last forgotten."""
    catch_up_if_free(store)
    with store.database.read() as db:
        deeds = audit.history(db, ref=f"{vault.key}/{memory_id}", events=["forgotten"], limit=1)
    name = str(deeds[0].detail.get("name", "")) if deeds else ""
    return name if is_memory_name(name) and "/" not in name else f"{memory_id}.md"


def is_put_away(found: Found) -> bool:
    """Tell whether a memory lies in the archive, or its file says so."""
    return found.memory.status in AWAY or _in_archive(found)


def _in_archive(found: Found) -> bool:
    return found.path.relative_to(found.vault.root).parts[0] == ARCHIVE_FOLDER


def _move_back(store: Store, found: Found, target: Path, session: str) -> Found:
    """Move the file that was *found* to *target*, without the status that says it was put away."""
    if target != found.path and stamp(target):
        raise Rejected(f"{target} exists already.", "Rename or forget that file first.")
    status = Status.ACTIVE if found.memory.status in AWAY else found.memory.status
    memory = replace(found.memory, status=status, archived_reason="")
    if memory_file.rewrite(found.data, memory, path=str(found.path)) == found.data:
        move(store, found.vault, found.ref, found.path, target, "restored", session=session)
        return read(store, found.memory.id)
    commit(store, found, memory, "restored", to=target, session=session)
    return read(store, found.memory.id)


def _reinstated(store: Store, found: Found, session: str) -> Found:
    """Make *found* active again if it is superseded, and return it."""
    if found.memory.status is not Status.SUPERSEDED:
        return found
    reinstate(store, found.memory.id, by=found.memory.superseded_by, session=session)
    return read(store, found.memory.id)


def in_trash(store: Store, memory_id: str) -> Iterator[tuple[Vault, Path]]:
    """Yield (vault, file) of what was forgotten under that id, the newest first."""
    for vault in reversed(store.vaults):
        folder = places.trash_folder(store.home, vault)
        names = [*folder.rglob(f"{memory_id}.md"), *folder.rglob(f"{memory_id}.*.md")]
        for path in sorted(names, key=lambda name: name.stat().st_ctime_ns, reverse=True):
            if path.relative_to(folder).parts[0] != CANDIDATES:
                yield vault, path


def free_name(path: Path) -> Path:
    """Return *path*, with a number before its ending when it is taken: a memory was forgotten twice."""
    number = 1
    free = path
    while stamp(free):
        number += 1
        free = path.with_name(f"{path.stem}.{number}.md")
    return free


def _erase_history(store: Store, vault: Vault, memory_id: str) -> list[str]:
    """
    Delete the history of a memory, and the versions of others that it was merged into.

    Return the ids of the current memories that it was merged into: they still say it.
    """
    gone = history.versions(store.home, f"{vault.key}/{memory_id}")
    prefix = f"{vault.key}/"
    for each in history.everything(store.home):
        if each.ref.startswith(prefix) and _took_over(vault, each.path, vault.root / "kept.md", memory_id):
            gone.append(each)
    history.erase(dict.fromkeys(gone))
    heirs = [Path(found.path) for found in stamps(vault)]
    return [path.stem for path in heirs if _took_over(vault, path, path, memory_id)]


def _and_proposed(store: Store, refs: Iterable[str], paths: Iterable[Path]) -> list[Path]:
    """Return the candidates in the trash with the same words as *refs*, now or earlier, and then *paths*."""
    own = list(paths)
    kept = [each.path for ref in refs for each in history.versions(store.home, ref)]
    said = {_said(store, path) for path in (*own, *kept)} - {""}
    folders = dict.fromkeys(places.trash_folder(store.home, vault) / CANDIDATES for vault in store.vaults)
    proposed = [path for folder in folders for path in sorted(folder.glob("*.md"))]
    return [*(path for path in proposed if _said(store, path) in said), *own]


def _said(store: Store, path: Path) -> str:
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
