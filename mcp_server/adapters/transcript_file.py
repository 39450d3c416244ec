"""
A transcript as a file: its complete lines from a byte on, in bounded memory, whatever it holds.

Claude Code appends to it while we read; a person may delete, cut or rewrite it at any moment.
"""

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path

from mcp_server.adapters.json_file import object_in
from mcp_server.adapters.open_files import open_file, read_at
from mcp_server.core.errors import Unreadable
from mcp_server.core.memory_parts import moment_in

LARGEST_LINE = 16 * 1024 * 1024  # bytes; a longer line is skipped
BLOCK = 256 * 1024  # bytes read at once
MARKED = 256  # bytes before an offset by which a rewritten file is noticed
LOOKED_INTO = 10  # transcripts that are read to find the one that a session continues
ROUNDED = 2.0  # seconds by which the client's rounded time may differ from the times in a transcript
TAIL = 1024 * 1024  # bytes at the end of a transcript that hold its last answer
TURNS = ("user", "assistant")  # the types of a transcript's entries that are turns
AGENTS = "subagents"  # the folder of a session's agents
MOST_MARKS = 4096  # marks at ends of lines that are held while a file is read

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}")
_HINT = "Sessions are read from the .jsonl files that Claude Code keeps; this one is left alone."


def lines(path: Path, start: int = 0, *, end: int | None = None) -> Iterator[tuple[bytes, int, int]]:
    r"""
    Yield (line without its `\n`, offset of its first byte, offset after its `\n`) from byte *start* on.

    Reads nothing from byte *end* on; a last line without its line feed waits for the next reading;
    a line over 16 MiB comes as `b""` with its range, so that the caller moves on.
    A deleted file has no lines. Raises Unreadable for links, devices and files that we may not read.
    """
    handle = _open(path)
    if handle is None:
        return
    try:
        begun = max(0, start)
        parts: list[bytes] = []  # of a line that spans several blocks
        length = 0
        for block, at in _blocks(handle, begun, end):
            line_start = 0
            while (feed := block.find(b"\n", line_start)) >= 0:
                behind = at + feed + 1
                if length + feed - line_start > LARGEST_LINE:
                    yield b"", begun, behind
                elif parts:
                    parts.append(block[line_start:feed])
                    yield _joined(parts), begun, behind
                else:
                    yield block[line_start:feed], begun, behind
                parts.clear()
                begun, line_start, length = behind, feed + 1, 0
            length += len(block) - line_start
            if length > LARGEST_LINE:
                parts.clear()
            elif line_start < len(block):
                parts.append(block[line_start:])
    finally:
        os.close(handle)


def whole_lines(path: Path, start: int) -> Iterator[bytes]:
    """Yield the lines that begin after byte *start*, or at 0: the line that *start* cuts is left out."""
    following = lines(path, start)
    if start > 0:
        next(following, None)
    return (line for line, _, _ in following)


def count_lines(path: Path, start: int, *, most: int) -> int:
    """Return how many complete lines *path* has from byte *start* on; stops counting at *most*."""
    handle = _open(path)
    if handle is None:
        return 0
    count = 0
    try:
        for block, _ in _blocks(handle, max(0, start), None):
            count += block.count(b"\n")
            if count >= most:
                break
    finally:
        os.close(handle)
    return min(count, most)


def find(folder: Path, session: str) -> Path | None:
    """Return the transcript of *session* below *folder*, Claude Code's projects; None without one."""
    if not _SESSION.fullmatch(session):
        return None
    with contextlib.suppress(OSError):
        paths = [path for path in folder.glob(f"*/{session}.jsonl") if size(path)]
        return max(paths, key=changed, default=None)
    return None


def session_file(path: Path) -> Path:
    """Return the transcript of the session to which the transcript *path*, perhaps an agent's, belongs."""
    return path.parents[1].with_suffix(".jsonl") if is_subagent(path) else path


def is_subagent(path: Path) -> bool:
    """Tell whether *path* is the transcript of an agent that a session started."""
    return path.parent.name == AGENTS


def size(path: Path) -> int:
    """Return the size of *path* in bytes, 0 when it is gone or not a regular file."""
    with contextlib.suppress(OSError, ValueError):
        status = os.lstat(path)
        if stat.S_ISREG(status.st_mode):
            return status.st_size
    return 0


def changed(path: Path) -> float:
    """Return when *path* was last written, in Unix seconds, 0 when it is gone."""
    with contextlib.suppress(OSError, ValueError):
        return os.lstat(path).st_mtime
    return 0.0


def mark(path: Path, offset: int) -> str:
    """
    Return a short digest of the up to 256 bytes before *offset*; '' when there are none.

    A rewritten file has other bytes before the offset at which the last reading ended.
    """
    before = _before(path, offset)
    return _digest(before) if before else ""


class Marks:
    """
    The marks of a file, noted while it is read: it may be rewritten before they are stored.

    `at_start` is the mark before the byte where the reading starts.
    """

    def __init__(self, path: Path, start: int) -> None:
        self._path = path
        self._tail = _before(path, start)
        self._marks: OrderedDict[int, str] = OrderedDict()
        self.at_start = _digest(self._tail) if self._tail else ""

    def noting(self, lines: Iterable[tuple[bytes, int, int]]) -> Iterator[tuple[bytes, int, int]]:
        """Yield *lines*, those of `lines` from *start* on, and note the mark after each."""
        for line, begin, end in lines:
            whole = end - begin == len(line) + 1
            self._tail = (self._tail + line[-MARKED:] + b"\n")[-MARKED:] if whole else b""
            if len(self._tail) == min(MARKED, end):
                self._marks[end] = _digest(self._tail)
            if len(self._marks) > MOST_MARKS:
                self._marks.popitem(last=False)
            yield line, begin, end

    def before(self, offset: int) -> str:
        """Return the mark before *offset*, the end of a line that was read; else the mark in the file now."""
        return self._marks.get(offset) or mark(self._path, offset)


def subagents(path: Path) -> list[Path]:
    """Return the transcripts of the agents that the session of *path* started, sorted by name."""
    if path.suffix != ".jsonl":
        return []
    return sorted(_regular(path.with_suffix("") / AGENTS, "agent-"))


def transcripts(folder: Path) -> list[Path]:
    """Return the sessions under `~/.claude/projects`, oldest change first, without those of agents."""
    aged = []
    for project in _entries(folder):
        with contextlib.suppress(OSError):
            if project.is_dir(follow_symlinks=False):
                for path in _regular(Path(project.path)):
                    if not path.name.startswith("agent-"):
                        with contextlib.suppress(FileNotFoundError):
                            aged.append((os.lstat(path).st_mtime_ns, path))
    return [path for _, path in sorted(aged)]


def _before(path: Path, offset: int) -> bytes:
    """Return the up to 256 bytes before *offset*, b"" when some of them are missing."""
    handle = _open(path) if offset > 0 else None
    if handle is None:
        return b""
    try:
        begin = max(0, offset - MARKED)
        before = read_at(handle, offset - begin, begin)
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)
    return before if len(before) == offset - begin else b""


def _digest(before: bytes) -> str:
    return hashlib.blake2b(before, digest_size=8).hexdigest()


def _open(path: Path) -> int | None:
    """Return a handle on the regular file *path*, None when it does not exist."""
    try:
        handle = open_file(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise _unreadable(path, "is not a valid file name") from error
    except OSError as error:
        reason = "is a symbolic link" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
        raise _unreadable(path, reason) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _unreadable(path, "is not a regular file")
    return handle


def _unreadable(path: Path, reason: str) -> Unreadable:
    error = Unreadable(str(path), 0, reason)
    error.hint = _HINT
    return error


def _blocks(handle: int, start: int, end: int | None) -> Iterator[tuple[bytes, int]]:
    """Yield (bytes, their offset) from *start* to *end*, or to the end of the file as it is then."""
    while block := read_at(handle, BLOCK if end is None else max(0, min(BLOCK, end - start)), start):
        yield block, start
        start += len(block)


def answered_at(folder: Path, moment: float, *, but: str) -> str:
    """
    Return the session in *folder* whose last answer came at *moment*, in Unix seconds; '' for none.

    The session *but* is left out. Of many transcripts, those last written nearest to that moment are read.
    """
    written = []
    for path in _regular(folder):
        with contextlib.suppress(OSError):
            if path.stem != but:
                written.append((abs(path.stat().st_mtime - moment), path))
    near = [path for _, path in sorted(written)[:LOOKED_INTO]]
    return next((path.stem for path in near if abs(_last_answer(path) - moment) <= ROUNDED), "")


def first_turn_at(path: Path) -> int:
    """Return the time of the first turn in the transcript *path*, in Unix seconds, 0 for none."""
    return int(next(_times(lines(path), TURNS), 0.0))


def last_turn_at(path: Path) -> int:
    """Return the time of the last turn in the transcript *path*, in Unix seconds, 0 for none."""
    return int(_last_of(path, TURNS))


def _last_answer(path: Path) -> float:
    """Return the time of Claude's last answer in the transcript *path*, in Unix seconds, 0 for none."""
    return _last_of(path, ("assistant",))


def _last_of(path: Path, speakers: tuple[str, ...]) -> float:
    last = 0.0
    with contextlib.suppress(OSError, Unreadable):
        for moment in _times(lines(path, path.stat().st_size - TAIL), speakers):
            last = moment
    return last


def _times(lines: Iterable[tuple[bytes, int, int]], speakers: tuple[str, ...]) -> Iterator[float]:
    """Yield the time of each turn of *speakers* in *lines*, in Unix seconds."""
    for line, _, _ in lines:
        if any(f'"{speaker}"'.encode() in line for speaker in speakers):
            entry = object_in(line)
            moment = moment_in(entry.get("timestamp"))
            if entry.get("type") in speakers and moment:
                yield moment.timestamp()


def _joined(parts: list[bytes]) -> bytes:
    """Return *parts* as one line and empty the list, so that a long line is not held twice."""
    line = b"".join(parts)
    parts.clear()
    return line


def _regular(folder: Path, prefix: str = "") -> list[Path]:
    paths = []
    for entry in _entries(folder):
        with contextlib.suppress(OSError):
            named = entry.name.startswith(prefix) and entry.name.endswith(".jsonl")
            if named and entry.is_file(follow_symlinks=False):
                paths.append(Path(entry.path))
    return paths


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return list(entries)
    return []
