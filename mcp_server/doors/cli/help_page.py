"""The page of `daybook --help`: the everyday commands first, the others by what they are for."""

import textwrap
from collections.abc import Mapping

import click

EVERYDAY = (
    *("remember", "recall", "ask", "list", "read", "revise"),
    *("forget", "restore", "undo", "review", "status", "view"),
)
BY_PURPOSE = {
    "Memories": ("archive", "history", "link", "unlink", "related", "graph", "contradictions"),
    "Trust and use": ("validate", "invalidate", "trust-history", "mark-used", "why"),
    "Kept at hand": ("hot", "pin", "unpin", "promote", "demote", "patterns", "predict"),
    "Sessions": ("brief", "sessions", "save-session", "restore-session", "forget-session"),
    "Conversations": ("save-conversation", "load-conversation"),
    "Learning": ("setup", "work", "backfill", "mine", "candidates", "seed", "bootstrap"),
    "This project": ("init", "share", "trust", "where", "adopt"),
    "Other programs": ("connect", "disconnect", "import", "export"),
    "Sharing": ("remote", "team"),
    "The store": ("doctor", "tidy", "maintain", "sync", "stats", "model", "demo"),
}
"""What the commands beside the everyday ones are for, and their names. Each command is at one place."""


def write(formatter: click.HelpFormatter, helps: Mapping[str, str]) -> None:
    """Write the lists of commands; *helps* is name → what the command's help begins with."""
    column = max(map(len, BY_PURPOSE))
    room = formatter.width - column - 4  # click indents by two, and leaves two between the columns
    with formatter.section("Every day"):
        formatter.write_dl(
            [
                (name.ljust(column), click.Command(name, help=helps[name]).get_short_help_str(room))
                for name in EVERYDAY
            ]
        )
    with formatter.section("More, by what it is for ('daybook COMMAND --help' explains one)"):
        for purpose, names in BY_PURPOSE.items():
            # A name that is split at its hyphen could not be copied.
            first, *others = textwrap.wrap(" ".join(names), room, break_on_hyphens=False)
            formatter.write_dl([(purpose.ljust(column), first), *((" " * column, line) for line in others)])
