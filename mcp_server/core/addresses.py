"""Addresses on a network that the person names: what can be one, and who can read what is sent there."""

import ipaddress
import re
from urllib.parse import urlsplit

_NAME_AND_PASSWORD = re.compile(r"(?<=://)[^/\s]*@")
_QUERY = re.compile(r"(://[^\s?#'\"]*\?)[^\s#'\"]+")


def is_loopback(address: str) -> bool:
    """Tell whether *address* is on this machine: what is sent there does not leave it."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_http(address: str) -> bool:
    """Tell whether *address* begins with http:// or https:// and has a host, and a port that can be one."""
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def travels_readable(address: str) -> bool:
    """Tell whether others can read on the way what is sent to *address*: by HTTP, to another machine."""
    return address.lower().startswith("http://") and not is_loopback(address)


def shown_url(url: str) -> str:
    """
    Return *url*, or a sentence with addresses, without the names and passwords in them.

    Nor is the query shown, which may be a token.
    """
    return _QUERY.sub(r"\1…", _NAME_AND_PASSWORD.sub("", url))
