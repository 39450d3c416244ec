"""choose_embedder: list the embedding models, report the progress of the chosen one, choose another."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_server.actions.model.setup import Choices, setup
from mcp_server.adapters import model_hub
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.search import vectors
from mcp_server.adapters.model_folder import name_of
from mcp_server.core.embedding_models import (
    BY_NAME,
    CATALOGUE,
    NAMES,
    NONE,
    SHIPPED,
    chosen,
    endpoint_of,
    is_endpoint,
    is_folder,
)
from mcp_server.core.errors import EmbedderUnavailable, Rejected
from mcp_server.core.memory_parts import Kind
from mcp_server.core.ports import Embedder
from mcp_server.core.search.query import Filter
from mcp_server.core.text.words import is_foreign
from mcp_server.store import Store

PROBE = "probe"  # what an endpoint is sent to see whether it answers
PATIENCE = 10.0  # seconds that it has for that
LOOKED_AT = 200  # newest memories of all projects, whose language tells which model fits


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that can be chosen; *dimensions* and *megabytes* are 0 where they are not known."""

    name: str
    dimensions: int
    megabytes: int
    languages: str
    note: str
    chosen: bool
    here: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """
    Which model is chosen, and how many of the passages have its vector.

    *problem* is why it cannot be loaded, a sentence.
    """

    chosen: str
    passages: int
    embedded: int
    problem: str


def list_models(store: Store) -> list[ListedModel]:
    """Return the models of the catalogue, and the folder or the endpoint if the person chose one."""
    setting = store.settings.embedding_model
    listed = [
        ListedModel(
            entry.name, entry.dimensions, entry.megabytes, entry.languages, entry.note,
            chosen=setting == entry.name, here=_is_here(store.home, entry.name),
        )
        for entry in CATALOGUE
    ]  # fmt: skip
    if is_folder(setting):
        is_here = _is_here(store.home, setting)
        listed.append(ListedModel(setting, 0, 0, "", "", chosen=True, here=is_here))
    if is_endpoint(setting):
        listed.append(ListedModel(setting, 0, 0, "", "", chosen=True, here=False))
    return listed


def progress(store: Store) -> Progress:
    """Return how far the chosen model is; loads no model."""
    setting = store.settings.embedding_model
    model, problem = "", ""
    if setting != NONE:
        try:
            model = name_of(store.home, setting)
        except EmbedderUnavailable as error:
            problem = str(error)
    with store.database.read() as db:
        return Progress(setting, vectors.count_passages(db), vectors.count_vectors(db, model), problem)


def progress_now(store: Store) -> Progress:
    """Return how far the chosen model is, and whether it answers at this moment: an endpoint is asked."""
    known = progress(store)
    if known.problem or not is_endpoint(known.chosen):
        return known
    meaning = store.meaning.loaded()
    if meaning is None:
        return replace(known, problem=store.meaning.problem)
    try:
        meaning.embedder.embed_queries([PROBE], patience=PATIENCE)
    except EmbedderUnavailable as error:
        return replace(known, problem=str(error))
    return known


def setting_of(typed: str) -> str:
    """Return the setting for what the person *typed*: a name, an endpoint, or a folder's absolute path."""
    try:
        name = chosen(typed)
    except ValueError as error:
        raise Rejected(str(error), "Nothing was changed.") from None
    if name and not is_folder(name):
        return name
    folder = Path(os.path.abspath(os.path.expanduser(typed)))
    if "/" not in typed and not folder.is_dir():
        raise Rejected(
            f"There is no embedding model '{typed}'.",
            f"Use one of: {', '.join(NAMES)}, a folder with an ONNX model and its tokenizer,"
            " or ADDRESS#NAME of an endpoint.",
        )
    return str(folder)


def speaks_another_language(store: Store) -> bool:
    """Tell whether most memories of all projects are in other languages than the model that is chosen."""
    if store.settings.embedding_model != SHIPPED:
        return False
    with store.database.read() as db:
        newest, _ = selections.page(
            db,
            Filter(kinds=(Kind.KNOWLEDGE,)),
            selections.vaults_in_use(db),
            order="updated",
            limit=LOOKED_AT,
            offset=0,
        )
    return sum(is_foreign(f"{row.title}\n{row.text}") for row in newest) * 2 > len(newest)


def missing(store: Store, setting: str) -> int:
    """Return how many megabytes must be downloaded before the model of *setting* can be used, usually 0."""
    return (
        0
        if setting == NONE or setting not in BY_NAME or _is_here(store.home, setting)
        else BY_NAME[setting].megabytes
    )


def is_downloaded(setting: str) -> bool:
    """Tell whether the model of *setting* comes from a hub."""
    return setting in BY_NAME and bool(BY_NAME[setting].repository)


def discard(store: Store, setting: str) -> None:
    """Delete the model of *setting*, which was downloaded and cannot be loaded."""
    model_hub.remove(BY_NAME[setting], store.home)


def fetch(store: Store, setting: str, *, endpoint: str, progress: Callable[[int], None]) -> None:
    """Download the model of *setting*; raises EmbedderUnavailable, and then nothing is changed."""
    model_hub.download(BY_NAME[setting], store.home, endpoint=endpoint, progress=progress)


def choose(store: Store, setting: str, *, load: Callable[[str], Embedder], key: str | None = None) -> str:
    """
    Write *setting* into `config.toml` once *load* has shown that it works; return it as it is written.

    *key* is for its endpoint; None leaves the one that is there, unless that is for another address.
    Vectors are computed by `embed_pending`, here or in a server; until then words answer.
    Raises EmbedderUnavailable, and then nothing is changed.
    """
    if endpoint := endpoint_of(setting):
        dimensions = load(endpoint._replace(dimensions=0).setting).dimensions  # as they are now
        setting = endpoint._replace(dimensions=dimensions).setting
        if key is None and not keeps_key(store, setting):
            key = ""
    elif setting != NONE:
        load(setting)
    setup(store, Choices(embedding_model=setting, embedding_api_key=key))
    return setting


def keeps_key(store: Store, setting: str) -> bool:
    """Tell whether the key in `config.toml` is for the endpoint of *setting*: not for another address."""
    now, new = endpoint_of(store.settings.embedding_model), endpoint_of(setting)
    return now is not None and new is not None and now.address == new.address


def _is_here(home: Path, setting: str) -> bool:
    try:
        name_of(home, setting)
    except EmbedderUnavailable:
        return False
    return True
