"""
The embedding models that the person can name: those of a catalogue, a folder, a model behind an endpoint.

Sizes and languages are as their makers state them; `benchmarks/results/finding.md` has our measurements.
"""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from mcp_server.core.addresses import is_http, travels_readable
from mcp_server.core.digests import text_digest

SHIPPED = "minilm-l6"
MULTILINGUAL = "multilingual"
NONE = "none"


class EmbeddingModel(NamedTuple):
    """
    A model of the catalogue.

    *model* is the name stored with each vector. *repository* on the Hugging Face hub holds *file*, the
    ONNX file; it is '' for the shipped model. *megabytes* is the size of the download.
    """

    name: str
    model: str
    dimensions: int
    megabytes: int
    languages: str
    note: str
    repository: str = ""
    file: str = "model.onnx"


CATALOGUE = (
    EmbeddingModel(
        SHIPPED,
        "minilm-l6-int8",
        384,
        23,
        "English",
        "good and fast; shipped, measured",
        file="mapped.onnx",  # refers to the weights in model.onnx, so that all processes share them
    ),
    EmbeddingModel(
        "minilm-l12",
        "minilm-l12",
        384,
        133,
        "English",
        "a little better, half as fast",
        "sentence-transformers/all-MiniLM-L12-v2",
        "onnx/model.onnx",
    ),
    EmbeddingModel(
        "mpnet-base",
        "mpnet-base",
        768,
        436,
        "English",
        "the best of these, and slow",
        "sentence-transformers/all-mpnet-base-v2",
        "onnx/model.onnx",
    ),
    EmbeddingModel(
        MULTILINGUAL,
        MULTILINGUAL,
        384,
        220,
        "about 50 languages",
        "finds across languages",
        "Qdrant/paraphrase-multilingual-MiniLM-L12-v2-onnx-Q",
        "model_optimized.onnx",
    ),
)
BY_NAME = {entry.name: entry for entry in CATALOGUE}
NAMES = (*BY_NAME, NONE)


class Endpoint(NamedTuple):
    """
    A model that another program runs: the *address* that texts are sent to, and the *name* it has there.

    As a setting it is `ADDRESS#NAME#DIMENSIONS`, as in `http://localhost:11434#nomic-embed-text#768`; the
    person names it without the *dimensions*, which are 0 until it was asked for them.
    """

    address: str
    name: str
    dimensions: int = 0

    @property
    def setting(self) -> str:
        return "#".join([self.address, self.name, *([str(self.dimensions)] if self.dimensions else [])])

    @property
    def model(self) -> str:
        """The name stored with each vector; it changes with the address, the name and the dimensions."""
        return f"{self.name}-{text_digest(self.setting, size=4)}"

    @property
    def embeddings(self) -> str:
        """The address that is called: without a path, the usual `/v1` is added."""
        path = urlsplit(self.address).path.strip("/")
        return f"{self.address.rstrip('/')}{'' if path else '/v1'}/embeddings"


LONGEST_NAME = 200  # characters of the name that a model has at an endpoint
MOST_DIMENSIONS = 16_384
_ADDRESS = re.compile(
    r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?(?:/[\w./~%-]*)?", re.ASCII | re.IGNORECASE
)


def is_endpoint(setting: str) -> bool:
    """Tell whether the setting is meant to name a model behind an endpoint."""
    return "://" in setting


def endpoint_of(setting: str) -> Endpoint | None:
    """
    Return the endpoint that *setting* names, None when it is meant to name something else.

    Raises ValueError with a sentence for an address that memories may not be sent to.
    """
    if not is_endpoint(setting):
        return None
    address, _, model_part = setting.partition("#")
    name, _, dimensions = model_part.partition("#")
    if "@" in address:
        raise ValueError("An endpoint's address must not contain a name or password; give a key with --key.")
    if not (_ADDRESS.fullmatch(address) and is_http(address)):
        raise ValueError(
            "An endpoint is named as ADDRESS#NAME, as in http://localhost:11434#nomic-embed-text."
        )
    if travels_readable(address):
        raise ValueError(
            f"Memories are sent only over https, or to this machine; {urlsplit(address).hostname} is neither."
        )
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise ValueError(f"Write '#' and the model's name after {address}.")
    if dimensions and not (
        re.fullmatch("[1-9][0-9]{0,4}", dimensions) and int(dimensions) <= MOST_DIMENSIONS
    ):
        raise ValueError(f"'{dimensions:.60}' is not a number of dimensions from 1 to {MOST_DIMENSIONS}.")
    return Endpoint(address, name, int(dimensions or 0))


def is_folder(setting: str) -> bool:
    """Tell whether the setting is the absolute path of a folder and not a name."""
    return setting.startswith("/")


def chosen(setting: str) -> str | None:
    """
    Return *setting* as it is stored: a name in `NAMES`, an absolute path or an endpoint unchanged; else None.

    Raises ValueError as `endpoint_of` does.
    """
    if is_folder(setting) or endpoint_of(setting):
        return setting
    return setting.lower() if setting.lower() in NAMES else None
