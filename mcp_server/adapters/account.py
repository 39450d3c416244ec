"""The person's account and the machine, by the operating system itself and not by the environment."""

import contextlib
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


def is_anothers_connection(client: tuple[str, int], port: int) -> bool:
    """
    Tell whether a program of another account connected from *client*, an IPv4 address and a port of this
    machine, to our *port*.

    Only Linux says so. Root could read our memory anyway, and a connection that is gone gets no answer.
    """
    if sys.platform != "linux":
        return False
    import socket  # slow to load

    host, from_port = client
    ends = {
        f"{_as_the_kernel_writes(socket.inet_pton(family, address))}:{from_port:04X}"
        for family, address in ((socket.AF_INET, host), (socket.AF_INET6, f"::ffff:{host}"))
    }
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError), open(f"/proc/self/net/{table}", encoding="ascii") as connections:
            for row in map(str.split, connections):
                if row[1] in ends and row[2].endswith(f":{port:04X}"):
                    return int(row[7]) not in (0, os.getuid())
    return False


def _as_the_kernel_writes(address: bytes) -> str:
    """Return an IP address as in `/proc/net/tcp`: words of four bytes, each in the machine's own order."""
    words = (address[at : at + 4] for at in range(0, len(address), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
