"""Commands that tell of sessions, and forget what was learned in one."""

from dataclasses import asdict
from datetime import UTC, datetime

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.sessions import forget_session, session_history
from mcp_server.adapters.index.events.episodes import Again
from mcp_server.core.budget import Cost
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import type_or_kind
from mcp_server.core.render import counted, visible
from mcp_server.doors.cli import output
from mcp_server.doors.cli.output import as_json
from mcp_server.store import Store


@click.command("sessions")
@click.argument("name", default="", metavar="[ID]")
@click.option("--patterns", is_flag=True, help="What several sessions recalled, used or learned about.")
@click.option("--topic", default="", help="With an ID: note what the session is about.")
@click.option("--summary", default="", help="With an ID: note what was done in it.")
@click.option("--end", is_flag=True, help="With an ID: note that it is over.")
@click.option("--limit", default=20, show_default=True, help="1 to 50.")
@click.option("--all-projects", is_flag=True)
@as_json
def sessions_command(
    name: str,
    patterns: bool,
    topic: str,
    summary: str,
    end: bool,
    limit: int,
    all_projects: bool,
    as_json: bool,
) -> None:
    """List the sessions of this project, tell of one, or tell what comes up in several.

    Example: daybook sessions --patterns
    """
    store = output.opened().store()
    sync_if_free(store)
    if patterns:
        _print_patterns(session_history.patterns(store, limit=limit), as_json)
        return
    if (topic or summary or end) and not name:
        raise Rejected("It is not said which session is meant.", "Give an ID of 'daybook sessions'.")
    if topic or summary or end:
        session = session_history.find_session(store, name).id
        note = session_history.end_session if end else session_history.title_session
        note(store, session, topic=topic, summary=summary)
    if name:
        _print_session(store, name, as_json)
        return
    found = session_history.list_sessions(store, limit=limit, all_projects=all_projects)
    costs = session_history.costs(store, found)
    if as_json:
        output.print_json([{**asdict(each), "cost": asdict(costs.get(each.id, Cost()))} for each in found])
        return
    if not found:
        click.echo(
            "No session is known here. They are noted when Claude Code starts one; see --all-projects."
        )
        return
    rows = [
        [each.short or each.id[:16], _moment(each.started), _moment(each.last),
         "forgotten" if each.forgotten else "", str(costs.get(each.id, "")),
         (each.topic or each.summary)[:60]]
        for each in found
    ]  # fmt: skip
    output.print_table(["id", "began (UTC)", "last", "", "learning from it", "topic"], rows)


@click.command("forget-session")
@click.argument("name", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--undo", is_flag=True, help="Put back what was forgotten of this session.")
@as_json
def forget_session_command(name: str, dry_run: bool, undo: bool, as_json: bool) -> None:
    """Forget everything learned in one session: memories, candidates and its conversation go to the trash.

    Example: daybook forget-session 3f9a2c1d --dry-run
    """
    if undo and dry_run:
        raise Rejected("--undo puts a session back at once, without a plan.", "Leave out one of the two.")
    store = output.opened().store()
    if undo:
        back = forget_session.undo_forget_session(store, name)
        lines, said = back.lines(), asdict(back)
    else:
        done = forget_session.forget_session(store, name, dry_run=dry_run)
        lines, said = done.lines(), {**asdict(done), "lines": done.lines()}
    if as_json:
        output.print_json(said)
        return
    for line in lines:
        click.echo(visible(line))
    if not undo:
        click.echo(
            "Nothing was changed." if dry_run else f"'daybook forget-session {name} --undo' puts it back."
        )


def _print_session(store: Store, name: str, as_json: bool) -> None:
    told = session_history.tell_session(store, name)
    _, stored, given = session_history.session_memories(store, name)
    if as_json:
        said = {
            "memories": [output.row_json(row) for row in stored],
            "given": [asdict(each) for each in given],
        }
        output.print_json({**asdict(told), **said})
        return
    episode = told.episode
    click.echo(click.style(visible(episode.topic) or episode.short or episode.id, bold=True))
    click.echo(f"{episode.id}  {_moment(episode.started)} to {_moment(episode.last)} UTC  {episode.folder}")
    if episode.forgotten:
        click.echo(
            "Everything learned in it was forgotten; 'daybook forget-session' with --undo puts it back."
        )
    if episode.summary:
        click.echo(f"\n{visible(episode.summary)}\n")
    for each in told.transcripts:
        click.echo(f"transcript: {each.kept:,} of {each.size:,} bytes kept, {each.learned:,} learned from")
    click.echo(
        f"stored {sum(told.stored.values())}, recalled {told.recalled}, used {counted(told.used, 'memory')}"
    )
    click.echo(f"learning from it: {str(told.cost) or 'no call of a model'}")
    rows = [[row.id, type_or_kind(row.kind, row.type), row.status.value, row.title[:60]] for row in stored]
    output.print_table(["stored", "type", "status", "title"], rows)
    output.print_table(
        ["given", "recalled", "used", "title"],
        [[each.id, each.recalled, each.used, each.title[:60]] for each in given],
    )


def _print_patterns(found: session_history.Patterns, as_json: bool) -> None:
    if as_json:
        output.print_json(asdict(found))
        return
    if not found.memories and not found.tags:
        click.echo("Nothing comes up in two sessions yet.")
        return

    def rows(again: tuple[Again, ...]) -> list[list[object]]:
        return [[a.name.rpartition("/")[2], a.sessions, a.times, a.title[:60]] for a in again]

    output.print_table(["memory", "sessions", "times", "title"], rows(found.memories))
    output.print_table(["tag", "sessions", "memories", ""], rows(found.tags))


def _moment(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


COMMANDS = (sessions_command, forget_session_command)
