"""A group of commands that answers a name which it lacks with the names that are like it."""

from collections.abc import Mapping
from types import MappingProxyType

import click

from mcp_server.core.errors import similar
from mcp_server.core.render import visible


class SuggestingGroup(click.Group):
    """
    A group of commands.

    `former` are names that `get_command` takes, too, and that are not suggested. `called_elsewhere` is what
    other programs call a command → its name here.
    """

    former: tuple[str, ...] = ()
    called_elsewhere: Mapping[str, str] = MappingProxyType({})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args[0] not in (*names, *self.former) and not args[0].startswith("-"):
            elsewhere = self.called_elsewhere.get(args[0].lower())
            meant = [elsewhere] if elsewhere else similar(args[0], names)
            hint = (
                f"Did you mean {' or '.join(meant)}?" if meant else f"'{ctx.command_path} --help' lists them."
            )
            ctx.fail(f"There is no command '{visible(args[0])}'. {hint}")
        return super().resolve_command(ctx, args)
