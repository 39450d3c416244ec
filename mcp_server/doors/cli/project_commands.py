"""Commands for one project: init, share, trust, brief."""

import sys

import click

from mcp_server.actions.context import claude_md
from mcp_server.actions.context.claude_md import CLAUDE_LOCAL_MD, CLAUDE_MD, FILES, NONE, Refreshed
from mcp_server.actions.context.in_context_already import chosen
from mcp_server.actions.context.start import start
from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory import repository
from mcp_server.actions.upkeep.adopt import adopt
from mcp_server.core.errors import Rejected
from mcp_server.core.render import counted
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.typed_parameters import heed_only
from mcp_server.doors.shown import unasked
from mcp_server.doors.shown.state import not_taken_in
from mcp_server.doors.shown.trust import accepted
from mcp_server.store import Store

SHARED = (
    f"Everybody who gets {CLAUDE_MD} from git sees the block, your preferences included; "
    f"{CLAUDE_LOCAL_MD} is for you alone."
)


@click.command("init")
@click.option("--file", "name", type=click.Choice([*FILES, NONE]), help="Which file gets the block.")
@click.option(
    "--repository/--no-repository",
    default=None,
    help="Whether to keep this project's knowledge in its repository, below .claude-memory/.",
)
@click.option("--repair", is_flag=True, help="Mend damaged markers; all of your text stays.")
def init_command(name: str | None, repository: bool | None, repair: bool) -> None:
    """Choose what Daybook may write into this project.

    It can write a block into CLAUDE.md, and keep the project's knowledge in its repository.

    The block is a briefing of at most 150 lines between two markers; the rest of the file stays untouched.
    Without options, you are asked. '--file none' removes the block, '--no-repository' takes the knowledge
    out of the repository again.

    Example: daybook init --file CLAUDE.md --no-repository
    """
    if repair:
        heed_only("--repair", where="with --repair")
    store = output.opened().store()
    if repair:
        sync_if_free(store)
        for mended in claude_md.repair(store):
            _tell(mended)
        return
    if name is None and repository is None:
        name, repository = _asked(store)
    if repository or name not in (None, NONE):
        person.require("writing into a repository")
    if repository:
        _move_into_repository(store)
        store = output.opened().store()  # opened again: it has one more vault now
    elif repository is False:
        _move_out_of_repository(store)
        store = output.opened().store()
    if name is not None:
        sync_if_free(store)
        _choose(store, name)


def _asked(store: Store) -> tuple[str, bool]:
    if not sys.stdin.isatty():
        raise Rejected(
            f"Choose with --file {'|'.join([*FILES, NONE])} and --repository or --no-repository.",
            "In a terminal 'daybook init' asks.",
        )
    is_there = repository.is_there(store)
    name = click.prompt(
        "Which file of this project gets a briefing that every session reads?",
        type=click.Choice([*FILES, NONE]),
        default=chosen(store) or NONE,
    )
    keeps = click.confirm("Keep this project's knowledge in its repository?", default=is_there)
    return str(name), keeps


def _move_into_repository(store: Store) -> None:
    result = repository.init(store)
    output.say(
        f"This project's knowledge is now in {result.root}; {counted(result.moved, 'memory')} moved there."
    )
    git = "Git" if repository.is_in_git(store) else "This folder is in no git repository; once it is, git"
    output.say(
        f"{git} ignores it. 'daybook share' lets git see it."
        if result.ignored
        else f"{git} sees what {result.root / '.gitignore'} lets it see."
    )


def _move_out_of_repository(store: Store) -> None:
    if not repository.is_there(store):
        output.say("This project's knowledge is not in its repository, so nothing was moved.")
        return
    person.require("taking memories out of a repository")
    result = repository.leave(store)
    moved = f"{counted(result.moved, 'memory')} moved there"
    output.say(f"This project's knowledge is no longer in its repository, but in {result.root}; {moved}.")
    if result.stay:
        output.say(f"In the repository stay, because you did not accept them: {', '.join(result.stay)}.")
    if result.shared and result.moved:
        output.say("Git sees that their files are gone; commit that when you want to.")


def _choose(store: Store, name: str) -> None:
    became = sorted(claude_md.choose(store, name), key=lambda refreshed: bool(refreshed.problem))
    for change in became:
        if change.path and change.path.name != name and not change.problem:
            output.say(f"The block was removed from {change.path}.")
        else:
            _tell(change)
    if name == NONE:
        output.say(f"No file of this project {'holds a block now' if became else 'held a block'}.")
    elif name == CLAUDE_MD:
        output.say(SHARED)
    elif (ignored := claude_md.ignored(store, name)) is None:
        output.say(
            f"Daybook could not ask git whether it ignores {name}: check it if the file is only for you."
        )
    elif not ignored:
        output.say(f"Git does not ignore {name}: add it to .gitignore if it is only for you.")


def _tell(change: Refreshed) -> None:
    """Say what became of a file; what stood in the way ends the command."""
    if change.problem:
        raise change.problem
    output.say(f"{change.path} {'was written' if change.changed else 'says it already'}.")


@click.command("brief")
@click.option("--block", is_flag=True, help="Print only the block for CLAUDE.md, as it would be now.")
@as_json
def brief_command(block: bool) -> None:
    """Print what a session that starts here is shown, and CLAUDE.md's block.

    Example: daybook brief --block
    """
    store = output.synced()
    if block:
        current = claude_md.current_block(store)
        if output.wants_json():
            output.print_json({"text": current.text, "memories": unasked.ids(current.digests)})
        else:
            click.echo(current.text)
        return
    begins = start(store)
    if output.wants_json():
        output.print_json(unasked.at_start(begins))
        return
    name = chosen(store)
    held = claude_md.current_block(store) if name else None
    nothing = "Nothing yet: there is no memory to show unasked in this folder."
    if held and held.digests:
        nothing = f"Nothing beside what {name} says."
    elif begins.unreadable:
        nothing = "Nothing that can be read and may be shown unasked in this folder."
    click.echo(begins.brief.text or nothing)
    if begins.unreadable:
        output.say(f"! {not_taken_in(begins.unreadable)}")
    if held:
        click.echo(f"\n{name}:\n{held.text}")


@click.command("share")
def share_command() -> None:
    """Let git see the knowledge that 'daybook init' put into the repository.

    Example: daybook share
    """
    person.require("sharing memories with everybody who gets the repository")
    store = output.opened().store()
    knowledge = repository.share(store).parent / "knowledge"
    output.say(
        f"Git sees {knowledge} now; commit it when you want to."
        if repository.is_in_git(store)
        else f"This folder is in no git repository; once it is, git sees {knowledge}."
    )


@click.command("trust")
@click.argument("memory_ids", nargs=-1)
@click.option(
    "--documents", is_flag=True, help="All memories from documents, which seed and bootstrap stored."
)
@click.option("--list", "list_", is_flag=True, help="Only show what waits.")
@as_json
def trust_command(memory_ids: tuple[str, ...], documents: bool, list_: bool) -> None:
    """Accept memories that came with the repository or wait for approval.

    They are accepted as they are now.

    Example: daybook trust --list
    """
    if memory_ids and (documents or list_):
        raise Rejected("--documents and --list cannot be used with ids.", "Give ids or one of these.")
    if not list_:
        person.require("accepting memories")
    store = output.synced()
    if documents:
        rows = repository.from_documents(store)
        if not list_:
            repository.accept(store, rows)
    else:
        rows = repository.untrusted(store) if list_ else repository.trust(store, memory_ids or None)
    output.print_shown(accepted(rows, wait=list_))


@click.command("adopt")
@click.argument("key", default="")
def adopt_command(key: str) -> None:
    """Take over this project's memories after its folder moved, or its git remote changed.

    'daybook where' lists the projects that may be this one; if there is only one, leave out KEY. A project
    without a git remote that came from another of your machines is joined with this folder.

    Example: daybook adopt shop-1a2b3c4d
    """
    person.require("taking over what another folder remembered")
    adoption = adopt(output.opened().store(), key)
    if adoption.source.elsewhere:
        output.say(f"This folder is from now on the project {adoption.source.key}, as on your other machine.")
        return
    output.say(f"{counted(adoption.moved, 'memory')} of {adoption.source.root} moved here.")
    for path in adoption.not_moved:
        output.say(f"Skipped, because a file of that name is already here: {path}")


COMMANDS = {
    "This project": (init_command, share_command, trust_command, adopt_command),
    "Sessions": (brief_command,),
}
