"""
What is given to a command as words, on standard input or in a file: text in UTF-8, whole or not at all.

And the options by which several commands choose among memories.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Kind, Level, split_list
from mcp_server.core.search.query import filter_of

MOST_TYPED = 512 * 1024  # characters of all words of a command
MOST_READ = 8 * 1024 * 1024  # bytes of standard input; its contents have lower limits of their own


_FILTERS = (
    click.option("--type", default="", help="Only this type."),
    click.option(
        "--kind",
        type=click.Choice([kind.value for kind in Kind]),
        help="Only this kind; conversation also finds what subagents said.",
    ),
    click.option("--tags", default="", help="Only with all these tags, with commas between them."),
    click.option("--any-tags", default="", help="Only with one of these tags."),
    click.option("--category", default="", help="Only of this category."),
    click.option("--level", type=click.Choice([level.value for level in Level])),
    click.option("--since", default="", help="Only updated on or after this date."),
    click.option("--until", default="", help="Only updated before this date."),
    click.option("--all-projects", is_flag=True, help="From every project."),
    click.option("--include-archived", is_flag=True, help="Also find superseded and archived memories."),
)


def filtered(*more: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """
    Return what gives a command the options that choose among memories; it takes them as one Filter, `filter`.

    *more* are further names of options whose values belong to the filter.
    """
    names = ("type", "kind", "category", "level", "since", "until", "all_projects", "include_archived", *more)

    def add_options(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_filter(*, tags: str, any_tags: str, **values: Any) -> None:
            wanted_tags = (*split_list(tags), *filter(None, ["|".join(split_list(any_tags))]))
            chosen = filter_of(tags=wanted_tags, **{name: values.pop(name) for name in names})
            command(**values, filter=chosen)

        for option in reversed(_FILTERS):
            with_filter = option(with_filter)
        return with_filter

    return add_options


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


def metadata(entries: Sequence[str]) -> dict[str, object]:
    """Return name → value of *entries* NAME=VALUE, None for an empty value. Raises Rejected without `=`."""
    for entry in entries:
        if not entry.partition("=")[1]:
            raise Rejected(f"'{entry[:80]}' has no '='.", "Write it as --meta NAME=VALUE.")
    pairs = (entry.partition("=") for entry in entries)
    return {name.strip(): value.strip() or None for name, _, value in pairs}


def standard_input(subject: str = "") -> str:
    """Return what comes on standard input; a person at a terminal is asked for *subject*. Raises Rejected."""
    if sys.stdin is None:
        return ""
    if subject and sys.stdin.isatty():
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
