"""The address of a remote, as a person types it."""

import re

from mcp_server.core.addresses import shown_url, travels_readable
from mcp_server.core.errors import Rejected

LONGEST = 2000
_HOST = re.compile(r"(?:https?|ssh)://[^/?#]+/[^/]")
_FOLDER = re.compile(r"(?:file://)?/|[A-Za-z]:[\\/]")
_SSH = re.compile(r"(?:[\w.-]+@)?[\w.-]{2,}:(?!:|//)[\w./~+@-][\w./~+@ -]*")


def check_url(text: str) -> str:
    """
    Return the address of a remote, whole; raises Rejected for one that git could take for something else,
    and for one to which the memory would travel readable for all on the way.

    A folder is given by its absolute path; `~` must have been replaced.
    """
    url = text.strip()
    if travels_readable(url):
        raise Rejected(
            f"Your memories would travel unencrypted to '{shown_url(url)[:80]}'.",
            "Give an https or ssh address.",
        )
    plain = url.isprintable() and 0 < len(url) <= LONGEST and not url.startswith("-") and "::" not in url
    if plain and (_HOST.match(url) or _FOLDER.match(url) or _SSH.fullmatch(url)):
        return url
    raise Rejected(
        f"'{shown_url(url)[:80]}' is not the address of a remote.",
        "Give one as 'git@host:me/memory.git' or 'https://host/me/memory.git', or the path of a folder.",
    )
