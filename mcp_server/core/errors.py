"""
The errors that Daybook raises on purpose.

    DaybookError                1   base; catch this to catch everything raised on purpose
      SettingsError             2   a setting does not parse, a folder cannot be used
      NotFound                  3   nothing has that id
        Elsewhere               3   what has that id is in the trash or of another project
      Rejected                  4   the input cannot be stored: empty, too long, a secret
        PlaceTaken              4   another file is where this one would go
      Conflict                  5   the file changed since it was read
      Unreadable                6   this file is not a memory: path, line, reason
        Barred                  6   the system does not let us read it
        NotHere                 6   a sync service keeps it elsewhere
      IndexUnavailable          7   SQLite cannot be used: its disk is full, its file cannot be opened
        IndexBusy               7   another process holds the index for longer than we wait
        IndexSetAside           7   the index was damaged and moved aside: the next use rebuilds it
        IndexOfNewer            7   a newer Daybook made the index: this process cannot use it any more
      EmbedderUnavailable       8   the embedding model cannot be loaded
      ModelUnavailable         10   the model was not asked, or did not answer
      Held                     11   another process holds a lock for longer than we wait
      RemoteUnavailable        13   the remote could not be reached, or git could not be run
        RemoteRefuses          13   the remote answered and says no, until a person corrects something
      PersonNeeded             12   only the person may do this, in their own terminal
      NotAllowed               14   a member's role in a team does not allow this
        TokenUnknown           14   a team's server does not know the token
      StorageUnavailable       15   a team's memory cannot be reached

`str(error)` is a whole sentence for a person; `hint` says what to do next.
Inside Daybook a broken file is data in a report: `Unreadable` is collected, not propagated.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

AFTER_REFUSAL = "No memory is lost or half written. Once that is mended, try again: it does what is missing."


def disk_refused(error: OSError) -> str:
    """
    Return what to tell a person of a disk error, with the file or folder concerned.

    Of an act on many memories some may be done already, so it does not say that nothing was changed.
    """
    filename = f" {error.filename}" if isinstance(error.filename, str) else ""
    return f"The disk refused{filename}: {error.strerror or error}. {AFTER_REFUSAL}"


def similar(name: str, among: Iterable[str]) -> list[str]:
    """Return up to three of the lower-case names *among* that are most like *name*, best first."""
    import difflib  # imported here, because only a mistyped name needs it

    return difflib.get_close_matches(name[:80].lower(), list(among), n=3)


class DaybookError(Exception):
    """Base of all errors raised on purpose; `exit_code` is what the CLI exits with."""

    exit_code = 1
    hint = ""

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence)
        if hint is not None:
            self.hint = hint

    @property
    def with_hint(self) -> str:
        """The sentence and the hint as one text, where a place has room for both."""
        return f"{self} {self.hint}".rstrip()


def all_or_none(names: Iterable[str], look: Callable[[str], T]) -> list[T]:
    """
    Return what *look* returns for each of *names*, or raise the first refusal.

    That refusal tells of all names that are refused, and that nothing was done to the others.
    """
    results, refusals = list[T](), list[DaybookError]()
    for name in names:
        try:
            results.append(look(name))
        except (NotFound, Rejected, Unreadable) as error:
            refusals.append(error)
    if not refusals:
        return results
    first = refusals[0]
    if len({error.hint for error in refusals}) == 1:
        first.args = (" ".join(map(str, refusals)),)
    else:
        first.args, first.hint = (" ".join(error.with_hint for error in refusals),), ""
    if results:
        first.hint = f"Nothing was done to the others. {first.hint}".rstrip()
    raise first


class SettingsError(DaybookError):
    """A setting does not parse, or a folder named by one cannot be used."""

    exit_code = 2


class NotFound(DaybookError):
    """
    No visible memory has the requested id; *sentence* and *hint* are for things other than memories.

    `memory_id` is the requested id, '' for other things.
    """

    exit_code = 3

    def __init__(
        self, memory_id: str, nearest: Sequence[str] = (), *, sentence: str = "", hint: str = ""
    ) -> None:
        self.memory_id = "" if sentence else memory_id.strip()
        if not memory_id.strip():
            sentence = sentence or "No id was given."
        elif nearest:
            hint = f"Did you mean {', '.join(nearest)}?"
        super().__init__(
            sentence or f"No memory has the id '{memory_id}'.", hint or "Find it with recall or list."
        )


class Elsewhere(NotFound):
    """What has the requested id is in the trash, of another project, or not read; the hint says where."""


class Rejected(DaybookError):
    """The input cannot be stored: it is empty, too long, malformed or holds a secret."""

    exit_code = 4


class PlaceTaken(Rejected):
    """Another file is where this one would go, and stays as it is."""

    def __init__(self, path: object) -> None:
        super().__init__(f"{path} exists already.", "Rename or forget that file first.")


class Conflict(DaybookError):
    """The file changed between reading it and writing it; nothing was written."""

    exit_code = 5
    hint = "Read it again, then repeat the change on its current text."


class Unreadable(DaybookError):
    """A file that cannot be read as a memory: `path`, `line` (from 1, 0 for the whole file), `reason`."""

    exit_code = 6
    hint = "Correct the file in an editor; Daybook reads it again when you save it."

    def __init__(self, path: str, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")
        self.path, self.line, self.reason = path, line, reason


class Barred(Unreadable):
    """A file that the system does not let us read: its permissions, its folder's, or its disk."""

    hint = "Give your account the right to read it and its folder."


class NotHere(Unreadable):
    """A file that a sync service keeps elsewhere, and of which only a placeholder is on this machine."""

    hint = "Open it in the Finder: that downloads it."


class IndexUnavailable(DaybookError):
    """SQLite cannot be used; the memories themselves are safe. The hint says what helps in this case."""

    exit_code = 7
    hint = "Your memories are safe in their files. Try again; 'daybook doctor' says what is wrong."


class IndexBusy(IndexUnavailable):
    """Another process holds the index for longer than we wait; *holder* describes that process."""

    hint = "Try again when that process is done; end it if it is stopped."

    def __init__(self, holder: str) -> None:
        super().__init__(f"The index is held by {holder}.")


class IndexSetAside(IndexUnavailable):
    """The index was damaged and moved aside; the next call rebuilds it."""

    hint = "Try again: Daybook rebuilds it from the files."

    def __init__(self) -> None:
        super().__init__("The index was damaged and has been moved aside; the memories are safe.")


class IndexOfNewer(IndexUnavailable):
    """A newer Daybook made the index, with the schema of that *number*: this process cannot use it."""

    hint = ""

    def __init__(self, number: int) -> None:
        super().__init__(
            f"The index was made by a newer Daybook (schema {number}): start this session again, or update"
            " this copy of Daybook."
        )


class EmbedderUnavailable(DaybookError):
    """The embedding model cannot be loaded; recall answers by words alone."""

    exit_code = 8
    hint = "'daybook model use NAME' chooses another: one of 'daybook model list', or 'none' for words only."


class ModelUnavailable(DaybookError):
    """
    The model was not called, or did not answer.

    `later` says whether the same request may be tried again later; otherwise the item is given up.
    """

    exit_code = 10
    hint = "Run 'daybook status' to see what was spent and what waits."

    def __init__(self, sentence: str, hint: str | None = None, *, later: bool = True) -> None:
        super().__init__(sentence, hint)
        self.later = later


class Held(DaybookError):
    """Another process holds the lock *name* for longer than we wait; *holder* describes that process."""

    exit_code = 11
    hint = "Try again when that process is done; end it if it is stopped."

    def __init__(self, name: str, holder: str) -> None:
        super().__init__(f"{name} is held by {holder}, so nothing was done.")
        self.holder = holder


class RemoteUnavailable(DaybookError):
    """The remote could not be reached, or git could not be run; what was remembered stays here."""

    exit_code = 13


class RemoteRefuses(RemoteUnavailable):
    """The remote answered, and lets nobody in or takes no changes, until a person corrects that."""


class NotAllowed(DaybookError):
    """A member's role in a team does not allow this; nothing was changed."""

    exit_code = 14
    hint = "Ask a curator of the team, or its administrator for another role."


class TokenUnknown(NotAllowed):
    """A team's server does not know the token: it says nothing of what was sent."""


class StorageUnavailable(DaybookError):
    """A team's memory cannot be reached; the person's own is not concerned."""

    exit_code = 15
    hint = "Ask again later; 'daybook team status' says when it last answered."


class PersonNeeded(DaybookError):
    """
    Only the person may do this: accept, consent, settle, delete for good.

    *act* names the action, as a noun; *typed* is the command that the person types, without `daybook`.
    """

    exit_code = 12

    def __init__(self, act: str, typed: str, *, why: str = "") -> None:
        sentence = f"{act[:1].upper()}{act[1:]} needs the person's consent"
        super().__init__(
            f"{sentence}{f', and {why}' if why else ''}. Nothing was changed.",
            f"The person types it in their own terminal, not one that Claude started: daybook {typed}",
        )
