"""
A vault: a folder holding `knowledge/ conversations/ sessions/ archive/`, the truth about content.

A memory's folder gives its kind; `archive/` means that it is archived.
Subfolders are read; hidden files, temporary files and the conflict copies of
synchronisers are not memories.
"""

import collections
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from mcp_server.adapters import files
from mcp_server.core.changes import BY_PATH, Stamp
from mcp_server.core.conflict_copies import original_of
from mcp_server.core.errors import Rejected, Unreadable
from mcp_server.core.memory_parts import ARCHIVE_FOLDER, ID, Kind, Level, check_id, ref_of

FOLDERS = {kind.folder: kind for kind in Kind}
_UNSEEN = -1, 0  # size and mtime that no file has
CLOSED = "is a folder that cannot be read"
"""What is said of the closed folders of `stamps`."""


class Vault(NamedTuple):
    """
    One vault: its folder, its level and its project.

    `key` names it in the index and is a valid folder name.
    `adopted`: the person asked for it, so new memories are written there; none are into a vault that merely
    came with a repository, nor into the copy of a team's memory.
    `in_repository`: strangers may have written its files, in a repository or as members of the team.
    """

    key: str
    root: Path
    level: Level
    project: str = ""
    in_repository: bool = False
    adopted: bool = True
    kinds: tuple[Kind, ...] = tuple(Kind)

    def ref(self, memory_id: str) -> str:
        """Return the ref of the memory with that id."""
        return ref_of(self.key, memory_id)

    def path_for(self, memory_id: str, kind: Kind, *, archived: bool = False) -> Path:
        """Return the path for a memory of that id and kind."""
        return self.folder_for(kind, archived=archived) / f"{check_id(memory_id)}.md"

    def folder_for(self, kind: Kind, *, archived: bool = False) -> Path:
        """Return the folder for memories of that kind, or the archive."""
        return self.root / (ARCHIVE_FOLDER if archived else kind.folder)

    def folders(self) -> list[Path]:
        return [self.root / name for name in (*(kind.folder for kind in self.kinds), ARCHIVE_FOLDER)]


def make_vault_folders(vault: Vault) -> None:
    """Create the folders of *vault* that are missing."""
    for folder in vault.folders():
        files.make_folder(folder)


def kind_of(vault: Vault, path: Path) -> tuple[Kind, bool]:
    """Return the kind that the folder of *path* gives, and whether the file is in the archive."""
    top = os.fspath(path).removeprefix(_beginning(vault)).partition(os.sep)[0]
    return FOLDERS.get(top, Kind.KNOWLEDGE), top == ARCHIVE_FOLDER


def is_inside(vault: Vault, path: Path) -> bool:
    """Tell whether *path* is in *vault* by its name, links not resolved; in a tenth of pathlib's time."""
    return os.fspath(path).startswith(_beginning(vault))


def _beginning(vault: Vault) -> str:
    return f"{os.fspath(vault.root)}{os.sep}"


def confined(vault: Vault, path: Path) -> Path:
    """Return *path* when it is in *vault*, links resolved; raise Rejected otherwise."""
    # The folder may have become a link since the vault was opened.
    if vault.in_repository and os.path.islink(vault.root):
        raise Rejected(f"{vault.root} is a symbolic link.", "Put a folder in its place.")
    if _has_no_links(os.fspath(vault.root), os.fspath(path)):
        return path
    real = Path(os.path.realpath(path.parent)) / path.name
    if not real.is_relative_to(os.path.realpath(vault.root)):
        raise Rejected(f"{path} leads out of {vault.root}.", "Remove the symbolic link that leads outside.")
    return path


def _has_no_links(root: str, path: str) -> bool:
    """Tell whether all of *path* below *root* are real folders: then it cannot lead elsewhere."""
    folder = os.path.dirname(path)
    while len(folder) > len(root) and os.path.basename(folder) != ".." and not os.path.islink(folder):
        folder = os.path.dirname(folder)
    return folder == root


def stamps(vault: Vault, closed: list[str] | None = None, copies: list[Stamp] | None = None) -> list[Stamp]:
    """
    Return the stamps of all memory files of *vault*, sorted by path.

    Adds to *closed* the folders that exist and could not be read, or not so far that each file could be
    looked at, and to *copies* the conflict copies of a sync service. A vault in a repository has no files
    while a link is at a place that needs a folder.
    """
    if vault.in_repository and any(map(os.path.islink, (vault.root, *vault.folders()))):
        return []
    shut = [] if closed is None else closed
    aside = [] if copies is None else copies
    stamps_found = (stamp for folder in vault.folders() for stamp in _stamps(os.fspath(folder), shut, aside))
    return sorted(stamps_found, key=BY_PATH)


def stamps_in(folder: Path, closed: list[str]) -> list[Stamp]:
    """
    Return the stamps of the memory files that lie in *folder* itself, sorted by path.

    Adds to *closed* what could not be read, as `stamps` does; a folder that does not exist has none.
    """
    place = os.fspath(folder)
    in_folder = (stamp for stamp in _stamps(place, closed, []) if os.path.dirname(stamp.path) == place)
    return sorted(in_folder, key=BY_PATH)


def is_open(folder: Path) -> bool:
    """Tell whether *folder* can be listed, and the memory files in it looked at."""
    closed: list[str] = []
    collections.deque(_stamps(os.fspath(folder), closed, []), maxlen=0)
    return os.fspath(folder) not in closed


def stamp(path: Path | str) -> Stamp | None:
    """
    Return the stamp of one file, None when it does not exist.

    A file that cannot be looked at (permissions, a failing disk, only a placeholder) may be there: its stamp
    fits none that was taken, so that it is read, which says why it cannot be.
    """
    try:
        status = os.stat(path, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return Stamp(os.fspath(path), *_UNSEEN) if files.has_placeholder(path) else None
    except OSError:
        return Stamp(os.fspath(path), *_UNSEEN)
    return Stamp(os.fspath(path), status.st_size, _datable(status.st_mtime_ns))


def free_path(vault: Vault, memory_id: str, kind: Kind, *, place: str, archived: bool = False) -> Path:
    """
    Return the path in *vault* for a memory whose file lies at *place* of its vault now.

    It goes by its id where a file has that name. Raises Rejected when the path leads out of the vault.
    """
    path = kept_path(vault, kind, place=place, archived=archived)
    return confined(vault, path.with_name(f"{check_id(memory_id)}.md")) if stamp(path) else path


def kept_path(vault: Vault, kind: Kind, *, place: str, archived: bool = False) -> Path:
    """
    Return the path below the folder of *kind*, or the archive, with the subfolders and the name of *place*.

    People sort files into subfolders and name them after titles. Raises Rejected when it leaves *vault*.
    """
    _, *below = PurePosixPath(place).parts
    return confined(vault, vault.folder_for(kind, archived=archived).joinpath(*below))


def is_memory_name(name: str) -> bool:
    """Tell whether a file of that name may be a memory."""
    return _is_markdown(name) and not original_of(name)


def is_candidate_name(name: str) -> bool:
    """Tell whether a file of that name may be a candidate: what stands before `.md` names it to people."""
    return name.endswith(".md") and bool(ID.fullmatch(name.removesuffix(".md")))


def _is_markdown(name: str) -> bool:
    return name.lower().endswith((".md", ".markdown")) and not name.startswith((".", "~"))


def is_utf8(path: str) -> bool:
    """Tell whether *path* is valid UTF-8: the index can hold no other path."""
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)


def read_memory_file(vault: Vault, path: Path) -> bytes:
    """Return the bytes of a memory's file in *vault*; raise Unreadable, or FileNotFoundError."""
    try:
        return files.read(confined(vault, path))
    except Rejected as error:
        raise Unreadable(str(path), 0, str(error)) from error


def _stamps(folder: str, closed: list[str], copies: list[Stamp]) -> Iterator[Stamp]:
    waiting = [folder]
    while waiting:
        place, has_unknown = waiting.pop(), False
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        if path := _elsewhere(place, entry.name):
                            yield Stamp(path, *_UNSEEN)
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif _is_markdown(entry.name) or (entry.is_symlink() and entry.is_dir()):
                        # A link to a folder is not followed: whoever reads it says so.
                        try:
                            status = entry.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue
                        except OSError:  # it may be there: only its folder may not be searched
                            has_unknown = True
                            continue
                        file_stamp = Stamp(entry.path, status.st_size, _datable(status.st_mtime_ns))
                        if original_of(entry.name):
                            copies.append(file_stamp)
                        else:
                            yield file_stamp
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:  # other users may be allowed to read it, or the disk fails
            has_unknown = True
        if has_unknown:
            closed.append(place)


def _elsewhere(folder: str, name: str) -> str:
    """Return the path of the memory's file for which the placeholder *name* stands, '' when it is none."""
    file = name[1:].removesuffix(files.PLACEHOLDER)
    path = os.path.join(folder, file)
    is_placeholder = name.endswith(files.PLACEHOLDER) and _is_markdown(file)
    return path if is_placeholder and not os.path.lexists(path) else ""


def _datable(mtime_ns: int) -> int:
    """Return *mtime_ns*, or the nearest moment that a calendar and the index can hold: 1677 to 2262."""
    if -(1 << 63) <= mtime_ns < 1 << 63:
        return mtime_ns
    return (1 << 63) - 1 if mtime_ns > 0 else -(1 << 63)
