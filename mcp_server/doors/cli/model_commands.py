"""Commands for the embedding model: model list, model use, model status."""

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.model import choose_embedder
from mcp_server.actions.model.embed import embed_pending
from mcp_server.bootstrap import Opened
from mcp_server.core.addresses import is_loopback
from mcp_server.core.embedding_models import NONE, endpoint_of
from mcp_server.core.errors import EmbedderUnavailable, Rejected
from mcp_server.core.render import visible
from mcp_server.core.settings import EMBEDDING
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.cli.suggesting_group import SuggestingGroup
from mcp_server.doors.shown import figures
from mcp_server.store import Store


@click.group("model", cls=SuggestingGroup)
def model_group() -> None:
    """Choose the embedding model, which finds memories by meaning.

    Example: daybook model list
    """


@model_group.command("list")
@as_json
def list_command() -> None:
    """List the models that can be chosen.

    Example: daybook model list
    """
    output.print_shown(figures.models(choose_embedder.list_models(output.opened().store())))


@model_group.command("use")
@click.argument("model", metavar="NAME|FOLDER|ADDRESS#NAME")
@click.option("--key", is_flag=True, help="Ask for the endpoint's API key.")
def use_command(model: str, key: bool) -> None:
    """Use another model: one of 'daybook model list', or a folder with an ONNX model and its tokenizer.

    ADDRESS#NAME is a model that another program runs, as in http://localhost:11434#nomic-embed-text for
    Ollama. Your memories and prompts are then sent to that address, once you agree.

    A model that is not on this machine is downloaded now, and never at another time. Then every memory is
    embedded again; you may interrupt that, and until then a memory is found by its words.

    Example: daybook model use multilingual
    """
    use(model, asks_key=key)


@model_group.command("status")
@as_json
def status_command() -> None:
    """Show which model is used, whether its endpoint answers, and how many passages it has embedded.

    Example: daybook model status
    """
    progress = choose_embedder.progress_now(output.opened().store())
    output.print_shown(figures.embedding(progress))


def use(model: str, *, asks_key: bool = False) -> None:
    """
    Choose *model*, as a person names it, embed every memory, and say so; download it before, if need be.

    With *asks_key* the person is asked for the key of its endpoint.
    """
    opened = output.opened()
    store = opened.store()
    setting = choose_embedder.setting_of(model)
    try:
        setting = _chosen(opened, store, setting, asks_key=asks_key)
    except EmbedderUnavailable as error:
        if error.hint != EmbedderUnavailable.hint:
            raise
        stays = f"Nothing was changed: '{store.settings.embedding_model}' stays."
        raise EmbedderUnavailable(str(error), stays) from None
    if over := opened.environment.get("EMBEDDING_MODEL", ""):
        click.echo(
            f"'{setting}' is set in config.toml, but EMBEDDING_MODEL is set to '{over}' and wins: unset it.",
            err=True,
        )
        return
    if setting == NONE:
        click.echo("Memories are searched by words only.")
        return
    _embed(output.opened())


def _chosen(opened: Opened, store: Store, setting: str, *, asks_key: bool) -> str:
    """Download the model of *setting* if need be, choose it, and return it as it is written."""
    if megabytes := choose_embedder.missing(store, setting):
        person.require("downloading a model")
        with output.progress(megabytes * 1_000_000, f"Downloading {setting}") as advance:
            endpoint = opened.environment.get("HF_ENDPOINT", "")
            choose_embedder.fetch(store, setting, endpoint=endpoint, progress=advance)
    key = _agreed(opened, setting, asks_key=asks_key)
    keeps = key is not None or choose_embedder.keeps_key(store, setting)
    used = key if keeps else opened.environment.get("EMBEDDING_API_KEY", "")
    try:
        return choose_embedder.choose(
            store, setting, load=lambda chosen: opened.load_embedder(chosen, key=used), key=key
        )
    except EmbedderUnavailable as error:
        if megabytes:  # what a hub, or a proxy in its place, gave as the model
            choose_embedder.discard(store, setting)
            again = "What was downloaded is deleted, so the same command downloads it again."
            raise EmbedderUnavailable(str(error), again) from None
        if choose_embedder.is_downloaded(setting):
            again = "Delete that folder, and the same command downloads the model again."
            raise EmbedderUnavailable(str(error), again) from None
        raise


SENT = """\
Every memory and every kept conversation of all your projects is sent to {address}, \
as are your prompts and searches from now on. Secrets are masked, and what is private is not sent. \
It{leaves}, and what it costs there is not counted here."""


def _agreed(opened: Opened, setting: str, *, asks_key: bool) -> str | None:
    """Return the key for the endpoint of *setting*, None for none; ask the person before anything is sent."""
    endpoint = endpoint_of(setting)
    if endpoint is None:
        if asks_key:
            raise Rejected("A key is for a model behind an endpoint.", "Leave out --key.")
        return None
    if over := opened.environment.get(EMBEDDING, ""):
        raise Rejected(f"{EMBEDDING} is set to '{over}' and wins.", "Unset it first. Nothing was changed.")
    person.require("sending your memories to an endpoint")
    is_local = is_loopback(endpoint.address)
    leaves = " leaves this machine only if that program passes it on" if is_local else " leaves this machine"
    click.echo(SENT.format(address=visible(endpoint.address), leaves=leaves))
    click.confirm("Use it?", default=False, abort=True)
    return click.prompt("Key", hide_input=True).strip() if asks_key else None


def _embed(opened: Opened) -> None:
    """Embed everything with the chosen model; after an interruption the next server embeds the rest."""
    store = opened.store()
    sync_if_free(store)
    progress = choose_embedder.progress(store)
    stopped = f"'{progress.chosen}' is chosen; the next session continues where this one ended."
    with output.progress(progress.passages - progress.embedded, "Embedding", stopped=stopped) as advance:
        embed_pending(store, progress=advance)
    if problem := store.meaning.problem:
        raise EmbedderUnavailable(problem, "The rest is embedded in the next session, or by 'daybook sync'.")
    click.echo(f"{progress.chosen} answers.")


COMMANDS = {"The store": (model_group,)}
