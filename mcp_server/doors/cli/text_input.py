"""What is given to a command as words, on standard input or in a file: text in UTF-8, whole or not at all."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

from mcp_server.core.errors import Rejected
from mcp_server.core.memory import LISTS

MOST_TYPED = 512 * 1024  # characters of all words of a command
MOST_READ = 8 * 1024 * 1024  # bytes of standard input; its contents have lower limits of their own


def check_words(words: Sequence[str]) -> None:
    """Raise Rejected for more words than can be meant, and for one that is not UTF-8."""
    if (many := sum(map(len, words))) > MOST_TYPED:
        raise Rejected(
            f"The command line has {many:,} characters; {MOST_TYPED:,} is the limit.",
            "Give less text at once.",
        )
    for word in words:
        if not _is_text(word):
            shown = word.encode("utf-8", "replace").decode()[:60]
            raise Rejected(
                f"'{shown}' is not UTF-8 text.",
                "Type it in a terminal that is set to UTF-8, or use a file.",
            )


with_metadata = click.option(
    "--meta", "metadata", multiple=True, help="NAME=VALUE to keep with it. May be repeated."
)


def with_lists(helps: Iterable[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what adds an option for each of `LISTS` to a command, with its help among *helps*."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for key, help in reversed([*zip(LISTS, helps, strict=True)]):
            command = click.option(key.option, help=help)(command)
        return command

    return add


def lists(values: Mapping[str, str | None]) -> dict[str, Any]:
    """Return name → the texts of each of *values* that was given for one of `LISTS`."""
    given = {key: values[key.name] for key in LISTS if key.name in values}
    return {key.name: key.texts_in(value) for key, value in given.items() if value is not None}


def metadata(entries: Sequence[str]) -> dict[str, object]:
    """Return name → value of *entries* NAME=VALUE, None for an empty value. Raises as `named_values` does."""
    return {name: value.strip() or None for name, value in named_values(entries, "--meta").items()}


def named_values(entries: Sequence[str], option: str) -> dict[str, str]:
    """Return name → value of *entries* NAME=VALUE of *option*. Raises Rejected without a name or a `=`."""
    for entry in entries:
        name, equals, _ = entry.partition("=")
        if not (name.strip() and equals):
            lacks = "name before the '='" if equals else "'='"
            raise Rejected(f"'{entry[:80]}' has no {lacks}.", f"Write it as {option} NAME=VALUE.")
    pairs = (entry.partition("=") for entry in entries)
    return {name.strip(): value for name, _, value in pairs}


def standard_input(subject: str) -> str:
    """Return what comes on standard input; a person at a terminal is asked for *subject*. Raises Rejected."""
    if sys.stdin is None:
        return ""
    if sys.stdin.isatty():
        print(f"Type {subject}, then Ctrl-D:", file=sys.stderr)
    data = sys.stdin.buffer.read(MOST_READ + 1)
    if len(data) > MOST_READ:
        raise Rejected(f"Standard input has more than {MOST_READ:,} bytes.", "Give it in parts.")
    return decoded(data, "Standard input")


def decoded(data: bytes, name: str) -> str:
    """Return *data*, which came from *name*, as text with the line ends of Unix; raises Rejected."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Rejected(
            f"{name} is not UTF-8 text (byte {error.start + 1:,}).",
            "Convert it first, as in: iconv -f WINDOWS-1252 -t UTF-8",
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_text(word: str) -> bool:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
