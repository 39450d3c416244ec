"""The command line: `daybook VERB`, the same verbs and words as the MCP tools."""

import functools
import gc
import json
import os
import sys
from importlib import import_module
from pathlib import Path

import click

from mcp_server import __version__
from mcp_server.core.errors import DaybookError, NotFound, disk_refused
from mcp_server.core.render import on_one_line
from mcp_server.doors.cli import help_page, printing, text_input, typed_parameters
from mcp_server.doors.cli.suggesting_group import SuggestingGroup

DISK_REFUSED = 9
LISTED = Path(__file__).with_name("listed.json")
"""Each command as `help_page.Listed`, by name; made by a test."""
LITTER = 200_000  # objects that are made before garbage is collected: most commands end earlier
FORMER = {"audit": "history", "metrics": "stats", "quality": "stats"}  # former names of commands
ELSEWHERE = {
    "search": "recall", "find": "recall", "show": "read", "get": "read", "add": "remember", "edit": "revise",
    "delete": "forget", "remove": "forget", "consolidate": "tidy", "dashboard": "view",
}  # fmt: skip
"""What other programs call a command → its name here: 'search' is spelled most like 'archive'."""


class Groups(SuggestingGroup):
    """The commands of all modules here; only that of the one that runs is loaded: all take half a second."""

    former = tuple(FORMER)
    called_elsewhere = ELSEWHERE

    @functools.cached_property
    def listed(self) -> dict[str, help_page.Listed]:
        """Return what `LISTED` says."""
        rows = json.loads(LISTED.read_text(encoding="utf-8"))
        return {name: help_page.Listed(*row) for name, row in rows.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = FORMER.get(cmd_name, cmd_name)
        if name not in self.listed:
            return None
        row = self.listed[name]
        commands: tuple[click.Command, ...] = import_module(f"{__name__}.{row.module}").COMMANDS[row.purpose]
        command = next(command for command in commands if command.name == name)
        typed_parameters.refuse_blanks(command)
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, and below them the few options."""
        help_page.write(formatter, self.listed)
        click.Command.format_options(self, ctx, formatter)


@click.group(cls=Groups, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="daybook")
def daybook() -> None:
    """A memory for Claude Code: markdown files you can edit, found by words and by meaning."""
    if os.environ.get("NO_COLOR"):  # no-color.org: click does not heed it
        click.get_current_context().color = False


def main() -> None:
    """Run the command line; errors are one sentence and one hint on stderr."""
    gc.set_threshold(LITTER)
    printing.open_output()
    umask = os.umask(0o077)  # others must not read the store; what the person names gets their umask
    try:
        text_input.check_words(sys.argv[1:])
        daybook(prog_name="daybook", standalone_mode=False, obj=umask)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.Abort as end:
        click.echo(f"Stopped. {end}".rstrip(), err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except DaybookError as error:
        error = _where_it_is(error) if isinstance(error, NotFound) else error
        click.echo(f"daybook: {on_one_line(str(error))}", err=True)  # it may quote a file or a remote
        if error.hint:
            click.echo(f"         {on_one_line(error.hint)}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        click.echo(f"daybook: {on_one_line(disk_refused(error))}", err=True)
        sys.exit(DISK_REFUSED)


def _where_it_is(error: DaybookError) -> DaybookError:
    from mcp_server.actions.team.where import told_where  # slow to load
    from mcp_server.bootstrap import Opened

    return told_where(Opened(wait_for_model=False).store, error)
