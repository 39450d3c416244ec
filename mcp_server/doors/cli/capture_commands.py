"""Commands for what Daybook learns by itself: setup, work, backfill, ask, candidates, tidy."""

import sys
from collections.abc import Mapping

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.judge import candidate, named_candidates
from mcp_server.actions.memory.repository import trust
from mcp_server.actions.model import choose_embedder, model_call
from mcp_server.actions.model.setup import Choices, allows_more, overruled, setup
from mcp_server.actions.recall.ask import ask
from mcp_server.actions.upkeep import backfill as filling
from mcp_server.actions.upkeep import tidy as tidying
from mcp_server.actions.upkeep.work import work
from mcp_server.adapters import transcript_file
from mcp_server.adapters.auto_memory_folder import claude_folder
from mcp_server.bootstrap import has_key, model_key, read_config
from mcp_server.core.addresses import is_loopback
from mcp_server.core.embedding_models import BY_NAME, MULTILINGUAL
from mcp_server.core.errors import DaybookError, Rejected
from mcp_server.core.render import counted, on_one_line, visible
from mcp_server.core.settings import CAPTURES, MODEL, Settings, parse_settings
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.model_commands import use
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import candidates, upkeep
from mcp_server.doors.shown.persons_acts import SETTLING_CANDIDATES
from mcp_server.doors.shown.recall import EXCERPT, cited

OFFER = (
    "Daybook keeps what is said in sessions, masked, on this machine, and finds recurring facts in it by"
    " patterns. It can also let {} read your sessions: excerpts, with secrets masked, are then sent to {}."
)

LANGUAGE_OFFER = (
    "Most of your memories are not in English, but the model that finds them by meaning was made"
    " for English. Another one knows about 50 languages: a download of"
    f" {BY_NAME[MULTILINGUAL].megabytes} MB from the Hugging Face hub. How well it searches was not measured."
)


@click.command("setup")
@click.option(
    "--model/--no-model",
    "model",
    default=None,
    help="Whether a model (Claude Haiku, or yours) may read sessions.",
)
@click.option(
    "--daily-usd", type=click.FloatRange(0, 100), help="The most that model calls may cost in a day, in USD."
)
@click.option("--daily-calls", type=click.IntRange(0, 10_000), help="The most model calls in a day.")
@click.option("--plan/--no-plan", "plan", default=None, help="Whether to learn on your Claude plan.")
@click.option(
    "--daily-plan-calls", type=click.IntRange(0, 10_000), help="The most calls on your plan in a day."
)
@click.option(
    "--capture",
    type=click.Choice(CAPTURES),
    help="auto: make memories from sessions; suggest: only propose them; manual: neither.",
)
@click.option("--key", is_flag=True, help="Ask for an API key and save it in config.toml.")
def setup_command(
    model: bool | None,
    daily_usd: float | None,
    daily_calls: int | None,
    plan: bool | None,
    daily_plan_calls: int | None,
    capture: str | None,
    key: bool,
) -> None:
    """Choose what Daybook may do by itself, and what that may cost. Without options, you are asked.

    Example: daybook setup --model --daily-usd 0.20
    """
    opened = output.opened()
    store = opened.store()
    if key:
        person.require("saving a key for the model")
    api_key = click.prompt("API key", hide_input=True).strip() if key else None
    options = (model, daily_usd, daily_calls, plan, daily_plan_calls, capture)
    asks = all(option is None for option in options) and not key
    if asks:
        if not sys.stdin.isatty():
            raise Rejected(
                "Choose with --model or --no-model, --plan or --no-plan, --daily-usd, --capture.",
                "In a terminal 'daybook setup' asks.",
            )
        reader, place = _reader(store.settings), _place(opened.environment)
        click.echo(OFFER.format(reader, place))
        model = click.confirm(f"Let {reader} read your sessions?", default=store.settings.model_calls)
        if model:
            daily_usd = click.prompt(
                "At most how many dollars a day?",
                type=click.FloatRange(0, 100),
                default=store.settings.daily_usd,
            )
    choices = Choices(
        model, daily_usd, daily_calls, capture, api_key, plan_calls=plan, daily_plan_calls=daily_plan_calls
    )
    # Variables do not count: Claude may set them for this very command.
    if allows_more(parse_settings({}, read_config(opened.environment)), choices):
        person.require("allowing Daybook more than before")
    setup(store, choices)
    model_call.resume(output.opened().store())
    settings = output.opened().settings
    for variable in overruled(choices, settings):
        over = opened.environment.get(variable, "")
        click.echo(f"{variable} is set to '{over}' and wins over config.toml: unset it.", err=True)
    click.echo(f"capture is {settings.capture}.")
    _tell_of_calls(settings, opened.environment)
    if asks and choose_embedder.speaks_another_language(store):
        click.echo(LANGUAGE_OFFER)
        if click.confirm("Download and use it?", default=False):
            use(MULTILINGUAL)


def _reader(settings: Settings) -> str:
    return "Claude Haiku" if settings.model == MODEL else visible(settings.model)


def _place(environment: Mapping[str, str]) -> str:
    """Return where excerpts go, and who pays."""
    endpoint = model_key(environment)[1]
    if is_loopback(endpoint):
        return f"{visible(endpoint)}, on this machine"
    return f"{visible(endpoint) or 'the API'} with your key, which you pay"


def _tell_of_calls(settings: Settings, environment: Mapping[str, str]) -> None:
    if settings.on_plan:
        most = counted(settings.daily_plan_calls, "call")
        click.echo(
            f"Claude Code lets a small model read your sessions on your plan, for at most {most} a day."
        )
        return
    if not settings.model_calls:
        click.echo("The model is never called.")
        return
    most = f"${settings.daily_usd:.2f} and {counted(settings.daily_calls, 'call')} a day"
    click.echo(f"{_reader(settings)} may read your sessions, for at most {most}.")
    if not has_key(*model_key(environment)):
        click.echo("There is no API key yet: set ANTHROPIC_API_KEY, or run 'daybook setup --key'.")


@click.command("work")
@as_json
def work_command() -> None:
    """Do now what the worker does after a session.

    It keeps conversations, learns from them, and tidies. You rarely need this command.

    Example: daybook work
    """
    opened = output.opened()
    with output.waiting("Working ..."):
        report = work(lambda folder: opened.store(folder=folder))
    output.print_shown(upkeep.worked(report))


@click.command("backfill")
@click.option("--dry-run", is_flag=True, help="Only show what there is.")
@as_json
def backfill_command(dry_run: bool) -> None:
    """Take in Claude Code's earlier transcripts, so that past work is found. Calls no model.

    Example: daybook backfill --dry-run
    """
    opened = output.opened()
    store = opened.store()
    if store.settings.capture == "manual":
        raise Rejected("Nothing is captured: capture is 'manual'.", "Change that with 'daybook setup'.")
    paths = filling.pending_transcripts(store, claude_folder(opened.environment) / "projects")
    size = sum(transcript_file.size(path) for path in paths)
    if dry_run or not paths:
        output.print_shown(upkeep.to_take_in(len(paths), size))
        return
    stopped = "What was taken in until then stays; the same command does the rest."
    sync_if_free(store)  # a first time takes long, and is shown by itself
    with output.progress(size, "Reading transcripts", stopped=stopped) as advance:
        report = filling.backfill(lambda folder: opened.store(folder=folder), paths, progress=advance)
    output.print_shown(upkeep.backfilled(report))


@click.command("ask")
@click.argument("question", nargs=-1, required=True)
@as_json
def ask_command(question: tuple[str, ...]) -> None:
    """Answer a question from the memory, with the ids the answer rests on.

    Without a model ('daybook setup') you get the best passages instead of an answer.

    Example: daybook ask why do webhooks need the raw body
    """
    store = output.synced()
    words = " ".join(question)
    with output.waiting("Looking for an answer ..."):
        answer = ask(store, words)
    output.print_shown(cited(answer, words, most=EXCERPT), texts=True)


@click.command("candidates")
@click.option(
    "--approve", multiple=True, metavar="ID", help="Store this candidate as a memory; 'all' for all."
)
@click.option(
    "--reject", multiple=True, metavar="ID", help="Move this candidate to the trash; 'all' for all."
)
@as_json
def candidates_command(approve: tuple[str, ...], reject: tuple[str, ...]) -> None:
    """List the candidates, which are proposed memories; approve or reject them.

    Example: daybook candidates --approve 3f9a2c1d00e1b2c4
    """
    store = output.synced()
    waiting = candidate.review_candidates(store)
    ids = [proposal.memory.id for proposal in waiting]
    if approve or reject:
        person.require(SETTLING_CANDIDATES)
    failed: dict[str, DaybookError] = {}
    if approve:
        chosen = named_candidates.named(store, _named(approve, ids))
        stored = named_candidates.approve_each(store, chosen)
        trust(store, tuple(outcome.id for outcome in stored))  # a person said so, here, in a terminal
        output.print_shown(candidates.proposals("Stored", stored, before=chosen.before))
        failed |= chosen.failed
    if reject:
        chosen = named_candidates.named(store, _named(reject, ids))
        rejected = named_candidates.reject_each(store, chosen)
        output.print_shown(candidates.rejected(rejected, before=chosen.before))
        failed |= chosen.failed
    for sentence in candidates.not_settled(failed):
        click.echo(f"daybook: {on_one_line(sentence)}", err=True)
    if failed:
        sys.exit(next(iter(failed.values())).exit_code)
    if approve or reject:
        return
    output.print_shown(candidates.waiting(waiting))


@click.command("tidy")
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--with-model", is_flag=True, help="With --dry-run: call the model too, which costs money.")
@as_json
def tidy_command(dry_run: bool, with_model: bool) -> None:
    """Tidy the store: join equal memories, list contradictions, archive.

    Two memories that may contradict each other wait for 'daybook review'. Only memories that age, and have
    shown no sign of life, are archived. 'daybook undo' with the name of the run takes it back.

    Example: daybook tidy --dry-run
    """
    if with_model and not dry_run:
        raise Rejected("A real run calls the model anyway.", "Add --dry-run, or leave out --with-model.")
    store = output.synced()
    with output.waiting("Tidying ..."):
        run = tidying.tidy(store, dry_run=dry_run, with_model=with_model or not dry_run)
    output.print_shown(upkeep.tidied(run))


def _named(names: tuple[str, ...], waiting: list[str]) -> list[str]:
    return waiting if "all" in names else list(names)


COMMANDS = {
    "Learning": (setup_command, work_command, backfill_command, candidates_command),
    "Memories": (ask_command,),
    "The store": (tidy_command,),
}
