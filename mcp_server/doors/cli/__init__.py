"""The command line: `daybook VERB`, the same verbs and words as the MCP tools."""

import gc
import os
import sys
from importlib import import_module
from pathlib import Path

import click

from mcp_server import __version__
from mcp_server.core.errors import DaybookError, disk_refused
from mcp_server.core.render import visible
from mcp_server.doors.cli import given

DISK_REFUSED = 9
LISTED = Path(__file__).with_name("listed.json")  # command → what its help begins with; made by a test
LITTER = 200_000  # objects that are made before garbage is looked for: most commands end before
GROUPS = {  # module: the commands in it; only the module of the command that runs is loaded
    "recall_command": ("recall",),
    "memory_commands": ("remember", "read", "revise", "forget", "archive", "restore"),
    "listing_commands": ("list",),
    "session_commands": ("save-session", "restore-session", "save-conversation", "load-conversation"),
    "capture_commands": ("setup", "work", "backfill", "ask", "candidates", "tidy"),
    "import_commands": ("import", "export"),
    "curation_commands": ("link", "unlink", "related", "contradictions", "mine", "seed", "bootstrap"),
    "review_commands": ("review",),
    "undo_commands": ("history", "undo"),
    "project_commands": ("init", "share", "trust", "brief", "adopt"),
    "model_commands": ("model",),
    "hot_commands": ("hot", "pin", "unpin", "promote", "demote", "patterns", "predict"),
    "trust_commands": ("validate", "invalidate", "trust-history", "mark-used", "why"),
    "history_commands": ("sessions", "forget-session"),
    "maintenance_commands": ("maintain",),
    "graph_commands": ("graph",),
    "connect_commands": ("connect", "disconnect"),
    "store_commands": ("sync", "where", "status", "stats", "doctor"),
    "demo": ("demo",),
}
FORMER = {"audit": "history", "metrics": "stats", "quality": "stats"}  # what commands were called before


class Groups(click.Group):
    """The commands of all modules in GROUPS."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name for names in GROUPS.values() for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = FORMER.get(cmd_name, cmd_name)
        for module, names in GROUPS.items():
            if name in names:
                commands: tuple[click.Command, ...] = import_module(f"{__name__}.{module}").COMMANDS
                return next(command for command in commands if command.name == name)
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of all commands as click does, without loading them: that takes half a second."""
        import json

        said = json.loads(LISTED.read_text(encoding="utf-8"))
        click.Group(commands={name: click.Command(name, help=said[name]) for name in said}).format_commands(
            ctx, formatter
        )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in (*(known := self.list_commands(ctx)), *FORMER) and not args[0].startswith("-"):
            import difflib  # only a mistake needs it

            near = difflib.get_close_matches(args[0], known, n=3)
            hint = f"Did you mean {' or '.join(near)}?" if near else "'daybook --help' lists them."
            ctx.fail(f"There is no command '{visible(args[0])}'. {hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=Groups, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="daybook")
def daybook() -> None:
    """A memory for Claude Code: markdown files you can edit, found by words and by meaning."""


def main() -> None:
    """Run the command line; errors are one sentence and one hint on stderr."""
    gc.set_threshold(LITTER)
    umask = os.umask(0o077)  # the store is nobody else's business; what the person names has their mode
    try:
        given.check_words(sys.argv[1:])
        daybook(prog_name="daybook", standalone_mode=False, obj=umask)
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
        click.echo(f"daybook: {disk_refused(error)}", err=True)
        sys.exit(DISK_REFUSED)
