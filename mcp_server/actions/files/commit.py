"""
commit: the one road from an intention to the file of a memory.

Whatever creates, changes or moves one ends here: the bytes that it had are kept in the history, the file is
replaced, and it is decided whether what it says now may be shown unasked; then the ledger and the index hear
of it. Only what is deleted for good goes elsewhere, in `forget` and `trash`.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace
from enum import Enum
from pathlib import Path

from mcp_server.actions.files.load import Found, parsed
from mcp_server.actions.files.read import is_accepted
from mcp_server.actions.files.sync import catch_up, if_free
from mcp_server.actions.files.take_in import take_in
from mcp_server.adapters import files, history, memory_file, moving, places
from mcp_server.adapters.vault import Vault, stamp
from mcp_server.core.errors import Conflict, DaybookError
from mcp_server.core.memory import Kind, Memory
from mcp_server.core.secrets.redaction import mask_gone
from mcp_server.store import Store

Effect = list[str]
"""What became of one file: its ref, and its place and digest before and after; '' where there was no file."""

_change: ContextVar[str] = ContextVar("change", default="")
_run: ContextVar[str] = ContextVar("run", default="")


class Accept(Enum):
    """Whether what a file says now may be shown unasked: as before, from now on, or not before a word."""

    CARRY = "carry"
    YES = "yes"
    NO = "no"


@contextlib.contextmanager
def one_change(name: str = "") -> Iterator[None]:
    """Let all that the block does be one change, new or called *name*, which is taken back as one."""
    before = _change.set(_change.get() or name or new_name())
    try:
        yield
    finally:
        _change.reset(before)


@contextlib.contextmanager
def one_run(name: str = "") -> Iterator[str]:
    """Let the changes of the block be one run, called *name*, which is taken back as one, or each alone."""
    before = _run.set(name or _run.get() or new_name())
    try:
        yield _run.get()
    finally:
        _run.reset(before)


def create(
    store: Store,
    vault: Vault,
    path: Path,
    memory: Memory,
    *,
    accept: bool,
    session: str = "",
    **detail: object,
) -> Found:
    """Write *memory* as a new file at *path*; raises FileExistsError when something is there."""
    data = memory_file.render(memory)
    files.write_new(path, data)
    made = Found(memory, vault, path, data, files.digest(data))
    tell(store, "remembered", None, made, accept=accept, session=session, **detail)
    return made


def commit(
    store: Store,
    found: Found,
    memory: Memory,
    event: str,
    *,
    to: Path | None = None,
    accept: Accept = Accept.CARRY,
    session: str = "",
    **detail: object,
) -> Found:
    """
    Let the file that was *found* say *memory* and lie at *to*, and tell the ledger of *event* with *detail*.

    The file says it before it moves: a process that is killed in between has changed it already.

    Raises Conflict when the file changed since it was found, Rejected, OSError; it is untouched then.
    """
    accepted = is_accepted(store, found) if accept is Accept.CARRY else accept is Accept.YES
    now = put(store, found, memory, to=to, verb=event)
    tell(store, event, found, now, accept=accepted, session=session, **detail)
    return now


def move(
    store: Store, vault: Vault, ref: str, path: Path, target: Path, event: str, **detail: object
) -> None:
    """
    Move the file of the memory *ref*, whatever it says, to *target*, and tell the ledger of *event*.

    Raises FileExistsError when something is there, Conflict, OSError.
    """
    moving.move(path, target)
    digest = ""
    with contextlib.suppress(DaybookError):  # it is huge, or a link by now
        digest = files.digest(files.read(target))
    effect = [ref, places.place_of(store.home, vault, path), digest]
    effect += [places.place_of(store.home, vault, target), digest]
    tell_of(store, vault, event, ref, [path, target], [effect], **detail)


def put(store: Store, found: Found, memory: Memory, *, to: Path | None = None, verb: str) -> Found:
    """
    Let the file that was *found* say *memory* and lie at *to*, and keep what it said before.

    For who tells the ledger and the index of many at once. Raises as `commit` does.
    """
    data = memory_file.rewrite(found.data, memory, path=str(found.path))
    now = replace(found, memory=memory, path=to or found.path, data=data, digest=files.digest(data))
    verb = "" if _goes_on(found, now) else verb
    put_bytes(store, found.vault, found.ref, found.path, found.data, data, to=to, verb=verb)
    return now


def put_bytes(
    store: Store,
    vault: Vault,
    ref: str,
    path: Path,
    was: bytes,
    data: bytes,
    *,
    to: Path | None = None,
    verb: str,
) -> None:
    """
    Let the file of the memory *ref* at *path*, which says *was*, say *data* and lie at *to*.

    With a *verb* what it said is kept under that name. Raises as `commit` does.
    """
    if data != was:
        written = stamp(path)
        former = _former(store, vault, ref, path, was, data, verb) if verb else None
        files.replace(path, data, expected=files.digest(was), former=former)
        if former and written:
            os.utime(former[0], ns=(written.mtime_ns, written.mtime_ns))  # when those words were written
    if to and to != path:
        _move(path, to)


def effect_of(store: Store, was: Found | None, now: Found) -> Effect:
    """Return what became of a file: *was* before, None for one that is new, *now* after."""
    before = [places.place_of(store.home, was.vault, was.path), was.digest] if was else ["", ""]
    return [now.ref, *before, places.place_of(store.home, now.vault, now.path), now.digest]


def indexed(vault: Vault, paths: Iterable[Path]) -> list[Path]:
    """Return those of *paths* that the index knows: not what lies in the trash or waits as a candidate."""
    folders = tuple(os.path.join(folder, "") for folder in vault.folders())
    return [path for path in dict.fromkeys(paths) if os.fspath(path).startswith(folders)]


def by_whom(store: Store) -> dict[str, object]:
    """Return what each line of the ledger says of a change: its name, that of its run, and who made it."""
    run = {"run": _run.get()} if _run.get() else {}
    return {"change": _change.get() or new_name(), **run, "by": store.by()}


def tell(
    store: Store,
    event: str,
    was: Found | None,
    now: Found,
    *,
    accept: bool,
    session: str = "",
    **detail: object,
) -> None:
    """
    Follow up on a file just written: one ledger line, and the index.

    With *accept* what it says *now* may be shown unasked from now on; *detail* stands in the line where it is
    not None.
    """
    digests = [now.digest] if accept else []
    changed = was is None or (was.path, was.digest) != (now.path, now.digest)
    effects = [effect_of(store, was, now)] if changed and not _goes_on(was, now) else []
    paths = [*([was.path] if was else []), now.path]
    tell_of(store, now.vault, event, now.ref, paths, effects, digests=digests, session=session, **detail)


def tell_of(
    store: Store,
    vault: Vault,
    event: str,
    ref: str,
    paths: list[Path],
    effects: list[Effect],
    **detail: object,
) -> None:
    """
    Write a line into the ledger, and take the files at *paths* into the index.

    The file is the memory; a ledger or an index in trouble does not undo it: the answer says so, and the
    next sync makes up for what the index was not told.
    """
    tell_ledger(store, event, ref, effects, **detail)
    with if_free(store):
        take_in(store, vault, *indexed(vault, paths))
        catch_up(store)


def tell_ledger(store: Store, event: str, ref: str, effects: list[Effect], **detail: object) -> None:
    """Write a line into the ledger; the answer says where that cannot be done."""
    said = {name: value for name, value in detail.items() if value is not None}
    if effects:
        said |= {**by_whom(store), "files": effects}
    try:
        store.ledger.append(event, store.clock(), refs=[ref], **said)
    except OSError as error:
        reason = error.strerror or error
        store.database.trouble.remark(f"That this was {event} could not be written down: {reason}.")


def write_line(store: Store, event: str, *, refs: Sequence[str] = (), **detail: object) -> None:
    """
    Write a line that changes no file into the ledger; inside `one_change` it is taken back with that.

    Raises OSError.
    """
    part = {**by_whom(store), "files": []} if _change.get() else {}
    store.ledger.append(event, store.clock(), refs=list(refs), **part, **detail)


def _goes_on(was: Found | None, now: Found) -> bool:
    """Tell whether a conversation only begins or goes on: no word of it goes, and it has many pieces."""
    before = was.memory.text if was else ""
    return now.memory.kind is Kind.CONVERSATION and now.memory.text.startswith(before)


def _move(source: Path, target: Path) -> None:
    """Move a file; one that a killed process moved halfway, so that it has both names, loses the first."""
    try:
        moving.move(source, target)
    except FileExistsError:
        data = files.read(source)
        if data != files.read(target):
            raise Conflict(f"{target} exists already.", "Rename or forget that file first.") from None
        files.delete(source, expected=files.digest(data))


def _former(
    store: Store, vault: Vault, ref: str, path: Path, was: bytes, data: bytes, verb: str
) -> tuple[Path, bytes]:
    """
    Return where the bytes that a file has are kept, and those bytes without the secrets that go with them.

    Secrets that went earlier, or by hand since the last change, are masked in what is kept already.
    """
    now, digest = data.decode("utf-8", "replace"), files.digest(was)
    kept, older = _masked(vault, path, was, now), history.versions(store.home, ref)
    if kept != was or (older and older[-1].now != digest):
        for each in older:
            with contextlib.suppress(OSError, DaybookError):
                said = files.read(each.path)
                if (masked := _masked(vault, path, said, now)) != said:
                    history.put_over(each, masked)
    after = files.digest(data)
    at, by = store.clock(), store.by()
    return history.new_place(store.home, ref, at, by=by, verb=verb, was=digest, now=after), kept


def _masked(vault: Vault, path: Path, data: bytes, now: str) -> bytes:
    """Return what a version says, *data*, without the secrets that do not stand in *now* any more."""
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
    except DaybookError:  # it was no memory by then: nobody reads its head
        return mask_gone(text, now).encode("utf-8")


def new_name() -> str:
    """Return a name for a change or a run that no other has."""
    return os.urandom(6).hex()
