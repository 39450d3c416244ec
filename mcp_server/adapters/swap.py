"""
Changing a file that people write, too, so that no save of theirs is lost, whenever it comes.

What is to be replaced or taken away gets another name first, in one step with what takes its place. Under
that name nobody finds it any more, so it can be compared in peace with what it was thought to say. When it
says something else it is put back. Its name says what it may say without being missed: whoever finds it
after a kill (`leftovers`) knows whether it holds somebody's words.

A program that opened the file before may still write into it, out of sight. Linux tells whether one does.
Elsewhere the file stays for an hour before it goes, and stays for good when it was written meanwhile.
"""

import functools
import hashlib
import os
import re
import stat
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from mcp_server.adapters.exchange import exchange, has_writer, link, move
from mcp_server.adapters.handles import open_file, sync_folder
from mcp_server.core.errors import Conflict

DIGEST = functools.partial(hashlib.blake2b, digest_size=16)
TEMPORARY_PREFIX = ".daybook-"
LARGEST = 64 * 1024 * 1024  # bytes that are read to compare them
UNKNOWN = "0" * 32  # stands for the digest of what cannot be read
ROUNDS = 8  # saves in a row that each come between two instructions of ours

_TEMPORARY = re.escape(TEMPORARY_PREFIX) + "[0-9a-f]{16}(?:-([0-9a-f]{32})-([0-9a-f]{32}))?"


class FileState(NamedTuple):
    """
    What a file says and who else has it in hand.

    `digest` is '' for what is no regular file, or a huge one. `written`: a program has it open for writing,
    None when that is not known.
    """

    digest: str
    written: bool | None

    def is_one_of(self, digests: Collection[str]) -> bool:
        """Tell whether it says what has one of *digests*, and will say so as far as can be known."""
        return bool(self.digest) and self.digest in digests and not self.written


def temporary_name() -> str:
    """Return a new name for a file that is not finished."""
    return f"{TEMPORARY_PREFIX}{os.urandom(8).hex()}"


def is_temporary(name: str) -> bool:
    """Tell whether *name* is that of a file that is not finished, or was taken out of the way."""
    return re.fullmatch(_TEMPORARY, name) is not None


def unmissed(name: str) -> tuple[str, ...]:
    """
    Return the digests of what a file may say without being missed that was taken out of the way as *name*.

    Return () for any other name.
    """
    match = re.fullmatch(_TEMPORARY, name)
    return tuple(filter(None, match.groups())) if match else ()


def look(path: Path, *, apart: bool) -> FileState:
    """
    Return the state of the file *path*; what can be read by nobody says nothing.

    Who writes it is asked only with *apart*, when no other program knows its name: one that opens it just
    then would have to wait for us.
    """
    try:
        handle = open_file(path, os.O_RDONLY)
    except OSError:
        return FileState("", None)
    try:
        written = has_writer(handle) if apart else None  # first: who ends while it is read is counted
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return FileState("", written)
        with open(handle, "rb", closefd=False) as file:
            return FileState(hashlib.file_digest(file, DIGEST).hexdigest(), written)
    finally:
        os.close(handle)


def swap_in(temporary: Path, path: Path, *, expected: str, mine: str) -> None:
    """
    Let the finished file *temporary* take the place of *path*, whose bytes have the digest *expected*.

    *mine* is the digest of what takes it. The names are durable when this returns.
    Raises Conflict when the file says something else, is being written or is gone; it is as its author left
    it then, and *temporary* is gone.
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
        # Once more: a program that was opening the file as it was exchanged has it open by now.
        state = _check(aside, path, expected, mine)
        if state.written is False:
            aside.unlink(missing_ok=True)


def take_away(path: Path, *, known: str, copy: Path | None = None) -> None:
    """
    Remove the name *path* of a file whose bytes have the digest *known*, or that is *copy* itself.

    Raises Conflict when it is another by now or is being written; it stays then. FileNotFoundError.
    """
    aside = move(path, _aside(path, known, known))
    if copy and os.path.samestat(aside.lstat(), copy.lstat()):
        aside.unlink(missing_ok=True)
        return
    state = look(aside, apart=True)
    if state.is_one_of([known]):
        if state.written is False:
            aside.unlink(missing_ok=True)
        return
    try:
        link(aside, path)
    except OSError:
        if not os.path.lexists(path):  # the system links no file of another user
            move(aside, path)  # otherwise it was saved once more, and this save is kept beside
    else:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)
    raise _conflict(path, aside, state)


def _aside(path: Path, *digests: str) -> Path:
    return path.with_name("-".join((temporary_name(), *(each or UNKNOWN for each in digests))))


def _overwrite(aside: Path, path: Path, expected: str) -> None:
    """Replace *path* where names cannot be exchanged: a save is lost that comes within microseconds."""
    state = look(path, apart=False)
    if not state.is_one_of([expected]):
        aside.unlink(missing_ok=True)
        raise _conflict(path, aside, state)
    move(aside, path)


def _check(aside: Path, path: Path, expected: str, mine: str) -> FileState:
    """Return the state of what came out for *path*; put it back and raise Conflict if it is another."""
    state = look(aside, apart=True)
    if not state.is_one_of([expected]):
        _put_back(aside, path, mine)
        raise _conflict(path, aside, state)
    return state


def _put_back(aside: Path, path: Path, mine: str) -> None:
    """
    Exchange the names until nobody has saved in between; the last save stands in the file then.

    What comes out last goes if it is only ours, whose digest is *mine*; otherwise it is kept.
    """
    there, save = mine, look(aside, apart=True)
    for _ in range(ROUNDS):
        try:
            if not exchange(aside, path):
                break
        except FileNotFoundError:  # who saves with a backup is about to write: the save before is kept
            break
        out = look(aside, apart=True)
        if out.digest == there:
            break
        there, save = save.digest, out
    sync_folder(path.parent)
    state = look(aside, apart=True)
    if state.is_one_of([mine]) and state.written is False:
        aside.unlink(missing_ok=True)


def _conflict(path: Path, aside: Path, state: FileState) -> Conflict:
    """Return what to tell whoever wanted to change *path*."""
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
