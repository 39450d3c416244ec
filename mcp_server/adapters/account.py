"""What the system itself says of the person's account and of the machine, whatever the environment says."""

import os
import sys
from collections.abc import Mapping

HOME = "USERPROFILE" if sys.platform == "win32" else "HOME"  # names the person's home folder


def home_folder() -> str:
    """Return the person's home folder by the system's own list."""
    if sys.platform == "win32":
        import winreg  # only where a repository, or nobody, named a home

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, "Volatile Environment") as key:
                return str(winreg.QueryValueEx(key, "USERPROFILE")[0])
        except OSError:
            return os.path.expanduser("~")
    import pwd  # only where a repository, or nobody, named a home

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")


def by_their_names(told: Mapping[str, object]) -> dict[str, object]:
    """Return variables by the names that the environment has for them: on Windows all are in capitals."""
    return {name.upper() if sys.platform == "win32" else name: said for name, said in told.items()}


def machine_name() -> str:
    """Return what the machine is called."""
    if sys.platform == "win32":
        import socket  # slow to load

        return socket.gethostname()
    return os.uname().nodename
