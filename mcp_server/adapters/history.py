"""
The history: the bytes that memories had before Daybook changed their files.

`history/<vault>/<id>/<number>-<moment>-<by>-<verb>-<was>-<now>.md` for each change, with the digests of the
bytes before and after it.
It is in the home store even for a vault in a repository. A file's name holds everything about a version, so
finding one needs neither the index nor the ledger.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from mcp_server.adapters import files, moving, places
from mcp_server.core.errors import Conflict, PlaceTaken

_MOMENT = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(
    r"(?P<number>\d{4,})-(?P<at>\d{8}T\d{6}Z)-(?P<by>[a-z]+)-(?P<verb>[a-z_]+)"
    r"-(?P<was>[0-9a-f]{32})-(?P<now>[0-9a-f]{32})\.md"
)


@dataclass(frozen=True, slots=True)
class Version:
    """
    The bytes of a file before one change: when it was made, by whom and by which verb.

    `was` and `now` are the digests of the bytes before and after it. The file `path` holds the bytes before;
    what looked like a secret and was removed from the memory since is masked there.
    """

    path: Path
    number: int
    at: datetime
    by: str
    verb: str
    was: str
    now: str

    @property
    def ref(self) -> str:
        return f"{self.path.parent.parent.name}/{self.path.parent.name}"

    @property
    def size(self) -> int:
        try:
            return self.path.lstat().st_size
        except FileNotFoundError:
            return 0


def versions(home: Path, ref: str) -> list[Version]:
    """Return the kept versions of the memory *ref*, oldest first; [] when none exists or is readable."""
    return sorted(
        _versions(places.history_folder(home, ref)), key=lambda version: (version.number, version.path.name)
    )


def new_place(home: Path, ref: str, at: datetime, *, by: str, verb: str, was: str, now: str) -> Path:
    """Return the path for the bytes with the digest *was* of the memory *ref*: numbered after all others."""
    number = 1 + max((version.number for version in _versions(places.history_folder(home, ref))), default=0)
    moment = at.astimezone(UTC).strftime(_MOMENT)
    return places.history_folder(home, ref) / f"{number:04}-{moment}-{by}-{verb}-{was}-{now}.md"


def carry(home: Path, ref: str, to: str) -> None:
    """Move the kept versions of the memory *ref* to *to*, its new ref."""
    for version in versions(home, ref):
        target = places.history_folder(home, to) / version.path.name
        with contextlib.suppress(PlaceTaken, Conflict):  # another process carried or deleted it
            moving.move(version.path, target)
    _remove_if_empty(places.history_folder(home, ref))


def erase(versions: Iterable[Version]) -> None:
    """Delete versions for good, and their folders when they are empty."""
    for folder, of_folder in groupby(versions, lambda version: version.path.parent):
        for version in of_folder:
            version.path.unlink(missing_ok=True)
        _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / files.LOCK_NAME).unlink(missing_ok=True)
        files.sync_folder(folder)
        folder.rmdir()


def everything(home: Path) -> list[Version]:
    """Return all versions of all memories."""
    return [version for vault in _folders(home / places.HISTORY) for version in of_vault(home, vault.name)]


def of_vault(home: Path, key: str) -> list[Version]:
    """Return all versions of the memories of the vault *key*, each memory's in order."""
    folders = _folders(places.history_folder(home, key))
    return sorted(
        (version for folder in folders for version in _versions(folder)),
        key=lambda version: (version.ref, version.number),
    )


def size(home: Path) -> int:
    """Return the size of all versions in bytes."""
    return sum(version.size for version in everything(home))


def _folders(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    return []


def _versions(folder: Path) -> Iterator[Version]:
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if name := _NAME.fullmatch(path.name):
                at = datetime.strptime(name["at"], _MOMENT).replace(tzinfo=UTC)
                yield Version(
                    path, int(name["number"]), at, name["by"], name["verb"], name["was"], name["now"]
                )
