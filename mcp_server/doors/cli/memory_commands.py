"""
Commands for memories: remember, read, revise, forget, restore.

It is long because each is a signature with its help, which are read and changed together.
"""

import contextlib

import click

from mcp_server.actions.context.open_questions import standing_beside
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.change_memory import Wanted, change_memory, check_change
from mcp_server.actions.judge.compare_and_store import compare_and_store, looked_up
from mcp_server.actions.judge.persons_word import (
    Turns,
    is_kept_from_fading,
    kept_from_moving,
    may_forget,
)
from mcp_server.actions.judge.taking_back import kept_from_restoring
from mcp_server.actions.memory import forget as forgetting
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.revise import Revision, version
from mcp_server.actions.memory.trust import standing_of
from mcp_server.actions.team.give import remember_for_team
from mcp_server.actions.team.memories import (
    CHANGING_TEAMS,
    forget_if_of_team,
    read_anywhere,
    restore_anywhere,
    revise_if_of_team,
)
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import NotFound, PersonNeeded, Rejected
from mcp_server.core.graph.graph import check_category
from mcp_server.core.links import parse_link
from mcp_server.core.memory import LISTS, Draft
from mcp_server.core.memory_parts import Level, Status, parted
from mcp_server.core.memory_types import TYPES
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.render import elsewhere, files_of_before, on_one_line, state_of, visible
from mcp_server.core.sessions.snapshot import renoted
from mcp_server.core.storage.port import Stored
from mcp_server.core.text.titles import split_title
from mcp_server.doors.cli import output, person, text_input
from mcp_server.doors.cli.author import author, judged, take_over, turns
from mcp_server.doors.cli.output import LEVELS, OWN_LEVELS, as_json
from mcp_server.doors.cli.text_input import with_lists, with_metadata
from mcp_server.doors.shown import memory as shown
from mcp_server.doors.shown import team as shown_team
from mcp_server.doors.shown.draft_outcome import near_command
from mcp_server.doors.shown.persons_acts import FADING, FORGETTING, MOVING, TAKING_BACK
from mcp_server.store import Store


@click.command("remember")
@click.argument("words", nargs=-1)
@click.option("--type", "type_", default="", help=f"One of: {', '.join(TYPES)}.")
@with_lists(key.help for key in LISTS)
@click.option(
    "--level",
    type=LEVELS,
    help="user: holds everywhere; project: belongs to this code base; team: for the team that you joined.",
)
@click.option(
    "--touches",
    default="",
    help="Files it is about, path or path:line, with commas, or semicolons (\\; for one in a path).",
)
@click.option(
    "--link", "links", multiple=True, metavar="ID", help='An id it relates to, or "rel: id". May be repeated.'
)
@click.option(
    "--supersedes",
    multiple=True,
    metavar="ID",
    help="Id of a memory that this one replaces, or a quote of it. May be repeated.",
)
@click.option("--category", default="", help="A word of your own for memories that belong together.")
@with_metadata
@click.option("--keep-secrets", is_flag=True, help="Store it although it looks like a secret.")
@as_json
def remember_command(
    words: tuple[str, ...],
    type_: str,
    level: Level | None,
    touches: str,
    links: tuple[str, ...],
    supersedes: tuple[str, ...],
    category: str,
    metadata: tuple[str, ...],
    keep_secrets: bool,
    **lists: str | None,
) -> None:
    """Store one thing worth knowing later; `-` reads it from standard input.

    Example: daybook remember "Webhook needs the raw body | Skip body parsing for /webhook." --type gotcha
    """
    content = text_input.standard_input("what to remember") if words == ("-",) else " ".join(words)
    if not content.strip():
        raise Rejected(
            "There is nothing to remember.", 'For example: daybook remember "Title | what to remember"'
        )
    opened = output.opened()
    store = opened.store()
    title, text = split_title(content)
    draft = Draft(
        title=title,
        text=text,
        type=type_,
        level=level,
        touches=parted(touches),
        links=tuple(map(parse_link, links)),
        supersedes=supersedes,
        category=check_category(category),
        notes=renoted((), text_input.metadata(metadata)),
        source=author(opened),
        session=store.session,
        **text_input.lists(lists),
    )
    if draft.level is Level.TEAM:
        given_to_team = remember_for_team(store, draft, keep_secrets=keep_secrets)
        output.print_shown(shown_team.stored(given_to_team))
        return
    outcome = compare_and_store(store, draft, keep_secrets=keep_secrets, turns=turns(opened))
    waits = judged(opened, outcome.id)
    outcome = looked_up(store, outcome)
    file = read(store, outcome.id)
    result = shown.remembered(outcome, file, waits=waits, settling=near_command)
    output.print_shown(result)


@click.command("read")
@click.argument("memory_id")
@as_json
def read_command(memory_id: str) -> None:
    """Print the file of one memory.

    Example: daybook read stripe-webhook-raw-body-k3f9
    """
    store = output.opened().store()
    file = read_anywhere(store, memory_id)
    if isinstance(file, Stored):
        output.print_shown(shown_team.whole(file))
        return
    standing = standing_of(store, file)
    if output.wants_json():
        output.print_json(shown.whole(file, standing).json)
    else:
        path = on_one_line(str(file.path))
        click.echo(click.style(f"{path}  (version {version(file)})", dim=True))
        for state in (elsewhere(standing.project), state_of(Status.ACTIVE, shadowed_by=standing.shadowed_by)):
            if state:
                click.echo(click.style(visible(state), dim=True))
        if standing.label != "high" or standing.stale:
            doubts = f"trust {standing.label}  {files_of_before(standing.stale)}".rstrip()
            click.echo(click.style(visible(doubts), dim=True))
        click.echo(visible(file.data.decode("utf-8", "replace")).rstrip())


@click.command("revise")
@click.argument("memory_id")
@click.option("--title")
@click.option("--text", help="The new text; `-` reads it from standard input.")
@click.option("--type", "type_")
@with_lists(key.new_help for key in LISTS)
@click.option(
    "--touches",
    help="The new files it is about, path or path:line, with commas, or semicolons (\\; for one in a path);"
    " '' for none.",
)
@click.option(
    "--level", type=OWN_LEVELS, help="Move it: user holds everywhere, project only in this code base."
)
@click.option(
    "--supersedes", multiple=True, metavar="ID", help="Id of a memory that it replaces. May be repeated."
)
@click.option("--category", help="A word of your own for memories that belong together.")
@click.option("--meta", "metadata", multiple=True, help="NAME=VALUE to keep with it; NAME= removes it.")
@click.option(
    "--distinct",
    multiple=True,
    metavar="ID",
    help="Id of a similar memory that is also right. May be repeated.",
)
@click.option(
    "--version",
    "version_",
    default="",
    metavar="VERSION",
    help="Refuse if the file is no longer at this version.",
)
@click.option("--keep-secrets", is_flag=True, help="Store it although it looks like a secret.")
@as_json
def revise_command(
    memory_id: str,
    title: str | None,
    text: str | None,
    type_: str | None,
    touches: str | None,
    level: Level | None,
    supersedes: tuple[str, ...],
    category: str | None,
    metadata: tuple[str, ...],
    distinct: tuple[str, ...],
    version_: str,
    keep_secrets: bool,
    **lists: str | None,
) -> None:
    """Change a memory's words, tags, level and more; you can also edit its file.

    Example: daybook revise stripe-webhook-raw-body-k3f9 --tags billing,stripe
    """
    revision = Revision(
        title=title,
        text=text_input.standard_input("the new text") if text == "-" else text,
        type=type_,
        touches=None if touches is None else parted(touches),
        category=None if category is None else check_category(category),
        **text_input.lists(lists),
    )
    wanted = Wanted(revision, text_input.metadata(metadata), level, supersedes, distinct)
    opened = output.opened()
    store = opened.store()
    if wanted == Wanted():
        raise Rejected(
            "Nothing was given to change.",
            f"Give --title, --text, --type, {', '.join(key.option for key in LISTS)}, --touches, --level,"
            " --supersedes, --distinct, --category or --meta.",
        )
    given_to_team = revise_if_of_team(
        store,
        memory_id,
        wanted,
        version=version_,
        keep_secrets=keep_secrets,
        consent=lambda: _check_may_change_team(opened),
    )
    if given_to_team:
        output.print_shown(shown_team.stored(given_to_team, verb="revised"))
        return
    source = author(opened)
    check_change(store, memory_id, wanted, version=version_, keep_secrets=keep_secrets)
    if level and source != MANUAL and kept_from_moving(store, memory_id, level, turns(opened)):
        raise PersonNeeded(MOVING, person.typed())
    if source != MANUAL and is_kept_from_fading(store, memory_id, revision, turns(opened)):
        raise PersonNeeded(FADING, person.typed())
    own = read(store, memory_id).memory.id

    def why_it_waits(changed_id: str) -> str:
        waits = judged(opened, changed_id)
        return waits or (take_over(opened, own) if changed_id == own else "")

    change = change_memory(
        store,
        own,
        wanted,
        version=version_,
        keep_secrets=keep_secrets,
        source=source,
        replacing=source,
        turns=turns(opened),
        judged=why_it_waits,
    )
    output.print_shown(shown.changed(own, change, settling=near_command))


@click.command("forget")
@click.argument("memory_id")
@click.option("--forever", is_flag=True, help="Delete it for good, including its copies in the trash.")
def forget_command(memory_id: str, forever: bool) -> None:
    """Move a memory to the trash; `daybook restore` brings it back.

    Example: daybook forget stripe-webhook-raw-body-k3f9
    """
    opened = output.opened()
    store = opened.store()
    stored = forget_if_of_team(
        store,
        memory_id,
        forever=forever,
        consent=lambda: _check_may_change_team(opened),
    )
    if stored:
        output.print_shown(shown_team.forgotten(stored))
        return
    if forever:
        person.require("deleting a memory for good")
    elif author(opened) != MANUAL:
        _check_may_forget(store, memory_id, turns(opened))
    outcome = forgetting.forget(store, memory_id, forever=forever)
    output.print_shown(shown.forgotten(outcome))


def _check_may_change_team(opened: Opened) -> None:
    """Raise PersonNeeded when Claude would change what the team shares."""
    if author(opened) != MANUAL:
        raise PersonNeeded(CHANGING_TEAMS, person.typed())


def _check_may_forget(store: Store, memory_id: str, turns: Turns) -> None:
    """Raise PersonNeeded when Claude would put away what the person said, and they did not ask for it."""
    with contextlib.suppress(NotFound):
        if not may_forget(read(store, memory_id), turns):
            raise PersonNeeded(FORGETTING, person.typed())


@click.command("archive")
@click.argument("memory_ids", nargs=-1, required=True, metavar="ID...")
def archive_command(memory_ids: tuple[str, ...]) -> None:
    """Archive memories: only --include-archived finds them; `daybook restore` brings them back.

    Example: daybook archive stripe-webhook-raw-body-k3f9
    """
    opened = output.opened()
    store = opened.store()
    for memory_id in memory_ids if author(opened) != MANUAL else ():
        _check_may_forget(store, memory_id, turns(opened))
    output.print_shown(shown.archived(archive(store, memory_ids)))


@click.command("restore")
@click.argument("memory_id")
def restore_command(memory_id: str) -> None:
    """Bring back a memory that was forgotten or archived.

    Example: daybook restore stripe-webhook-raw-body-k3f9
    """
    opened = output.opened()
    store = opened.store()
    if author(opened) != MANUAL and kept_from_restoring(store, memory_id, turns(opened)):
        raise PersonNeeded(TAKING_BACK, person.typed())
    restored = restore_anywhere(store, memory_id, consent=lambda: _check_may_change_team(opened))
    if isinstance(restored, Stored):
        output.print_shown(shown_team.restored(restored))
    else:
        output.print_shown(shown.restored(restored, standing_beside(store, restored)))


COMMANDS = {
    "Memories": (
        remember_command,
        read_command,
        revise_command,
        forget_command,
        archive_command,
        restore_command,
    ),
}
