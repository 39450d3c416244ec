"""The person's account and the machine, by the operating system itself and not by the environment."""

import os
import sys
from collections.abc import Mapping

HOME = "USERPROFILE" if sys.platform == "win32" else "HOME"  # names the person's home folder


def home_folder() -> str:
    """Return the person's home folder as the operating system lists it."""
    if sys.platform == "win32":
        import winreg  # needed only when a repository named the home folder, or nothing did

        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, "Volatile Environment") as key:
                return str(winreg.QueryValueEx(key, "USERPROFILE")[0])
        except OSError:
            return os.path.expanduser("~")
    import pwd  # needed only when a repository named the home folder, or nothing did

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")


def by_their_names(values: Mapping[str, object]) -> dict[str, object]:
    """Return the variables under the names that the environment uses: on Windows, all in capitals."""
    return {name.upper() if sys.platform == "win32" else name: value for name, value in values.items()}


def machine_name() -> str:
    """Return the machine's name."""
    if sys.platform == "win32":
        import socket  # slow to load

        return socket.gethostname()
    return os.uname().nodename
