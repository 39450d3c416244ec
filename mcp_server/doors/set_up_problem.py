"""
Why the Python environment could not be made: `python -m mcp_server.doors.set_up_problem FOLDER`.

Reads the installer's output in FOLDER/setup.log, and prints one sentence: what is wrong, and what to do.
Standard library only, on any Python from 3.11 on: our environment is missing when this runs.
"""

import re
import shutil
import sys
from pathlib import Path

NEEDED = 350  # MB that the environment takes, as README.md says; it is downloaded and unpacked there
FULL = 20 * 1024 * 1024  # bytes: with less free space, the full disk is the cause of any failure
LONGEST_LOG = 400_000  # bytes at the end of the log that are read
LONGEST_LINE = 160  # characters of a line of the log that are told

# Messages of pip and uv, most telling first: without network, no version of anything is found either.
DISK = r"no space left|disk quota exceeded|file too large|os error (?:28|122)\b|errno (?:27|28|122)\]"
PROXY = r"proxyerror|cannot connect to proxy|tunnel (?:error|connection failed)|proxy authentication"
SOCKS = r"missing dependencies for socks"
CERTIFICATE = r"certificate[ _]verify[ _]failed|invalid peer certificate|unknownissuer|\bsslerror\b"
NETWORK = (
    r"newconnectionerror|failed to establish a new connection|connection refused|network is unreachable"
    r"|temporary failure in name resolution|name or service not known|dns error|nodename nor servname"
    r"|error sending request|failed to fetch|timed out|connection reset|could not connect|from versions: none"
)
BUILD = (
    r"failed building wheel|failed to build|metadata-generation-failed|unable to find (?:a )?compiler"
    r"|command '?\S*(?:gcc|cc|clang|cl)'? failed|no matching distribution|no solution found|requires-python"
)
CANNOT_MAKE = re.compile(r"^this Python cannot make environments.*$", re.M)
ERRORS = re.compile(r"^(?:error|caused by): .*$", re.I | re.M)


def sentence(log: str, *, folder: str, free: int | None, version: str) -> str:
    """
    Return what is wrong and what to do about it, in one line.

    *log* is the installer's output, *free* the free bytes on the disk of *folder* (None when unknown),
    *version* that of the Python that the environment was to be made from.
    """

    def says(pattern: str) -> bool:
        return re.search(pattern, log, re.IGNORECASE) is not None

    if says(DISK) or (free is not None and free < FULL):
        return f"the disk is full. Make room for its Python environment, some {NEEDED} MB in {folder}."
    if says(PROXY):
        return (
            "the proxy does not let its packages through."
            " Correct HTTPS_PROXY, or name an index that can be reached in pip's own settings."
        )
    if says(SOCKS):
        return (
            "the environment names a SOCKS proxy, by which no packages can be downloaded."
            " Set HTTPS_PROXY to a proxy whose address begins with http://."
        )
    if says(CERTIFICATE):
        return (
            "the package index showed a certificate that is not trusted here."
            " Name your organization's certificates in SSL_CERT_FILE and PIP_CERT."
        )
    if says(NETWORK):
        return (
            "the package index cannot be reached, so its packages could not be downloaded. Connect to the"
            " network; behind a proxy set HTTPS_PROXY; an index of your own belongs into pip's own settings."
        )
    if says(BUILD):
        return (
            f"a package is not offered ready made for Python {version} on this system and could not be"
            " compiled. Install another Python, 3.11 to 3.13, and name it in DAYBOOK_PYTHON."
        )
    if match := CANNOT_MAKE.search(log):
        return match[0]
    errors = ERRORS.findall(log) or [line for line in log.splitlines() if line.strip()]
    last = f" ({errors[-1].strip()[:LONGEST_LINE]})" if errors else ""
    return f"its Python environment could not be made{last}."


def main() -> None:
    """Print the sentence for the folder named on the command line."""
    folder = Path(sys.argv[1])
    try:
        log = (folder / "setup.log").read_bytes()[-LONGEST_LOG:].decode("utf-8", "replace")
    except OSError:
        log = ""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        free = None
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    problem = sentence(log, folder=str(folder), free=free, version=version)
    print(re.sub(r"[\x00-\x1f\x7f]+", " ", problem))


if __name__ == "__main__":
    main()
