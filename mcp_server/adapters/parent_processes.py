"""Which processes started ours, and whether Claude Code is among them."""

import functools
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

CLAUDE = "claude"  # the name of its process; its own environment does not reveal it
SESSION = "CLAUDE_CODE_SESSION_ID"
"""The variable with the id of the session that starts a process."""
MARKS = (  # what Claude Code adds to the environment of every process that it starts
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    SESSION,
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_PID",
)
OF_CLAUDES_SHELL = ("CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION")
"""Those of MARKS that no program gives a client that it starts for a person (measured: 2.1.329)."""


class Ancestor(NamedTuple):
    """A process above ours: its names (the program's, and the one it was called by), and its environment."""

    names: frozenset[str]
    environment: Mapping[str, str]


def ancestors(proc: Path = Path("/proc")) -> Iterator[Ancestor]:
    """
    Yield the processes above ours, the nearest first.

    Where there is no *proc*, `ps` or Windows gives their names, and their environments stay empty.
    """
    if not (proc / "self" / "stat").exists():
        processes = _told_by_windows() if sys.platform == "win32" else _told_by_ps()
        above = os.getppid()
        while above in processes:  # a process number may be reused: each counts once
            above, called = processes.pop(above)
            yield Ancestor(frozenset({called}), {})
        return
    pid = os.getppid()
    while pid > 0:
        folder = proc / str(pid)
        names = {_read(folder / "comm").strip()}
        called = _read(folder / "cmdline").split("\0")[0]
        names.add(os.path.basename(called))
        variables = (entry.partition("=") for entry in _read(folder / "environ").split("\0"))
        yield Ancestor(frozenset(names), {name: value for name, _, value in variables})
        # The program's name is in parentheses and may hold any character, even parentheses.
        fields = _read(folder / "stat").rpartition(")")[2].split()
        pid = int(fields[1]) if len(fields) > 1 else 0


def _told_by_ps() -> dict[int, tuple[int, str]]:
    """Return process number → (number of its parent, its name)."""
    import subprocess

    try:
        listed = subprocess.run(
            ["/bin/ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=False
        ).stdout
    except OSError:
        return {}
    processes = {}
    for line in listed.splitlines():
        pid, parent, *name = line.split(None, 2)
        processes[int(pid)] = (int(parent), os.path.basename("".join(name).strip()))
    return processes


def _told_by_windows() -> dict[int, tuple[int, str]]:
    """Return the same; names are without `.exe`. Structure and calls are those of `tlhelp32.h`."""
    processes: dict[int, tuple[int, str]] = {}
    if sys.platform == "win32":
        import ctypes  # slow to load
        from ctypes import wintypes as of

        class ProcessEntry(ctypes.Structure):
            _fields_ = [
                ("dwSize", of.DWORD),
                ("cntUsage", of.DWORD),
                ("th32ProcessID", of.DWORD),
                ("th32DefaultHeapID", ctypes.c_size_t),
                ("th32ModuleID", of.DWORD),
                ("cntThreads", of.DWORD),
                ("th32ParentProcessID", of.DWORD),
                ("pcPriClassBase", of.LONG),
                ("dwFlags", of.DWORD),
                ("szExeFile", of.WCHAR * 260),
            ]

        system = ctypes.WinDLL("kernel32")
        system.CreateToolhelp32Snapshot.restype = of.HANDLE
        for call in (system.Process32FirstW, system.Process32NextW):
            call.argtypes = [of.HANDLE, ctypes.POINTER(ProcessEntry)]
        system.CloseHandle.argtypes = [of.HANDLE]
        snapshot = system.CreateToolhelp32Snapshot(2, 0)  # TH32CS_SNAPPROCESS
        entry = ProcessEntry(dwSize=ctypes.sizeof(ProcessEntry))
        more = system.Process32FirstW(snapshot, ctypes.byref(entry))
        while more:
            name = entry.szExeFile.lower().removesuffix(".exe")
            processes[entry.th32ProcessID] = (entry.th32ParentProcessID, name)
            more = system.Process32NextW(snapshot, ctypes.byref(entry))
        system.CloseHandle(snapshot)
    return processes


def _read(path: Path) -> str:
    """Return the content of *path*, '' where it belongs to another user's process."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def started_by_claude(environment: Mapping[str, str], above: Iterable[Ancestor]) -> str:
    """Return the evidence that Claude Code started this process, '' when it did not."""
    if any(environment.get(mark) for mark in MARKS):
        return "Claude Code started this"
    for process in above:
        if CLAUDE in process.names or any(process.environment.get(mark) for mark in MARKS):
            return "Claude Code started this terminal"
    return ""


@functools.cache
def client_started_by_claude() -> bool:
    """Tell whether Claude started the client above this process: then no person types there."""
    return is_claudes_client(ancestors())


def is_claudes_client(above: Iterable[Ancestor]) -> bool:
    """
    Tell whether Claude started the client that is the nearest of the processes *above*, as by `claude -p`.

    A client that restarted itself counts as one client. Where no client is above, the answer is no.
    """
    own = True
    for process in itertools.dropwhile(lambda program: CLAUDE not in program.names, above):
        own = own and CLAUDE in process.names
        if not own and CLAUDE in process.names:
            return True
        if any(process.environment.get(mark) for mark in OF_CLAUDES_SHELL):
            return True
    return False
