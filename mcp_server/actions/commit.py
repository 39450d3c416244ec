"""
commit: the one road from an intention to the file of a memory.

Whatever creates, changes or moves one ends here: the bytes that it had are kept in the history, the file is
replaced, and it is decided whether what it says now may be shown unasked; then the ledger and the index hear
of it. Only what is deleted for good goes elsewhere, in `forget` and `trash`.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import replace
from enum import Enum
from pathlib import Path

from mcp_server.actions.load import Found
from mcp_server.actions.read import is_accepted
from mcp_server.actions.sync import catch_up, if_free
from mcp_server.actions.take_in import take_in
from mcp_server.adapters import files, history, memory_file, places
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import Conflict, DaybookError
from mcp_server.core.memory import Kind, Memory
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
def one_change() -> Iterator[None]:
    """Let all that the block does to files be one change, which is taken back as one."""
    before = _change.set(_change.get() or _name())
    try:
        yield
    finally:
        _change.reset(before)


@contextlib.contextmanager
def one_run() -> Iterator[None]:
    """Let the changes of the block be one run, which is taken back as one, or change by change."""
    before = _run.set(_run.get() or _name())
    try:
        yield
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
    accept: Accept = Accept.CARRY,
    session: str = "",
    **detail: object,
) -> Found:
    """
    Let the file that was *found* say *memory*, and tell the ledger of *event* with *detail*.

    Raises Conflict when the file changed since it was found, Rejected, OSError; it is untouched then.
    """
    accepted = is_accepted(store, found) if accept is Accept.CARRY else accept is Accept.YES
    now = put(store, found, memory, verb=event)
    tell(store, event, found, now, accept=accepted, session=session, **detail)
    return now


def move(
    store: Store, vault: Vault, ref: str, path: Path, target: Path, event: str, **detail: object
) -> None:
    """
    Move the file of the memory *ref*, whatever it says, to *target*, and tell the ledger of *event*.

    Raises FileExistsError when something is there, Conflict, OSError.
    """
    files.move(path, target)
    digest = ""
    with contextlib.suppress(DaybookError):  # it is huge, or a link by now
        digest = files.digest(files.read(target))
    effect = [ref, places.place_of(store.home, vault, path), digest]
    effect += [places.place_of(store.home, vault, target), digest]
    _tell(store, vault, event, ref, [path, target], [effect], **detail)


def put(store: Store, found: Found, memory: Memory, *, to: Path | None = None, verb: str) -> Found:
    """
    Let the file that was *found* say *memory* and lie at *to*, and keep what it said before.

    For who tells the ledger and the index of many at once. Raises as `commit` does.
    """
    data = memory_file.rewrite(found.data, memory, path=str(found.path))
    digest = files.digest(data)
    if data != found.data:
        files.replace(
            found.path, data, expected=found.digest, former=_kept(store, found, memory, digest, verb)
        )
    if to and to != found.path:
        _move(found.path, to)
    return replace(found, memory=memory, path=to or found.path, data=data, digest=digest)


def effect_of(store: Store, was: Found | None, now: Found) -> Effect:
    """Return what became of a file: *was* before, None for one that is new, *now* after."""
    before = [places.place_of(store.home, was.vault, was.path), was.digest] if was else ["", ""]
    return [now.ref, *before, places.place_of(store.home, now.vault, now.path), now.digest]


def indexed(vault: Vault, paths: Iterable[Path]) -> list[Path]:
    """Return those of *paths* that the index knows: not what lies in the trash or waits as a candidate."""
    return [path for path in dict.fromkeys(paths) if any(path.is_relative_to(one) for one in vault.folders())]


def by_whom(store: Store) -> dict[str, object]:
    """Return what each line of the ledger says of a change: its name, that of its run, and who made it."""
    run = {"run": _run.get()} if _run.get() else {}
    return {"change": _change.get() or _name(), **run, "by": store.by()}


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
    effects = [effect_of(store, was, now)] if was is None or was.digest != now.digest else []
    _tell(store, now.vault, event, now.ref, [now.path], effects, digests=digests, session=session, **detail)


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
    Write a line into the ledger, and take the files at *paths* into the index.

    The file is the memory; a ledger or an index in trouble does not undo it: the answer says so, and the
    next sync makes up for what the index was not told.
    """
    said = {name: value for name, value in detail.items() if value is not None}
    if effects:
        said |= {**by_whom(store), "files": effects}
    try:
        store.ledger.append(event, store.clock(), refs=[ref], **said)
    except OSError as error:
        reason = error.strerror or error
        store.database.trouble.remark(f"That this was {event} could not be written down: {reason}.")
    with if_free(store):
        take_in(store, vault, *indexed(vault, paths))
        catch_up(store)


def _move(source: Path, target: Path) -> None:
    """Move a file; one that a killed process moved halfway, so that it has both names, loses the first."""
    try:
        files.move(source, target)
    except FileExistsError:
        data = files.read(source)
        if data != files.read(target):
            raise Conflict(f"{target} exists already.", "Rename or forget that file first.") from None
        files.delete(source, expected=files.digest(data))


def _kept(store: Store, found: Found, memory: Memory, digest: str, verb: str) -> tuple[Path, bytes] | None:
    """Return where the bytes that a file has are kept, and those bytes; None where no word of them goes."""
    if memory.kind is Kind.CONVERSATION and memory.text.startswith(found.memory.text):
        return None  # it only goes on; kept, it would be there once for each piece
    place = history.new_place(
        store.home, found.ref, store.clock(), by=store.by(), verb=verb, was=found.digest, now=digest
    )
    return place, found.data


def _name() -> str:
    return os.urandom(6).hex()
