"""What is given to a command as words, on standard input or in a file: text in UTF-8, whole or not at all."""

import sys
from collections.abc import Sequence

from mcp_server.core.errors import Rejected


def check_words(words: Sequence[str]) -> None:
    """Raise Rejected for a word of the command line that is not UTF-8."""
    for word in words:
        if not _is_text(word):
            shown = word.encode("utf-8", "replace").decode()[:60]
            raise Rejected(
                f"'{shown}' is not text in UTF-8.",
                "Type it in a terminal that is set to UTF-8, or use a file.",
            )


def standard_input(asked: str = "") -> str:
    """Return what comes on standard input; a person at a terminal is asked for *asked*. Raises Rejected."""
    if sys.stdin is None:
        return ""
    if asked and sys.stdin.isatty():
        print(f"Type {asked}, then Ctrl-D:", file=sys.stderr)
    return decoded(sys.stdin.buffer.read(), "Standard input")


def decoded(data: bytes, name: str) -> str:
    """Return *data*, which came from *name*, as text with the line ends of Unix; raises Rejected."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Rejected(
            f"{name} is not text in UTF-8 (byte {error.start + 1:,}).",
            "Convert it first, as in: iconv -f WINDOWS-1252 -t UTF-8",
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_text(word: str) -> bool:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
