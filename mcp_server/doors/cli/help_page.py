"""The page of `daybook --help`: the everyday commands first, the others by what they are for."""

import textwrap
from collections.abc import Mapping
from typing import NamedTuple

import click

EVERYDAY = (
    *("remember", "recall", "ask", "list", "read", "revise"),
    *("forget", "restore", "undo", "review", "status", "view"),
)
PURPOSES = (
    *("Memories", "Trust and use", "Kept at hand", "Sessions", "Conversations"),
    *("Learning", "This project", "Other programs", "Sharing", "The store"),
)
"""What commands are for, as the COMMANDS of their modules say, in the order of the page."""


class Listed(NamedTuple):
    """A command as it is listed: its module, what it is for, and the first sentence of its help."""

    module: str
    purpose: str
    help: str


def write(formatter: click.HelpFormatter, listed: Mapping[str, Listed]) -> None:
    """Write the lists of commands; *listed* has them by name."""
    column = max(map(len, PURPOSES))
    room = formatter.width - column - 4  # click indents by two, and leaves two between the columns
    with formatter.section("Every day"):
        formatter.write_dl(
            [
                (name.ljust(column), click.Command(name, help=listed[name].help).get_short_help_str(room))
                for name in EVERYDAY
            ]
        )
    with formatter.section("More, by what it is for ('daybook COMMAND --help' explains one)"):
        for purpose in PURPOSES:
            names = [name for name, row in listed.items() if row.purpose == purpose and name not in EVERYDAY]
            # A name that is split at its hyphen could not be copied.
            first, *others = textwrap.wrap(" ".join(names), room, break_on_hyphens=False)
            formatter.write_dl([(purpose.ljust(column), first), *((" " * column, line) for line in others)])
