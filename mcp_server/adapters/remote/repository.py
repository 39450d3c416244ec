"""
The repository that the store is exchanged through: a bare one of our own, and the person's remote.

Git only keeps and carries the bytes: no work tree is ever checked out, files are read and written by us, and
trees are merged by `core/remote`. Nothing of a remote runs: hooks, monitors, filters and attributes are off,
as are submodules and all transports but those of `PROTOCOLS`; a folder's own settings and hooks are overruled
when it is the remote. The person's own git settings hold: they know how to reach the remote.
It is long because what git may do for us, and what it must never do, is one thing to read.
"""

import contextlib
import hashlib
import os
import re
import shlex
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from mcp_server.adapters import files
from mcp_server.adapters.detached import apart, end_all
from mcp_server.adapters.git import Git, environment_of, is_safe_git, program_of
from mcp_server.adapters.remote.refusals import BUSY, LATER, refused, unreachable
from mcp_server.core.errors import RemoteUnavailable

BRANCH = "daybook"
HEAD = f"refs/heads/{BRANCH}"  # what was committed here
FETCHED = "refs/daybook/fetched"  # what the remote had when it was last asked
THEIRS = "refs/daybook/theirs"  # the part of that which was merged with what was committed here
DISK = "refs/daybook/disk"  # what the files said when they were last read: changes are counted from there
PROTOCOLS = "file:http:https:ssh"
LOCAL = 60.0  # seconds for a command that asks no remote
STALE = 600.0  # seconds after which a lock in a folder is that of a killed git, which holds it for moments
MOST_LISTED = 128 * 1024 * 1024  # bytes of the list of a commit's files, which are about a million files
AUTHOR = "Daybook <daybook@localhost>"

_OFF = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null",
    "core.alternateRefsCommand=true", "core.askPass=", "core.fsync=committed", "gc.auto=0",
    "maintenance.auto=false", "receive.autogc=false", "submodule.recurse=false",
    "fetch.recurseSubmodules=false", "fetch.writeCommitGraph=false", "fetch.fsckObjects=true",
    "push.followTags=false", "push.gpgSign=false",
    "push.recurseSubmodules=no", "commit.gpgSign=false", "log.showSignature=false",
    "transfer.bundleURI=false", "protocol.allow=never", "protocol.https.allow=always",
    "protocol.http.allow=always", "protocol.ssh.allow=always", "protocol.file.allow=always",
    "http.followRedirects=false",  # memories go only to the address that the person named, as it was named
)  # fmt: skip
_FLAGS = ("--no-pager", "--no-optional-locks", "--no-replace-objects", *(f for s in _OFF for f in ("-c", s)))
_UNFINISHED = "daybook-unfinished"  # an empty file in a repository while it is made
_NEEDS_QUOTES = re.compile(r'["\\]')
_NO_BRANCH = "couldn't find remote ref"
_FULL = "No space left on device"
_OF_DAMAGE = ("corrupt", "inflate", "bad object", "bad tree", "missing", "unable to read", "unable to parse")
_INIT = ("init", "--quiet", "--bare", "--template=", "--object-format=sha1", f"--initial-branch={BRANCH}")
_PACK = ("gc", "--quiet", "--force")  # also after another one, which was killed: its number is taken again
_PRUNE = "--prune=now"
_LOCKS = ("*.lock", "packed-refs.new", "refs/**/*.lock", "objects/info/**/*.lock", "objects/pack/*.lock")
_BEHIND = (
    *("[rejected]", "fetch first", "non-fast-forward", "cannot lock ref", "incorrect old value"),
    *("failed to update ref", "reference already exists"),
)


class Blob(NamedTuple):
    """A file of a tree: the id of its bytes, and their number."""

    id: str
    size: int


@dataclass(frozen=True, slots=True)
class Commit:
    """
    What a commit says: the files that it adds or changes (path → id), and those that it deletes.

    `new` has the bytes of ids that the repository may not have yet. Its tree is that of the first of
    `parents`, with these changes.
    """

    ref: str
    parents: Sequence[str]
    changed: Mapping[str, str]
    deleted: Iterable[str]
    new: Mapping[str, bytes]
    message: str
    at: datetime


def blob_id(data: bytes) -> str:
    """Return the id that git gives to *data*."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Repository:
    """Our bare repository in *folder*, run with the person's *git*, found outside of the project *around*."""

    folder: Path
    git: Git
    around: Path

    def make(self) -> None:
        """Create the repository if it is missing or half made; raises RemoteUnavailable."""
        if not (self.folder / "HEAD").is_file() or is_half_made(self.folder):
            self.create(self.folder)

    def clear_locks(self) -> None:
        """Delete what killed git processes left locked; only the holder of the exchange's lock calls it."""
        for path in _locks(self.folder):
            path.unlink(missing_ok=True)

    def is_locked(self, url: str) -> bool:
        """Tell whether a git writes to a remote that is a folder, or was killed while it did."""
        return is_folder(url) and any(_locks(folder_of(url)))

    def ref(self, name: str) -> str:
        """Return the commit that the ref *name* stands for, '' when there is none."""
        return self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").strip()

    def tree(self, commit: str) -> dict[str, Blob]:
        """
        Return path → file of the plain files of *commit*, none for ''; links do not count.

        Raises RemoteUnavailable when there are too many, and when one of them is damaged.
        """
        tree: dict[str, Blob] = {}
        for line in self._listed(commit).split(b"\0") if commit else ():
            about, _, path = line.partition(b"\t")
            if path and about.startswith((b"100644 blob ", b"100755 blob ")):
                _, _, blob, size = about.split()
                if not size.isdigit():
                    raise self._damaged("it lacks what it should have")
                with contextlib.suppress(UnicodeDecodeError):
                    tree[path.decode("utf-8")] = Blob(blob.decode("ascii"), int(size))
        return tree

    def _listed(self, commit: str) -> bytes:
        """Return git's list of the files of *commit*: a few folders in each other can stand for billions."""
        import subprocess  # as in _answer

        is_late = threading.Event()
        with tempfile.TemporaryFile() as complaints, _starting_git():
            process = subprocess.Popen(
                **self._command("ls-tree", "-r", "-l", "-z", "--full-tree", commit),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
            late = threading.Timer(LOCAL, _end, (process, is_late))
            late.start()
            with process:
                assert process.stdout
                listed: bytes = process.stdout.read(MOST_LISTED + 1)
                if is_too_long := len(listed) > MOST_LISTED:
                    process.kill()
            late.cancel()
            complaints.seek(0)
            if is_too_long:
                raise RemoteUnavailable(
                    "The remote lists more files than a memory can have, so nothing was taken from it.",
                    "Look at who can write to it, and add an empty one.",
                )
            if is_late.is_set():
                raise _too_slow(LOCAL, BUSY)
            self._check_ended("ls-tree", process.returncode, complaints.read())
        return listed

    def data(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Return id → bytes of *blobs*; raises RemoteUnavailable when one is missing."""
        wanted = sorted(set(blobs))
        if not wanted:
            return {}
        answer = self._run("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in wanted).encode())
        contents, at = {}, 0
        for blob in wanted:
            end = answer.index(b"\n", at)
            about = answer[at:end].split()
            if len(about) != 3:
                raise self._damaged("it lacks what it should have")
            size = int(about[2])
            contents[blob] = answer[end + 1 : end + 1 + size]
            at = end + 2 + size
        return contents

    def commit(self, commit: Commit) -> None:
        """Write *commit* and let its ref stand for it, as a whole or not at all; raises RemoteUnavailable."""
        self._run("fast-import", "--quiet", "--force", "--done", stdin=b"".join(_imported(commit)))

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Tell whether *commit* is part of the history of the commit *of*."""
        return self._answer("merge-base", "--is-ancestor", commit, of)[0] == 0

    def merge_base(self, first: str, second: str) -> str:
        """Return the last commit that the histories of two commits share, '' when they share none."""
        return self._ask("merge-base", first, second).strip()

    def roots(self, commit: str) -> set[str]:
        """Return the commits with which the history of *commit* begins, as far as it is here."""
        return {*self._run("rev-list", "--max-parents=0", commit).decode("ascii").split()}

    def cuts(self) -> set[str]:
        """Return the commits before which everything was forgotten here."""
        try:
            return {*(self.folder / "shallow").read_text(encoding="ascii").split()}
        except FileNotFoundError:
            return set()

    def fetch(self, url: str, *, timeout: float) -> str:
        """Take in what the remote has; return its commit, '' for an empty one. Raises RemoteUnavailable."""
        refspec = f"+{HEAD}:{FETCHED}"
        options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=")
        code, _, stderr = self._reach("fetch", options, url, (refspec,), timeout)
        if code and _NO_BRANCH in stderr:
            return ""
        if code:
            raise unreachable(stderr)
        return self.ref(FETCHED)

    def message(self, commit: str) -> str:
        """Return the message of *commit*."""
        return self._ask("log", "-1", "--format=%B", commit)

    def prune_remote(self, url: str) -> None:
        """
        Delete from a remote that is a folder what no branch leads to; a host does that by itself.

        Raises RemoteUnavailable.
        """
        if is_folder(url):
            _clear_old_locks(folder_of(url))
            code, _, stderr = self._answer(*_PACK, _PRUNE, at=folder_of(url))
            if code:
                raise RemoteUnavailable(
                    f"The history was replaced, but its bytes are still there: {_failed('gc', stderr)}.",
                    "Run the same command again later.",
                )

    def push(self, url: str, commit: str, *, timeout: float, instead_of: str = "") -> bool:
        """
        Give the remote *commit*; return False when it has another one by now. Raises RemoteUnavailable.

        With *instead_of*, the remote's commit is replaced if it is that one, and its history is left behind.
        """
        lease = [f"--force-with-lease={HEAD}:{instead_of}"] if instead_of else []
        code, out, stderr = self._reach(
            "push", ("--porcelain", "--no-verify", *lease), url, (f"{commit}:{HEAD}",), timeout
        )
        if code and any(word in f"{out}{stderr}" for word in _BEHIND):
            if is_folder(url) and _clear_old_locks(folder_of(url)):
                return self.push(url, commit, timeout=timeout, instead_of=instead_of)
            return False
        if refusal := refused(out, stderr):
            raise refusal
        if code:
            raise unreachable(stderr, "written to")
        return True

    def branches(self, url: str, *, timeout: float) -> list[str]:
        """Return the names of the remote's branches; raises RemoteUnavailable."""
        code, out, stderr = self._reach("ls-remote", ("--heads", "--quiet"), url, (), timeout)
        if code:
            raise unreachable(stderr)
        return [line.partition("\t")[2].removeprefix("refs/heads/") for line in out.splitlines()]

    def create(self, folder: Path) -> None:
        """Create an empty bare repository in *folder*, or complete one that is half made."""
        files.make_folder(folder)
        mark = folder / _UNFINISHED
        mark.touch(mode=files.FILE_MODE)
        for path in _locks(folder):
            path.unlink(missing_ok=True)
        self._run(*_INIT, at=folder)
        mark.unlink()

    def pack(self, *, prune: bool = False) -> None:
        """Put all objects into one pack; with *prune* delete those that no ref leads to."""
        self._run(*_PACK, *([_PRUNE] if prune else []))

    def objects(self) -> int:
        """Return how many objects are in files of their own, outside packs."""
        return sum(1 for place in self.folder.glob("objects/[0-9a-f][0-9a-f]") for _ in place.iterdir())

    def cut_before(self, commit: str) -> None:
        """Forget all that was before *commit*, and delete its bytes; the remote keeps what it has."""
        lock = self.folder / "shallow.lock"  # as git does it: half of the file would name no commit
        lock.unlink(missing_ok=True)
        files.write_new(lock, f"{commit}\n".encode("ascii"))
        lock.replace(self.folder / "shallow")
        files.sync_folder(self.folder)
        self.pack(prune=True)

    def set_ref(self, name: str, commit: str) -> None:
        """Let the ref *name* stand for *commit*; raises RemoteUnavailable."""
        self._run("update-ref", "--", name, commit)

    def drop(self, name: str) -> None:
        """Delete the ref *name*."""
        self._answer("update-ref", "-d", name)

    def _reach(
        self, verb: str, options: Sequence[str], url: str, rest: Sequence[str], timeout: float
    ) -> tuple[int, str, str]:
        """Run a command that asks the remote; where that is a folder, nothing of its own is run."""
        if is_folder(url):
            own = " ".join(map(shlex.quote, (self._program(), *_FLAGS)))
            name = "receive-pack" if verb == "push" else "upload-pack"
            options = (*options, f"--{name}={own} {name}")
        code, out, stderr = self._answer(verb, *options, "--", url, *rest, timeout=timeout)
        message = stderr.decode("utf-8", "replace")
        if code and any(word in message for word in _OF_DAMAGE):  # ours or the remote's
            self._run("fsck", "--no-dangling", "--no-reflogs", "--no-progress")
        return code, out.decode("utf-8", "replace"), message

    def _ask(self, *arguments: str) -> str:
        code, out, _ = self._answer(*arguments)
        return out.decode("utf-8", "replace") if code == 0 else ""

    def _run(self, *arguments: str, stdin: bytes = b"", at: Path | None = None) -> bytes:
        code, out, stderr = self._answer(*arguments, stdin=stdin, at=at)
        self._check_ended(arguments[0], code, stderr)
        return out

    def _check_ended(self, verb: str, code: int, stderr: bytes) -> None:
        """Raise RemoteUnavailable unless git ended with the *code* 0."""
        if not code:
            return
        if code < 0:  # not by itself: the system may have needed its memory
            raise RemoteUnavailable(f"Git was ended before it had finished (signal {-code}).", BUSY)
        reason = _failed(verb, stderr)
        if _FULL in reason:
            raise RemoteUnavailable(f"The disk is full: {reason}.", "Make room, and exchange again.")
        raise self._damaged(reason)

    def _damaged(self, reason: str) -> RemoteUnavailable:
        return RemoteUnavailable(
            f"Daybook's own repository {self.folder} cannot be used: {reason}. Take the remote out with"
            " 'daybook remote remove' and add it again.",
            "No memory is lost; what was forgotten since the last exchange comes back.",
        )

    def _answer(
        self, *arguments: str, stdin: bytes = b"", timeout: float | None = None, at: Path | None = None
    ) -> tuple[int, bytes, bytes]:
        """
        Return the exit code of git, its output and its errors; *timeout* is in seconds.

        Raises RemoteUnavailable when it takes longer.
        """
        import subprocess  # slow to load, and only an exchange runs git here

        pipe = subprocess.PIPE
        command = self._command(*arguments, at=at)
        with (
            _starting_git(),
            subprocess.Popen(**command, stdin=pipe, stdout=pipe, stderr=pipe) as process,
        ):
            try:
                out, stderr = process.communicate(stdin, timeout=timeout or LOCAL)
            except BaseException as error:
                end_all(process.pid)  # git alone would leave the program that waits for the host
                if isinstance(error, subprocess.TimeoutExpired):
                    raise _too_slow(timeout or LOCAL, LATER if timeout else BUSY) from None
                raise
        return process.returncode, out, stderr

    def _command(self, *arguments: str, at: Path | None = None) -> dict[str, Any]:
        """Return the arguments of `subprocess` for git on our repository, or on the one *at* a folder."""
        network = {**self.git.network, "GIT_ALLOW_PROTOCOL": PROTOCOLS}
        return {
            "args": [self._program(), *_FLAGS, f"--git-dir={at or self.folder}", *arguments],
            "cwd": os.sep,
            "env": {**environment_of(self.git, self.around), **network},
            **apart(),
        }

    def _program(self) -> str:
        program = program_of(self.git, self.around)
        if not program or not is_safe_git(self.git, program):
            raise RemoteUnavailable(
                "No git was found that can be prevented from running a remote's programs.",
                "Install git 2.45, or a late release of 2.39 to 2.44, outside the project.",
            )
        return program


def _end(process: Any, is_late: threading.Event) -> None:
    is_late.set()
    process.kill()


def _too_slow(seconds: float, hint: str) -> RemoteUnavailable:
    return RemoteUnavailable(f"Git did not finish within {seconds:.0f} seconds.", hint)


@contextlib.contextmanager
def _starting_git() -> Iterator[None]:
    """Raise RemoteUnavailable for what keeps the block from starting git."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise RemoteUnavailable(f"Git could not be run: {error}.", LATER) from error


def is_folder(url: str) -> bool:
    """Tell whether *url* names a folder of this machine, or one that is mounted here."""
    return os.path.isabs(url) or url.startswith("file://")


def folder_of(url: str) -> Path:
    """Return the folder that *url* names."""
    return Path(url.removeprefix("file://"))


def is_half_made(folder: Path) -> bool:
    """Tell whether Daybook was killed while it made the repository in *folder*: `create` completes it."""
    return (folder / _UNFINISHED).is_file()


def _failed(verb: str, stderr: bytes) -> str:
    """Return in words that git *verb* failed, and why."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return f"git {verb} failed: {lines[-1].rstrip('.') if lines else 'it gave no reason'}"


def _locks(folder: Path) -> Iterator[Path]:
    """Yield what lies in the repository *folder* while git changes its refs, its settings or its packs."""
    for pattern in _LOCKS:
        yield from folder.glob(pattern)


def _clear_old_locks(folder: Path) -> bool:
    """
    Delete what a git that was killed left locked in a remote; tell whether there was something.

    Nobody else would delete it, and no push succeeds until then.
    """
    now = time.time()
    old = [path for path in _locks(folder) if files.is_old(path, seconds=STALE, now=now)]
    for path in old:
        path.unlink(missing_ok=True)
    return bool(old)


def _imported(commit: Commit) -> Iterator[bytes]:
    """Yield what fast-import reads for *commit*: its bytes first."""
    for data in commit.new.values():
        yield b"blob\ndata %d\n" % len(data)
        yield data
        yield b"\n"
    when = f"{int(commit.at.timestamp())} +0000"
    message = commit.message.encode("utf-8")
    yield f"commit {commit.ref}\ncommitter {AUTHOR} {when}\ndata {len(message)}\n".encode()
    yield message + b"\n"
    for number, parent in enumerate(commit.parents):
        yield f"{'merge' if number else 'from'} {parent}\n".encode()
    for path in sorted(commit.deleted):
        yield f"D {_quoted(path)}\n".encode()
    for path, blob in sorted(commit.changed.items()):
        yield f"M 100644 {blob} {_quoted(path)}\n".encode()
    yield b"\n"
    yield b"done\n"


def _quoted(path: str) -> str:
    return '"' + _NEEDS_QUOTES.sub(lambda sign: f"\\{sign[0]}", path) + '"'
