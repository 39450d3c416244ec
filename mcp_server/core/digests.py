"""The digest of a text: a short name that is the same for the same text, and for no other."""

import hashlib


def text_digest(text: str, *, size: int = 16) -> str:
    """Return the BLAKE2b digest of *text* with *size* bytes, as twice as many hexadecimal characters."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
