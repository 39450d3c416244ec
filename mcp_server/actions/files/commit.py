"""
commit: write the file of a memory, for every action.

Whatever creates, changes or moves a memory ends here: the history keeps the old bytes, the file is replaced,
it is decided whether the new text may be shown unasked, and the ledger and the index are updated.
Imports, runs of tidying and `put_back` change hundreds of files: they write with `create_many`, `put` and
`put_bytes`, and write the ledger and the index for many at once. `put_back` moves its files together, too.
Three write beside it: `between_vaults`, whose move to another vault must survive a kill halfway, and
`remote/take_in` and `team/copy`, which add what other machines wrote. `forget` and `trash` delete for good.
It is long because all that may happen to a memory's file is one thing to read.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from enum import Enum
from pathlib import Path

from mcp_server.actions.files.load import MemoryFile, parsed
from mcp_server.actions.files.read import is_accepted
from mcp_server.actions.files.sync import catch_up, if_free
from mcp_server.actions.files.take_in import take_in
from mcp_server.adapters import files, history, memory_file, moving, places
from mcp_server.adapters.vault import Vault, stamp
from mcp_server.core.batches import batches
from mcp_server.core.errors import DaybookError, Held, Rejected
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind, Level, id_in
from mcp_server.core.provenance.provenance import TRANSCRIPT
from mcp_server.core.remarks import NotRecorded
from mcp_server.core.secrets.redaction import mask_gone
from mcp_server.store import Store

AT_ONCE = 250  # memories in one event, whose length is limited
STORING_LOCK = ".storing.lock"
STORING_PATIENCE = 2.0  # seconds; then a memory is stored beside the other: none may be refused
Effect = list[str]
"""What became of one file: its ref, and its place and digest before and after; '' where there was no file."""

_change: ContextVar[str] = ContextVar("change", default="")
_run: ContextVar[str] = ContextVar("run", default="")


class Accept(Enum):
    """Whether a file's new text may be shown unasked: as before, from now on, or after the person's word."""

    CARRY = "carry"
    YES = "yes"
    NO = "no"


@contextlib.contextmanager
def one_change(name: str = "") -> Iterator[None]:
    """Make all that the block does one change, called *name* or newly named, which is taken back as one."""
    before = _change.set(_change.get() or name or new_name())
    try:
        yield
    finally:
        _change.reset(before)


@contextlib.contextmanager
def one_run(name: str = "") -> Iterator[str]:
    """Make the block's changes one run, called *name*, to be taken back as one or change by change."""
    before = _run.set(name or _run.get() or new_name())
    try:
        yield _run.get()
    finally:
        _run.reset(before)


@contextlib.contextmanager
def storing_alone(store: Store) -> Iterator[None]:
    """Let no other process store a new memory while the block runs; a slow one is waited for 2 seconds."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(Held, OSError):
            files.make_folder(store.home)
            stack.enter_context(files.lock(store.home / STORING_LOCK, patience=STORING_PATIENCE))
        yield


def create(
    store: Store,
    vault: Vault,
    path: Path,
    memory: Memory,
    *,
    accept: bool,
    data: bytes = b"",
    event: str = "remembered",
    **detail: object,
) -> MemoryFile:
    """
    Write *memory* as a new file at *path*, with the bytes *data* or as it is rendered, and write *event*.

    Raises FileExistsError when something is there.
    """
    check_ours(vault, memory.id)
    data = data or memory_file.render(memory)
    files.write_new(path, data)
    file = MemoryFile(memory, vault, path, data, files.digest(data))
    tell(store, event, None, file, accept=accept, **detail)
    return file


def create_many(new_files: Sequence[MemoryFile]) -> set[Path]:
    """
    Write new files together; return the paths where something is, which stays.

    For callers that write the ledger and the index for many files at once. Raises OSError, and writes none.
    """
    for file in new_files:
        check_ours(file.vault, file.memory.id)
    return files.write_many_new({file.path: file.data for file in new_files})


def commit(
    store: Store,
    file: MemoryFile,
    memory: Memory,
    event: str,
    *,
    to: Path | None = None,
    accept: Accept = Accept.CARRY,
    **detail: object,
) -> MemoryFile:
    """
    Write *memory* into the file that was *file*, move it to *to*, and write *event* with *detail*.

    The file is written before it moves: after a kill in between it is changed already.

    Raises Conflict when the file changed since it was found, Rejected, OSError; it is untouched then.
    """
    accepted = is_accepted(store, file) if accept is Accept.CARRY else accept is Accept.YES
    now = put(store, file, memory, to=to, verb=event)
    tell(store, event, file, now, accept=accepted, **detail)
    return now


def move(
    store: Store, vault: Vault, ref: str, path: Path, target: Path, event: str, **detail: object
) -> None:
    """
    Move the file of the memory *ref*, whatever it says, to *target*, and write *event* to the ledger.

    Raises PlaceTaken, Conflict, OSError.
    """
    check_ours(vault, id_in(ref))
    moving.move(path, target)
    digest = ""
    # It is too large, or a symbolic link by now, or was moved on by another process: this move is told, too.
    with contextlib.suppress(DaybookError, FileNotFoundError):
        digest = files.digest(files.read(target))
    effect = [ref, places.place_of(store.home, vault, path), digest]
    effect += [places.place_of(store.home, vault, target), digest]
    _tell(store, vault, event, ref, [path, target], [effect], **detail)


def relocate(
    store: Store, old: Vault, new: Vault, moves: Mapping[Path, Path], *, ids: Mapping[str, str]
) -> None:
    """
    Move files of *old* to *new* (*moves*: path → new path), with the history and the use of their memories.

    *ids* is old path → the memory's id in the index.
    Raises PlaceTaken, Conflict, OSError; files moved until then stay moved.
    """
    for batch in batches(moves.items(), AT_ONCE):
        # First the ledger and the history: after a kill in between the next call moves the files.
        rename(store, old, new, [ids.get(str(path), path.name.partition(".")[0]) for path, _ in batch])
        for problem in moving.move_many(dict(batch)).values():
            raise problem


def rename(store: Store, old: Vault, new: Vault, memory_ids: Iterable[str]) -> None:
    """Let history and use of memories of *old* count for those of the same ids in *new*; raises OSError."""
    for batch in batches(memory_ids, AT_ONCE):
        refs, before = ([vault.ref(memory_id) for memory_id in batch] for vault in (new, old))
        store.record("moved", refs=refs, **{"from": before})
        for ref, earlier in zip(refs, before, strict=True):
            history.carry(store.home, earlier, ref)


def put(store: Store, file: MemoryFile, memory: Memory, *, to: Path | None = None, verb: str) -> MemoryFile:
    """
    Write *memory* into the file that was *file*, move it to *to*, and keep its old bytes in the history.

    For callers that write the ledger and the index for many files at once. Raises as `commit` does.
    """
    data = memory_file.rewrite(file.data, memory, path=str(file.path))
    now = replace(file, memory=memory, path=to or file.path, data=data, digest=files.digest(data))
    verb = "" if _goes_on(file, now) else verb
    put_bytes(store, file.vault, file.ref, file.path, file.data, data, to=to, verb=verb)
    return now


def put_bytes(
    store: Store,
    vault: Vault,
    ref: str,
    path: Path,
    old_data: bytes,
    data: bytes,
    *,
    to: Path | None = None,
    verb: str,
) -> None:
    """
    Replace the bytes *old_data* of the memory *ref* at *path* by *data*, and move the file to *to*.

    With a *verb* the history keeps the old bytes under that name. Raises as `commit` does.
    """
    check_ours(vault, id_in(ref))
    if data != old_data:
        old_stamp = stamp(path)
        former = _former(store, vault, ref, path, old_data, data, verb) if verb else None
        files.replace(path, data, expected=files.digest(old_data), former=former)
        if former and old_stamp:
            os.utime(former[0], ns=(old_stamp.mtime_ns, old_stamp.mtime_ns))  # when those words were written
    if to and to != path:
        moving.move(path, to)


def check_ours(vault: Vault, memory_id: str) -> None:
    """Raise Rejected for the copy of a team's memory: its server has the truth, and the next copy says so."""
    if vault.level is Level.TEAM:
        raise Rejected(
            f"'{memory_id}' is the team's: this is only a copy.",
            f"Change it for all with 'daybook revise {memory_id}' or 'daybook forget {memory_id}'.",
        )


def effect_of(store: Store, was: MemoryFile | None, now: MemoryFile) -> Effect:
    """Return the effect of a change on a file: *was* before (None for a new one), *now* after."""
    before = [places.place_of(store.home, was.vault, was.path), was.digest] if was else ["", ""]
    return [now.ref, *before, places.place_of(store.home, now.vault, now.path), now.digest]


def by_whom(store: Store) -> dict[str, object]:
    """Return what each event says of its change: its name, the name of its run, and who made it."""
    run = {"run": _run.get()} if _run.get() else {}
    return {"change": _change.get() or new_name(), **run, "by": store.by()}


def tell(
    store: Store,
    event: str,
    was: MemoryFile | None,
    now: MemoryFile,
    *,
    accept: bool,
    **detail: object,
) -> None:
    """
    Record a file just written: one event, and the index.

    With *accept* what it says *now* may be shown unasked from now on; values of *detail* other than None go
    into the event.
    """
    digests = [now.digest] if accept else []
    changed = was is None or (was.path, was.digest) != (now.path, now.digest)
    effects = [effect_of(store, was, now)] if changed and not _goes_on(was, now) else []
    paths = [*([was.path] if was else []), now.path]
    _tell(store, now.vault, event, now.ref, paths, effects, digests=digests, **detail)


def _tell(
    store: Store,
    vault: Vault,
    event: str,
    ref: str,
    paths: list[Path],
    effects: list[Effect],
    **detail: object,
) -> None:
    """
    Write an event, and take the files at *paths* into the index.

    The file is the memory; a failing ledger or index does not undo it: the answer says so, and the next sync
    adds what the index lacks.
    """
    tell_ledger(store, event, {ref: effects}, {ref: detail})
    index_files(store, {vault: paths})


def index_files(store: Store, paths: Mapping[Vault, Iterable[Path]]) -> None:
    """Take files that were written, vault → paths, and the new events into the index, unless it is in use."""
    with if_free(store):
        for vault, changed in paths.items():
            take_in(store, vault, *indexed(vault, changed))
        catch_up(store)


def tell_ledger(
    store: Store, event: str, effects: Mapping[str, list[Effect]], details: Mapping[str, Mapping[str, object]]
) -> None:
    """
    Write an event for each memory (ref → effects, ref → detail) in one step.

    Values of a detail other than None go into its event. When the disk refuses, the answer says so.
    """
    events = []
    for ref, of_memory in effects.items():
        data = {name: value for name, value in details[ref].items() if value is not None}
        part = {**by_whom(store), "files": of_memory} if of_memory else {}
        events.append({"refs": [ref], "session": store.session, **data, **part})
    try:
        store.ledger.append_all(event, store.clock(), events)
    except OSError as error:
        store.database.trouble.remark(NotRecorded(event, error.strerror or str(error)))


def write_line(store: Store, event: str, *, refs: Sequence[str] = (), **detail: object) -> None:
    """
    Write an event that changes no file; inside `one_change` it is taken back with that change.

    Raises OSError.
    """
    part = {**by_whom(store), "files": []} if _change.get() else {}
    store.record(event, refs=list(refs), **part, **detail)


def indexed(vault: Vault, paths: Iterable[Path]) -> list[Path]:
    """Return those of *paths* that belong in the index: neither in the trash nor among the candidates."""
    folders = tuple(os.path.join(folder, "") for folder in vault.folders())
    return [path for path in dict.fromkeys(paths) if os.fspath(path).startswith(folders)]


def _goes_on(was: MemoryFile | None, now: MemoryFile) -> bool:
    """
    Tell whether the worker wrote down a session, or more of it.

    Nothing is lost by that, many versions would be kept, and it is no change that a person would take back.
    """
    if now.memory.kind is not Kind.CONVERSATION or now.memory.source != TRANSCRIPT:
        return False
    if was is None:
        return True
    grown = replace(was.memory, text=now.memory.text, updated=now.memory.updated)
    return (was.path, grown) == (now.path, now.memory) and now.memory.text.startswith(was.memory.text)


def _former(
    store: Store, vault: Vault, ref: str, path: Path, was: bytes, data: bytes, verb: str
) -> tuple[Path, bytes]:
    """
    Return the path for the file's old bytes, and those bytes without the secrets that the change removes.

    Secrets removed now, earlier, or by hand since the last change are masked in the older versions, too.
    """
    now, digest = data.decode("utf-8", "replace"), files.digest(was)
    old_bytes, older = _masked(vault, path, was, now), history.versions(store.home, ref)
    if old_bytes != was or (older and older[-1].now != digest):
        for version in older:
            with contextlib.suppress(OSError, DaybookError):
                former = files.read(version.path)
                if (masked := _masked(vault, path, former, now)) != former:
                    files.write_over(version.path, masked)
    after = files.digest(data)
    at, by = store.clock(), store.by()
    return history.new_place(store.home, ref, at, by=by, verb=verb, was=digest, now=after), old_bytes


def _masked(vault: Vault, path: Path, data: bytes, now: str) -> bytes:
    """Return a version's bytes, *data*, with the secrets masked that are not in the text *now*."""
    text = data.decode("utf-8", "replace")
    if mask_gone(text, now) == text:
        return data
    try:
        memory = parsed(vault, path, data)
        hidden = replace(
            memory,
            title=mask_gone(memory.title, now),
            text=mask_gone(memory.text, now),
            evidence=mask_gone(memory.evidence, now),
            notes=tuple(mask_gone(note, now) for note in memory.notes),
        )
        return memory_file.rewrite(data, hidden, path=str(path))
    except DaybookError:  # that version was no memory: its frontmatter need not stay valid
        return mask_gone(text, now).encode("utf-8")


def new_name() -> str:
    """Return a random name for a change or a run, which no other has."""
    return os.urandom(6).hex()
