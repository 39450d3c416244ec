"""Addresses on a network that the person names."""

import ipaddress
from urllib.parse import urlsplit


def is_loopback(address: str) -> bool:
    """Tell whether *address* is on this machine: what is sent there does not leave it."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
