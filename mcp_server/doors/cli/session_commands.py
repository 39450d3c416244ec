"""Commands for sessions and conversations: save, bring back, list, forget what one taught."""

import json
import os
from pathlib import Path

import click

from mcp_server.actions.memory import conversation, session
from mcp_server.actions.sessions import forget_session, session_history
from mcp_server.adapters import files as disk
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import PersonNeeded, Rejected
from mcp_server.core.memory_parts import parted, split_list
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.render import counted
from mcp_server.doors.cli import output, person, text_input
from mcp_server.doors.cli.author import author, judged, turns
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.text_input import with_metadata
from mcp_server.doors.cli.typed_parameters import heed_only
from mcp_server.doors.shown import memory as shown
from mcp_server.doors.shown import sessions as shown_sessions
from mcp_server.doors.shown.history import undone
from mcp_server.doors.shown.persons_acts import FORGETTING, TAKING_BACK


@click.command("save-session")
@click.argument("title")
@click.option("--context", default="", help="What is being done; `-` (the default) reads standard input.")
@click.option(
    "--files",
    default="",
    help="Files the work is about, with commas, or semicolons (\\; for one in a path).",
)
@click.option("--var", "variables", multiple=True, help="NAME=VALUE worth keeping. May be repeated.")
@click.option("--task", "tasks", multiple=True, help="Something still open. May be repeated.")
@with_metadata
def save_session_command(
    title: str,
    context: str,
    files: str,
    variables: tuple[str, ...],
    tasks: tuple[str, ...],
    metadata: tuple[str, ...],
) -> None:
    """Save where the work stands, so that a later session can go on from there.

    Example: daybook save-session "Webhook retries" --context "Retry queue half done" --task "add backoff"
    """
    context = context if context not in ("", "-") else text_input.standard_input("the context")
    if not any((context.strip(), files.strip(), variables, tasks)):
        raise Rejected(
            "There is nothing to save.",
            'For example: daybook save-session "Webhook retries" --context "Retry queue half done"',
        )
    values = text_input.named_values(variables, "--var")
    notes = text_input.named_values(metadata, "--meta")
    opened = output.opened()
    source = author(opened)
    saved = session.save_session(
        opened.store(),
        title,
        context,
        files=parted(files),
        variables=values,
        tasks=tasks,
        metadata=notes,
        folder=opened.folder,
        source=source,
    )
    output.print_shown(shown.saved(saved, "session", waits=judged(opened, saved.memory.id)))


@click.command("restore-session")
@click.argument("memory_id", default="latest")
@as_json
def restore_session_command(memory_id: str) -> None:
    """Show a saved session, the latest by default, and what changed since.

    Example: daybook restore-session
    """
    opened = output.opened()
    file, since = session.restore_session(opened.store(), memory_id, folder=opened.folder)
    output.print_shown(shown.saved_session(file, since))


@click.command("save-conversation")
@click.argument("title")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), default="-")
@click.option("--tags", default="", help="Tags, with commas between them.")
@with_metadata
def save_conversation_command(title: str, file: Path, tags: str, metadata: tuple[str, ...]) -> None:
    """Save a conversation from a JSON list of {"role", "content", "timestamp"?}.

    Example: daybook save-conversation "Why we left Heroku" talk.json
    """
    notes = text_input.named_values(metadata, "--meta")
    if str(file) == "-":
        text = text_input.standard_input("the messages")
    elif not file.exists():
        raise Rejected(f"There is no file {file}.", "Give the path of a JSON file, or '-'.")
    else:
        text = text_input.decoded(disk.read(Path(os.path.realpath(file)), text_input.MOST_READ), str(file))
    try:
        messages = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Rejected(
            f"The messages are not JSON: {error}.", 'Give a list: [{"role": "user", "content": "…"}]'
        ) from None
    if not isinstance(messages, list):
        raise Rejected("The messages are not a list.", 'Give a list: [{"role": "user", "content": "…"}]')
    opened = output.opened()
    source = author(opened)
    saved = conversation.save_conversation(
        opened.store(), title, messages, metadata=notes, tags=split_list(tags), source=source
    )
    output.print_shown(shown.saved(saved, f"conversation of {counted(len(messages), 'message')}"))


@click.command("load-conversation")
@click.argument("memory_id")
@click.option("--offset", default=0, type=click.IntRange(min=0), help="How many turns to skip.")
@click.option("--limit", type=click.IntRange(min=1), help="How many turns to show; by default all.")
@as_json
def load_conversation_command(memory_id: str, offset: int, limit: int | None) -> None:
    """Show a saved conversation turn by turn.

    Example: daybook load-conversation why-we-left-heroku-x8k2 --json
    """
    file, turns = conversation.load_conversation(output.opened().store(), memory_id)
    output.print_shown(shown.conversation(file, turns, offset, limit), texts=True)


@click.command("sessions")
@click.argument("name", default="", metavar="[ID]")
@click.option("--patterns", is_flag=True, help="Show what several sessions recalled, used or learned about.")
@click.option("--topic", default="", help="With an ID: save what the session is about.")
@click.option("--summary", default="", help="With an ID: save a summary of it.")
@click.option("--end", is_flag=True, help="With an ID: mark it as ended.")
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
) -> None:
    """List this project's sessions, show one, or show what they have in common.

    Example: daybook sessions --patterns
    """
    if patterns:
        heed_only("--patterns", "--limit", "--json", where="with --patterns")
    elif name:
        heed_only("ID", "--topic", "--summary", "--end", "--json", where="with an ID")
    store = output.synced()
    if patterns:
        output.print_shown(shown_sessions.patterns(session_history.patterns(store, limit=limit)))
        return
    if (topic or summary or end) and not name:
        raise Rejected("No session was named.", "Name one by its id: 'daybook sessions' lists them.")
    if topic or summary or end:
        session = session_history.find_session(store, name).id
        note = session_history.end_session if end else session_history.title_session
        note(store, session, topic=topic, summary=summary)
    if name:
        report = session_history.tell_session(store, name)
        memories = session_history.session_memories(store, name)[1:]
        output.print_shown(shown_sessions.session(report, *memories))
        return
    episodes = session_history.list_sessions(store, limit=limit, all_projects=all_projects)
    output.print_shown(shown_sessions.listed(episodes, session_history.costs(store, episodes)))


@click.command("forget-session")
@click.argument("name", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--undo", is_flag=True, help="Bring back what was forgotten of this session.")
@as_json
def forget_session_command(name: str, dry_run: bool, undo: bool) -> None:
    """Move everything that one session taught to the trash.

    That is its memories, its candidates and its conversation.

    Example: daybook forget-session 3f9a2c1d --dry-run
    """
    if undo and dry_run:
        raise Rejected("--undo brings a session back at once, without a plan.", "Use only one of the two.")
    opened = output.opened()
    store = opened.store()
    if undo:
        if store.by() != PERSON and forget_session.is_persons(store, name):
            person.require(TAKING_BACK)
        result = undone(forget_session.undo_forget_session(store, name))
    else:
        by_claude = not dry_run and author(opened) != MANUAL
        if by_claude and forget_session.kept_from_forgetting(store, name, turns(opened)):
            raise PersonNeeded(FORGETTING, person.typed())
        result = shown_sessions.forgotten(forget_session.forget_session(store, name, dry_run=dry_run))
    output.print_shown(result)


COMMANDS = {
    "Sessions": (save_session_command, restore_session_command, sessions_command, forget_session_command),
    "Conversations": (save_conversation_command, load_conversation_command),
}
