"""Processes that outlive their parent, open no window, or end with their parent or with all they start."""

import contextlib
import os
import signal
import sys
import time
from typing import Any

PARENT_CHECK = 1.0  # seconds between two checks that the parent process still exists
_SYNCHRONIZE, _INFINITE = 0x00100000, 0xFFFFFFFF  # of OpenProcess and WaitForSingleObject of Windows
_NO_SUCH_PROCESS = 87  # ERROR_INVALID_PARAMETER of OpenProcess
_NEW_GROUP, _NO_WINDOW = 0x00000200, 0x08000000  # CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW


def outliving() -> dict[str, Any]:
    """
    Return the arguments of `subprocess` for a process that outlives us and our terminal.

    On Windows it gets a hidden console: without one, each program that it starts would open a window.
    """
    if sys.platform == "win32":
        return {"creationflags": _NEW_GROUP | _NO_WINDOW}
    return {"start_new_session": True}


def windowless() -> dict[str, Any]:
    """Return the arguments of `subprocess` for a program that must not open a window."""
    return {"creationflags": _NO_WINDOW} if sys.platform == "win32" else {}


def apart() -> dict[str, Any]:
    """
    Return the arguments of `subprocess` for a program with neither a window nor a terminal to ask in.

    `end_all` ends it together with what it started. It gets the locks that were handed on.
    """
    return windowless() if sys.platform == "win32" else {"start_new_session": True, "close_fds": False}


def end_all(process: int) -> None:
    """Kill the *process* that was started `apart`, and on Linux and macOS also all that it started."""
    if sys.platform == "win32":
        os.kill(process, signal.SIGTERM)  # which ends it at once there
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)


def wait_for_end_of(parent: int) -> None:
    """Return when the process *parent*, which started this one, has ended; at once when it already has."""
    if sys.platform == "win32":  # which goes on to tell the number of a parent that is gone
        import ctypes  # slow to load

        system = ctypes.WinDLL("kernel32", use_last_error=True)
        system.OpenProcess.argtypes = [ctypes.c_ulong, ctypes.c_int, ctypes.c_ulong]
        system.OpenProcess.restype = ctypes.c_void_p
        system.WaitForSingleObject.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        handle = system.OpenProcess(_SYNCHRONIZE, False, parent)
        if handle:
            system.WaitForSingleObject(handle, _INFINITE)
        elif ctypes.get_last_error() != _NO_SUCH_PROCESS:
            while True:  # it may not be asked about: our input ends when it does
                time.sleep(PARENT_CHECK)
    else:
        while os.getppid() == parent:
            time.sleep(PARENT_CHECK)
