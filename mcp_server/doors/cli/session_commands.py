"""Commands for sessions and conversations: save them, and bring them back."""

import json
import os
from pathlib import Path

import click

from mcp_server.actions.memory import conversation, session
from mcp_server.adapters import files as disk
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import split_list
from mcp_server.core.render import counted
from mcp_server.doors.cli import output, text_input
from mcp_server.doors.cli.author import author, judged
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import memory as shown


@click.command("save-session")
@click.argument("title")
@click.option("--context", default="", help="What is being done; `-` (the default) reads standard input.")
@click.option("--files", default="", help="Files the work is about, with commas.")
@click.option("--var", "variables", multiple=True, help="NAME=VALUE worth keeping. May be repeated.")
@click.option("--task", "tasks", multiple=True, help="Something still open. May be repeated.")
def save_session_command(
    title: str, context: str, files: str, variables: tuple[str, ...], tasks: tuple[str, ...]
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
    opened = output.opened()
    source, by = author(opened)
    saved = session.save_session(
        opened.store(),
        title,
        context,
        files=split_list(files),
        variables=dict(variable.partition("=")[::2] for variable in variables),
        tasks=tasks,
        folder=opened.folder,
        session=by,
        source=source,
    )
    output.print_shown(shown.saved(saved, "session", waits=judged(opened, saved.memory.id)))


@click.command("restore-session")
@click.argument("memory_id", default="latest")
@as_json
def restore_session_command(memory_id: str, as_json: bool) -> None:
    """Show a saved session, the latest by default, and what changed since.

    Example: daybook restore-session
    """
    opened = output.opened()
    file, since = session.restore_session(opened.store(), memory_id, folder=opened.folder)
    output.print_shown(shown.saved_session(file, since), as_json=as_json)


@click.command("save-conversation")
@click.argument("title")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), default="-")
def save_conversation_command(title: str, file: Path) -> None:
    """Save a conversation from a JSON list of {"role", "content", "timestamp"?}.

    Example: daybook save-conversation "Why we left Heroku" talk.json
    """
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
    saved = conversation.save_conversation(output.opened().store(), title, messages)
    output.print_shown(shown.saved(saved, f"conversation of {counted(len(messages), 'message')}"))


@click.command("load-conversation")
@click.argument("memory_id")
@click.option("--offset", default=0, type=click.IntRange(min=0), help="How many turns to skip.")
@click.option("--limit", type=click.IntRange(min=1), help="How many turns to show; by default all.")
@as_json
def load_conversation_command(memory_id: str, offset: int, limit: int | None, as_json: bool) -> None:
    """Show a saved conversation turn by turn.

    Example: daybook load-conversation why-we-left-heroku-x8k2 --json
    """
    file, turns = conversation.load_conversation(output.opened().store(), memory_id)
    output.print_shown(shown.conversation(file, turns, offset, limit), as_json=as_json, texts=True)


COMMANDS = (
    save_session_command,
    restore_session_command,
    save_conversation_command,
    load_conversation_command,
)
