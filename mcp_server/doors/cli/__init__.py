"""The command line: `daybook VERB`, the same verbs and words as the MCP tools."""

import sys

import click

from mcp_server import __version__
from mcp_server.core.errors import DaybookError
from mcp_server.doors.cli import (
    capture_commands,
    demo,
    import_commands,
    listing_commands,
    memory_commands,
    project_commands,
    session_commands,
    store_commands,
)

DISK_REFUSED = 9


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="daybook")
def daybook() -> None:
    """A memory for Claude Code: markdown files you can edit, found by words and by meaning."""


GROUPS = (
    memory_commands,
    listing_commands,
    session_commands,
    capture_commands,
    import_commands,
    project_commands,
    store_commands,
    demo,
)
for group in GROUPS:
    for command in group.COMMANDS:
        daybook.add_command(command)


def main() -> None:
    """Run the command line; errors are one sentence and one hint on stderr."""
    try:
        daybook(prog_name="daybook", standalone_mode=False)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.Abort:
        click.echo("Stopped.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except DaybookError as error:
        click.echo(f"daybook: {error}", err=True)
        if error.hint:
            click.echo(f"         {error.hint}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        click.echo(f"daybook: The disk refused: {error.strerror or error}. Nothing was changed.", err=True)
        sys.exit(DISK_REFUSED)
