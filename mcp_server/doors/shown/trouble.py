"""What went wrong beside an answer, in sentences."""

from collections.abc import Sequence
from pathlib import Path

from mcp_server.adapters.git import GitTrouble
from mcp_server.core.errors import IndexUnavailable
from mcp_server.core.remarks import (
    BlockBehind,
    FolderGone,
    FromFiles,
    GoneAccepted,
    GoneMemories,
    IndexBehind,
    NotArchived,
    NotRecorded,
    Remark,
    WordsRemain,
)
from mcp_server.core.render import counted

NAMED = 5  # memories that are named, of those that are gone


def git(trouble: GitTrouble) -> str:
    """Return why git is not run in this folder."""
    if not trouble.program:
        return "No git was found outside the repository, so commits and their files are not shown."
    called = ".".join(map(str, trouble.version)) or "of an unknown version"
    return (
        f"Git {called} ({trouble.program}) could be made to run programs of a repository, so commits and"
        " their files are not shown. Git 2.45, or a later release of 2.39 to 2.44, is needed."
    )


def caught(paths: Sequence[Path]) -> str:
    """Return which files keep edits that a person saved while Daybook changed a memory; '' without any."""
    if not paths:
        return ""
    return (
        f"Saved by somebody while Daybook changed the file, and kept only here: {', '.join(map(str, paths))}."
    )


def remarks(about: Sequence[Remark], *, refusal: BaseException | None = None) -> list[str]:
    """Return what follows an answer, or follows the *refusal* that came instead of an answer."""
    refused_by_disk = isinstance(getattr(refusal, "__cause__", None), OSError)
    # The refusal says the reason; nothing was answered or saved.
    if isinstance(refusal, (OSError, IndexUnavailable)) or refused_by_disk:
        about = [other for other in about if not isinstance(other, (FromFiles, IndexBehind))]
    return [remark(other) for other in about]


def remark(about: Remark) -> str:
    """Return what follows an answer."""
    match about:
        case NotRecorded(event, reason, later):
            return f"That this was {event} could not be recorded{' yet' if later else ''}: {reason}."
        case IndexBehind(reason):
            return f"{reason} Your files are saved; the index catches up automatically."
        case FromFiles(reason, unsearched):
            older = f"; {unsearched:,} older files were not searched" if unsearched else ""
            return f"{reason} This answer comes from your files, by words only{older}."
        case WordsRemain(reason):
            return (
                f"{reason} The file is deleted for good, but the index contains some of its words until"
                " it is rebuilt: run 'daybook maintain rebuild' when the index is free."
            )
        case BlockBehind(reason):
            return f"{reason} Its line in CLAUDE.md disappears when the block is next updated."
        case NotArchived(failures):
            failed = " ".join(f"[{memory_id}]: {why.rstrip('.')}." for memory_id, why in failures[:NAMED])
            more = f" and {len(failures) - NAMED} more" if len(failures) > NAMED else ""
            return f"Not archived, because that failed: {failed}{more}"
        case FolderGone(folder):
            return (
                f"The folder {folder} is gone or cannot be reached, so the memories of its project may be"
                " missing here: if it was moved, start a session where it is now."
            )
        case GoneMemories(folder, number, kept, history):
            before = f" Earlier versions of {kept} of them are in {history}." if kept else ""
            return (
                f"{_are_gone('', number, folder)}: connect the disk that holds the folder, or copy the"
                f" folder back from a backup.{before}"
            )
        case GoneAccepted(folder, ids):
            end = ", ..." if len(ids) > NAMED else "."
            return (
                f"{_are_gone(' that you accepted', len(ids), folder)}:"
                " a pull, another branch or a person did. 'daybook restore ID' brings back what you accepted:"
                f" {', '.join(ids[:NAMED])}{end}"
            )


def _are_gone(which: str, number: int, folder: str) -> str:
    verb, pronoun = ("is", "it") if number == 1 else ("are", "them")
    return f"{counted(number, 'memory')}{which} {verb} gone from {folder}; Daybook did not remove {pronoun}"
