"""Commands for the embedding model: model list, model use, model status."""

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.model import choose_embedder
from mcp_server.actions.model.embed import embed_pending
from mcp_server.bootstrap import Opened
from mcp_server.core.embedding_models import NONE
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.output import as_json
from mcp_server.doors.shown import figures
from mcp_server.embedding import load_embedder


@click.group("model")
def model_group() -> None:
    """Choose the embedding model, which finds memories by meaning.

    Example: daybook model list
    """


@model_group.command("list")
@as_json
def list_command(as_json: bool) -> None:
    """List the models that can be chosen.

    Example: daybook model list
    """
    output.print_shown(figures.models(choose_embedder.list_models(output.opened().store())), as_json=as_json)


@model_group.command("use")
@click.argument("model", metavar="NAME|FOLDER")
def use_command(model: str) -> None:
    """Use another model: one of 'daybook model list', or a folder with an ONNX model and its tokenizer.

    A model that is not on this machine is downloaded, now and never at another time. Then every memory is
    embedded again, which may be interrupted; a memory is found by words until it is its turn.

    Example: daybook model use multilingual
    """
    use(model)


@model_group.command("status")
@as_json
def status_command(as_json: bool) -> None:
    """Tell which model is chosen, and how many passages are embedded by it.

    Example: daybook model status
    """
    told = choose_embedder.progress(output.opened().store())
    output.print_shown(figures.embedding(told), as_json=as_json)


def use(model: str) -> None:
    """Download *model*, a name or a folder as a person says it, choose it, embed every memory, and say so."""
    opened = output.opened()
    store = opened.store()
    setting = choose_embedder.setting_of(model)
    if megabytes := choose_embedder.missing(store, setting):
        person.require("downloading a model")
        with output.progress(megabytes * 1_000_000, f"Downloading {setting}") as advance:
            endpoint = opened.environment.get("HF_ENDPOINT", "")
            choose_embedder.fetch(store, setting, endpoint=endpoint, progress=advance)
    choose_embedder.choose(store, setting, load=lambda chosen: load_embedder(store.home, chosen))
    if over := opened.environment.get("EMBEDDING_MODEL", ""):
        click.echo(
            f"'{setting}' stands in config.toml, but EMBEDDING_MODEL is set to '{over}' and wins: unset it.",
            err=True,
        )
        return
    if setting == NONE:
        click.echo("Memories are searched by words only.")
        return
    _embed(output.opened())


def _embed(opened: Opened) -> None:
    """Embed everything with the chosen model; after an interruption the next server embeds the rest."""
    store = opened.store()
    sync_if_free(store)
    told = choose_embedder.progress(store)
    with output.progress(told.passages - told.embedded, "Embedding") as advance:
        try:
            embed_pending(store, progress=advance)
        except KeyboardInterrupt:
            click.echo(
                f"\nStopped. '{told.chosen}' is chosen; the next session goes on where this ended.", err=True
            )
            raise click.Abort from None
    click.echo(f"{told.chosen} answers.")


COMMANDS = (model_group,)
