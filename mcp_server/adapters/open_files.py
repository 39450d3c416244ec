"""
Open files, where operating systems differ: opening, reading at an offset, mode, making durable, room.

On Windows other users cannot read a person's home folder, so there we set no POSIX modes.
"""

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path

if sys.platform == "win32":
    _ALWAYS = os.O_BINARY | os.O_NOINHERIT  # otherwise Windows changes the line ends on reading and writing
else:
    _ALWAYS = os.O_NOFOLLOW | os.O_CLOEXEC


def open_file(path: Path, flags: int, mode: int = 0o600) -> int:
    """
    Return a handle on the file *path*: binary, and not inherited by other programs.

    *flags* are those of `os.open` that every system has. A symbolic link is not followed: OSError with
    ELOOP. A reader never waits for the other end of a pipe.
    """
    if sys.platform == "win32":
        if os.path.islink(path):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        return os.open(path, flags | _ALWAYS, mode)
    return os.open(path, flags | _ALWAYS | (os.O_NONBLOCK if flags == os.O_RDONLY else 0), mode)


def read_at(handle: int, most: int, offset: int) -> bytes:
    """Return up to *most* bytes of the file from *offset* on; on Windows the handle's place moves there."""
    if sys.platform == "win32":
        os.lseek(handle, offset, os.SEEK_SET)
        return os.read(handle, most)
    return os.pread(handle, most, offset)


def write_at(handle: int, data: bytes, offset: int) -> None:
    """Write *data* into the file at *offset*; on Windows the handle's place moves there."""
    if sys.platform == "win32":
        os.lseek(handle, offset, os.SEEK_SET)
        os.write(handle, data)
    else:
        os.pwrite(handle, data, offset)


def set_mode(handle: int, mode: int) -> None:
    """Give an open file *mode*, whatever the umask says; do nothing on Windows."""
    if sys.platform != "win32":
        os.fchmod(handle, mode)


def open_to_others(path: Path) -> bool:
    """Tell whether the mode of *path* lets other users than its owner in; always False on Windows."""
    return sys.platform != "win32" and bool(path.stat().st_mode & 0o077)


def take_after(handle: int, like: Path) -> None:
    """Give an open file the mode of the file *like*, and its owner and extended attributes where we may."""
    if sys.platform == "win32":
        return
    own, model = os.fstat(handle), like.stat()
    if (own.st_uid, own.st_gid) != (model.st_uid, model.st_gid):
        with contextlib.suppress(OSError):
            os.fchown(handle, -1, model.st_gid)
            os.fchown(handle, model.st_uid, -1)
    os.fchmod(handle, stat.S_IMODE(model.st_mode))
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            for name in os.listxattr(like):
                with contextlib.suppress(OSError):
                    os.setxattr(handle, name, os.getxattr(like, name))


def sync_folder(folder: Path) -> None:
    """Make the names in *folder* durable; does nothing on Windows, where NTFS keeps a journal of names."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def free_bytes(folder: Path) -> int:
    """Return how many bytes the disk of *folder* has left, 0 when it takes no more files; raises OSError."""
    if sys.platform == "win32":
        import shutil  # takes longer to load than all of this module

        return shutil.disk_usage(folder).free
    disk = os.statvfs(folder)
    if disk.f_files and not disk.f_favail:  # some file systems count no files
        return 0
    return disk.f_bavail * disk.f_frsize
