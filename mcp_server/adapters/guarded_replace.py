"""
Changing a file that people write, too, so that none of their saves is lost, at whatever moment it comes.

A file that is to be replaced or deleted first gets another name, in the same step in which its replacement
gets its name. Programs do not know the new name, so its content can safely be compared with what was
expected. If it differs, the file is put back. The new name lists the digests that may be deleted: a process
that finds the file after a kill (`leftovers`) knows whether it holds text that someone saved.

A program that opened the file earlier may still write into it. Linux tells whether one does.
Elsewhere the file is kept for an hour before it is deleted, and for good when it was written meanwhile.
"""

import functools
import hashlib
import os
import re
import stat
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from mcp_server.adapters.exchange import exchange, give_name, has_writer, move
from mcp_server.adapters.open_files import open_file, sync_folder
from mcp_server.core.errors import Conflict

DIGEST = functools.partial(hashlib.blake2b, digest_size=16)
TEMPORARY_PREFIX = ".daybook-"
LARGEST = 64 * 1024 * 1024  # bytes that are read to compare them
UNKNOWN = "0" * 32  # stands for the digest of an unreadable file
ROUNDS = 8  # saves in a row that each fall between two of our instructions

_TEMPORARY = re.escape(TEMPORARY_PREFIX) + "[0-9a-f]{16}(?:-([0-9a-f]{32})-([0-9a-f]{32}))?"


class FileState(NamedTuple):
    """
    The content of a file, and whether a program writes it.

    `digest` is '' for a huge file or one that is not regular. `written`: a program has it open for writing,
    None when the system does not say.
    """

    digest: str
    written: bool | None

    def is_one_of(self, digests: Collection[str]) -> bool:
        """Tell whether its content has one of *digests*, and no program is known to write it."""
        return bool(self.digest) and self.digest in digests and not self.written


def temporary_name() -> str:
    """Return a new name for an unfinished file."""
    return f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}"


def is_temporary(name: str) -> bool:
    """Tell whether *name* is that of an unfinished file, or of one that was moved aside."""
    return re.fullmatch(_TEMPORARY, name) is not None


def unmissed(name: str) -> tuple[str, ...]:
    """
    Return the digests with which a file that was moved aside as *name* may be deleted.

    Return () for any other name.
    """
    match = re.fullmatch(_TEMPORARY, name)
    return tuple(filter(None, match.groups())) if match else ()


def look(path: Path, *, apart: bool) -> FileState:
    """
    Return the state of the file *path*; an unreadable file has the digest ''.

    Asks for writers only with *apart*, when no other program knows its name: a program that opens the file
    just then would have to wait for us.
    """
    try:
        handle = open_file(path, os.O_RDONLY)
    except OSError:
        return FileState("", None)
    try:
        written = has_writer(handle) if apart else None  # first: a program that stops while we read counts
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return FileState("", written)
        with open(handle, "rb", closefd=False) as file:
            return FileState(hashlib.file_digest(file, DIGEST).hexdigest(), written)
    finally:
        os.close(handle)


def swap_in(temporary: Path, path: Path, *, expected: str, mine: str) -> None:
    """
    Replace *path*, whose bytes have the digest *expected*, with the finished file *temporary*.

    *mine* is the digest of *temporary*. The names are durable when this returns. Raises Conflict when the
    file was changed or deleted, or a program is writing it; then it stays as its author left it, and
    *temporary* is deleted.
    """
    aside = move(temporary, _aside(path, expected, mine))
    try:
        exchanged = exchange(aside, path)
        if not exchanged:
            _overwrite(aside, path, expected)
    except OSError as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, FileNotFoundError):
            raise Conflict(f"{path.name} was deleted or renamed meanwhile.") from None
        raise
    if exchanged:
        _check(aside, path, expected, mine)
    sync_folder(path.parent)
    if exchanged:
        # Check again: a program that was opening the file during the exchange has it open by now.
        state = _check(aside, path, expected, mine)
        if state.written is False:
            aside.unlink(missing_ok=True)


def take_away(path: Path, *, expected: str, copy: Path | None = None) -> None:
    """
    Remove the name *path* of a file whose bytes have the digest *expected*, or that is *copy* itself.

    Raises Conflict when it changed or a program is writing it; then it stays. FileNotFoundError.
    """
    aside = move(path, _aside(path, expected, expected))
    if copy and os.path.samestat(aside.lstat(), copy.lstat()):
        aside.unlink(missing_ok=True)
        return
    state = look(aside, apart=True)
    if state.is_one_of([expected]):
        if state.written is False:
            aside.unlink(missing_ok=True)
        return
    try:
        give_name(aside, path)
    except OSError:
        if not os.path.lexists(path):  # the system hard-links no file of another user
            move(aside, path)  # otherwise it was saved again, and this save is kept next to it
    else:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)
    raise _conflict(path, aside, state)


def _aside(path: Path, *digests: str) -> Path:
    return path.with_name("-".join((temporary_name(), *(digest or UNKNOWN for digest in digests))))


def _overwrite(aside: Path, path: Path, expected: str) -> None:
    """Replace *path* where names cannot be exchanged: a save within these microseconds is lost."""
    state = look(path, apart=False)
    if not state.is_one_of([expected]):
        aside.unlink(missing_ok=True)
        raise _conflict(path, aside, state)
    move(aside, path)


def _check(aside: Path, path: Path, expected: str, mine: str) -> FileState:
    """Return the state of the file that came out of *path*; if it changed, put it back, raise Conflict."""
    state = look(aside, apart=True)
    if not state.is_one_of([expected]):
        _put_back(aside, path, mine)
        raise _conflict(path, aside, state)
    return state


def _put_back(aside: Path, path: Path, mine: str) -> None:
    """
    Exchange the names until no program saved in between; the file then holds the last save.

    The last file that comes out is deleted if it is only ours, with the digest *mine*; otherwise it is kept.
    """
    ours, save = mine, look(aside, apart=True)
    for _ in range(ROUNDS):
        try:
            if not exchange(aside, path):
                break
        except FileNotFoundError:  # a program that saves with a backup is about to write: keep the last save
            break
        out = look(aside, apart=True)
        if out.digest == ours:
            break
        ours, save = save.digest, out
    sync_folder(path.parent)
    state = look(aside, apart=True)
    if state.is_one_of([mine]) and state.written is False:
        aside.unlink(missing_ok=True)


def _conflict(path: Path, aside: Path, state: FileState) -> Conflict:
    """Return the error for the caller that wanted to change *path*."""
    if aside.exists() and not look(aside, apart=True).is_one_of(unmissed(aside.name)):
        return Conflict(
            f"{path.name} was saved more than once meanwhile; what it said in between is in {aside}.",
            f"{Conflict.hint} The person may want to look into that file, and delete it.",
        )
    if state.written:
        return Conflict(
            f"{path.name} is being written by another program.", "Close it there, or try again in a moment."
        )
    return Conflict(f"{path.name} was changed meanwhile.")
