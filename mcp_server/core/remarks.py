"""What follows an answer that is right: what failed beside it, or which memories are gone."""

from typing import NamedTuple


class NotRecorded(NamedTuple):
    """An event that the ledger could not be told, and why; *later*: the next sync records it."""

    event: str
    reason: str
    later: bool = False


class IndexBehind(NamedTuple):
    """Files were saved that the index could not take in; *reason* is the sentence of its error."""

    reason: str


class FromFiles(NamedTuple):
    """The answer comes from the files, by words only; so many older files were *unsearched*."""

    reason: str
    unsearched: int


class WordsRemain(NamedTuple):
    """A file is deleted for good, and the index still has some of its words."""

    reason: str


class BlockBehind(NamedTuple):
    """A memory was deleted, and its line in CLAUDE.md is still there."""

    reason: str


class NotArchived(NamedTuple):
    """Memories that were to be archived with others and stay where they are: the id of each, and why."""

    failures: tuple[tuple[str, str], ...]


class GoneMemories(NamedTuple):
    """
    So many memories vanished from a folder, and Daybook did not remove them.

    Earlier versions of *kept* of them lie in the folder *history*.
    """

    folder: str
    number: int
    kept: int
    history: str


class GoneAccepted(NamedTuple):
    """Accepted memories with these *ids* vanished from a repository's *folder*; they can be restored."""

    folder: str
    ids: tuple[str, ...]


class FolderGone(NamedTuple):
    """The *folder* that the session or the command belongs to is not there any more."""

    folder: str


Loss = GoneMemories | GoneAccepted
Remark = NotRecorded | IndexBehind | FromFiles | WordsRemain | BlockBehind | NotArchived | FolderGone | Loss
