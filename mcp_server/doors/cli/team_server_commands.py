"""Commands of the group team for its administrator: serve, token, export, import."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcp_server.bootstrap import Opened, now
from mcp_server.core.embedding_models import NONE
from mcp_server.core.errors import NotFound, SettingsError
from mcp_server.core.team.team import Member, Role
from mcp_server.doors.cli import output
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.suggesting_group import SuggestingGroup
from mcp_server.doors.shown import team as shown
from mcp_server.doors.shown.taken_in import exported, taken_in_team

if TYPE_CHECKING:
    from mcp_server.adapters.team.database import PostgresTeam
    from mcp_server.core.ports import Embedder

DATABASE = "DAYBOOK_TEAM_DATABASE"
PORT = 8420
database_option: Callable[[Any], Any] = click.option(
    "--database",
    metavar="postgresql://…",
    help=f"The team's database; better by the variable {DATABASE}, which others cannot read.",
)


@click.command("serve")
@database_option
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True)
@click.option("--bind", default="127.0.0.1", show_default=True, metavar="ADDRESS")
@click.option(
    "--host-name",
    "names",
    multiple=True,
    metavar="NAME",
    help="The host name that members use. May be repeated.",
)
@click.option("--name", metavar="NAME", help="Name the team; the name is kept in the database.")
@click.option(
    "--each-minute",
    type=click.IntRange(1, 1_000_000),
    default=600,
    show_default=True,
    help="The most requests of one token in a minute, for each server.",
)
@click.option(
    "--embed-anew", is_flag=True, help="Delete the vectors of another embedding model, and compute new ones."
)
def serve_command(
    database: str | None,
    port: int,
    bind: str,
    names: tuple[str, ...],
    name: str | None,
    each_minute: int,
    embed_anew: bool,
) -> None:
    """Serve a team's memory from its PostgreSQL database, until Ctrl-C or SIGTERM.

    Several servers can share one database. For TLS put a proxy in front; see docs/team.md.

    Example: daybook team serve --database postgresql://daybook@localhost/team --host-name team.example.org
    """
    opened = output.opened()
    with _database(opened, database, embedder=_embedder(opened), embed_anew=embed_anew) as team:
        from mcp_server.doors.team_server.serve import TeamServer, is_beyond  # slow to load

        if is_beyond(bind):
            _check_reach(team, bind, names)
        if name:
            team.rename(name)
        server = TeamServer(team, bind=bind, port=port, now=now, names=names, each_minute=each_minute)
        if not team.semantic:
            click.echo("It is searched by words only: no embedding model is chosen, or pgvector is missing.")
        if is_beyond(bind):
            click.echo("Tokens and texts are sent unencrypted: put a proxy with TLS in front.")
        click.echo(f"The memory of the team '{team.name}' is served on {server.address} until Ctrl-C.")
        server.run()
    click.echo("The server has ended.")


def _check_reach(team: PostgresTeam, bind: str, names: tuple[str, ...]) -> None:
    """Raise SettingsError for a server that others could reach, and that no member could use."""
    if not team.members():
        raise SettingsError(
            f"Other machines could reach {bind}, and nobody has a token yet.",
            "Issue one with 'daybook team token issue NAME --role curator'.",
        )
    if not names:
        raise SettingsError(
            f"Other machines could reach {bind}, and no host name is set for them.",
            "Name it: --host-name team.example.org, or the address itself.",
        )


def _embedder(opened: Opened) -> Embedder | None:
    """Return the embedding model of this machine, None when it is to search by words only."""
    chosen = opened.settings.embedding_model
    return None if chosen == NONE else opened.load_embedder(chosen)


@contextlib.contextmanager
def _database(
    opened: Opened, url: str | None, *, embedder: Embedder | None = None, embed_anew: bool = False
) -> Iterator[PostgresTeam]:
    """Give the team's database that *url*, or the environment, names; raise SettingsError for none."""
    named = url or opened.environment.get(DATABASE, "").strip()
    if not named:
        raise SettingsError(
            "No database is named.", f"Set {DATABASE}=postgresql://…, or give --database postgresql://…"
        )
    try:
        from mcp_server.adapters.team.database import open_database
    except ImportError as error:
        raise SettingsError(
            f"A team's database needs a package that is not installed: {error.name}.",
            "Install it: bin/daybook setup-environment -r requirements-team.txt",
        ) from None
    # What it logs, it raises as well, and we say it once.
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    with open_database(named, embedder=embedder, embed_anew=embed_anew) as team:
        yield team


@click.group("token", cls=SuggestingGroup)
def token_command() -> None:
    """Issue and withdraw the tokens by which members reach a team's memory.

    Example: daybook team token list
    """


@token_command.command("issue")
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    required=True,
    help=(
        "A reader searches and reads, a writer also remembers, a curator can change and confirm every memory."
    ),
)
@database_option
def issue_command(name: str, role: str, database: str | None) -> None:
    """Issue a token to a member; an earlier token of theirs stops working.

    It is printed this once: only its hash is kept.

    Example: daybook team token issue anna --role writer
    """
    with _database(output.opened(), database) as team:
        token = team.issue(name, Role(role))
    click.echo(f"The token of {name}, a {role}; it is shown only this once:", err=True)
    click.echo(token)


@token_command.command("withdraw")
@click.argument("name")
@database_option
def withdraw_command(name: str, database: str | None) -> None:
    """Withdraw a member's token; it stops working at once. What they wrote stays.

    Example: daybook team token withdraw anna
    """
    with _database(output.opened(), database) as team:
        team.withdraw(name)
    click.echo(f"The token of {name} no longer works.")


@token_command.command("list")
@database_option
@as_json
def list_command(database: str | None) -> None:
    """List the members that have a token, with their roles.

    Example: daybook team token list
    """
    with _database(output.opened(), database) as team:
        members = team.members()
    output.print_shown(shown.members(members))


@click.command("export")
@click.argument("folder", type=click.Path(path_type=Path))
@database_option
@as_json
def export_command(folder: Path, database: str | None) -> None:
    """Write a team's memories into a new folder, as files with their history.

    For a full backup, which includes forgotten memories and the members, use pg_dump; see docs/team.md.

    Example: daybook team export ~/team-export
    """
    from mcp_server.actions.exchange.team_folder import export_team  # only the administrator needs it

    with _database(output.opened(), database) as team:
        storage = team.storage_for(_member(team.members(), ""))
        report = export_team(storage, folder, lambda _: None)
    output.print_shown(exported(report, folder, of_team=True))


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--as", "author", metavar="NAME", help="The member in whose name they are stored: a writer or a curator."
)
@database_option
@as_json
def import_command(folder: Path, author: str | None, database: str | None) -> None:
    """Import an export, or a vault's folder, into a team's memory.

    Memories that the team already has stay as they are, so you can repeat an interrupted import. Memories
    that seem to contain a secret are left out.

    Example: daybook team import ~/team-export --as anna
    """
    from mcp_server.actions.exchange.team_folder import memory_files, take_in_team

    opened = output.opened()
    paths = memory_files(folder)
    with _database(opened, database, embedder=_embedder(opened)) as team:
        storage = team.storage_for(_member(team.members(), author or ""))
        with output.progress(len(paths), "Memories") as step:
            report = take_in_team(storage, paths, progress=step)
    output.print_shown(taken_in_team(report))


def _member(members: tuple[Member, ...], name: str) -> Member:
    """Return the member of that *name*, without one who may do most; raise NotFound."""
    if not name and members:
        return max(members, key=lambda member: list(Role).index(member.role))
    for member in members:
        if member.name == name:
            return member
    raise NotFound(
        name,
        sentence=f"No member of the team is called '{name}'." if name else "The team has no members yet.",
        hint="'daybook team token list' names them, 'daybook team token issue' makes one.",
    )


ADMINISTERING = (serve_command, token_command, export_command, import_command)
