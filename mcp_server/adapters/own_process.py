"""Processes of ours: the worker, which outlives whoever started it, a hook on trial, and who started us."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.adapters.detached import outliving, windowless
from mcp_server.core.settings import HOOKS

if TYPE_CHECKING:
    import subprocess  # slow to load: who only asks for the ancestors need not wait for it

ROOT = Path(__file__).resolve().parents[2]
HOOK_TIMEOUT = 5.0  # seconds, as in hooks/hooks.json
_started: "list[subprocess.Popen[bytes]]" = []  # asked now and then how they ended: no zombie stays


def start_worker(environment: Mapping[str, str]) -> None:
    """Start `daybook work`, detached; it ends by itself. Raises OSError when no process can be had."""
    import subprocess

    _started[:] = [process for process in _started if process.poll() is None]
    _started.append(
        subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "mcp_server.doors.worker"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            **outliving(),
            # Should anything of ours ever start a session, its hooks do nothing.
            env={**environment, "PYTHONPATH": str(ROOT), HOOKS: "off"},
        )
    )


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A process above ours: its names (of the program and as it was called), and what it was started with."""

    names: frozenset[str]
    environment: Mapping[str, str]


def ancestors(proc: Path = Path("/proc")) -> Iterator[Ancestor]:
    """
    Yield the processes above ours, the nearest first.

    Where there is no *proc*, `ps` or Windows tells their names, and their environments stay empty.
    """
    if not (proc / "self" / "stat").exists():
        processes = _told_by_windows() if sys.platform == "win32" else _told_by_ps()
        above = os.getppid()
        while above in processes:  # a number may be given once more: each counts once
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
        # The program's name is in parentheses and may hold any character, these too.
        fields = _read(folder / "stat").rpartition(")")[2].split()
        pid = int(fields[1]) if len(fields) > 1 else 0


def _told_by_ps() -> dict[int, tuple[int, str]]:
    """Return of each process by its number the one above it, and its name."""
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
    """Return the same; a name is without its `.exe`. Structure and calls are those of `tlhelp32.h`."""
    processes: dict[int, tuple[int, str]] = {}
    if sys.platform == "win32":
        import ctypes  # slow to load
        from ctypes import wintypes as of

        class Entry(ctypes.Structure):
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
            call.argtypes = [of.HANDLE, ctypes.POINTER(Entry)]
        system.CloseHandle.argtypes = [of.HANDLE]
        snapshot = system.CreateToolhelp32Snapshot(2, 0)  # TH32CS_SNAPPROCESS
        entry = Entry(dwSize=ctypes.sizeof(Entry))
        more = system.Process32FirstW(snapshot, ctypes.byref(entry))
        while more:
            name = entry.szExeFile.lower().removesuffix(".exe")
            processes[entry.th32ProcessID] = (entry.th32ParentProcessID, name)
            more = system.Process32NextW(snapshot, ctypes.byref(entry))
        system.CloseHandle(snapshot)
    return processes


def _read(path: Path) -> str:
    """Return what stands at *path*, '' where another user's process keeps it."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def try_hook() -> str:
    """
    Run the hook of a new session as the launcher does; return what is wrong with its answer, '' for nothing.

    The session it is told of goes on, so that nothing is noted as shown.
    """
    import subprocess

    said = json.dumps({"session_id": "doctor", "source": "resume", "hook_event_name": "SessionStart"})
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-s", "-S", "-m", "mcp_server.doors.hooks", "SessionStart"],
            input=said.encode(),
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=HOOK_TIMEOUT,
            check=False,
            **windowless(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run: {error}"
    if done.returncode or done.stderr:
        return f"ended with {done.returncode}: {done.stderr.decode('utf-8', 'replace')[:200]}"
    try:
        json.loads(done.stdout or b"{}")
    except ValueError:
        return "answered something that is not JSON"
    return ""
