"""The share of the machine that a process takes while other processes need it, too."""

import os
import sys

NICENESS = 10  # of 19
_BELOW_NORMAL = 0x4000  # BELOW_NORMAL_PRIORITY_CLASS of SetPriorityClass in the documentation of Windows


def yield_to_others() -> None:
    """Lower this process's priority below that of the person's programs."""
    if sys.platform == "win32":
        import ctypes  # slow to load, and only this process needs it

        system = ctypes.WinDLL("kernel32")
        system.GetCurrentProcess.restype = ctypes.c_void_p
        system.SetPriorityClass.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        system.SetPriorityClass(system.GetCurrentProcess(), _BELOW_NORMAL)
    else:
        os.nice(NICENESS)
