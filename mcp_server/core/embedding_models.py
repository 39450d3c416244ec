"""
The embedding models that the person can name, and where each is downloaded from.

Sizes and languages are as their makers state them; `benchmarks/README.md` has our measurements.
"""

from typing import NamedTuple

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
BY_NAME = {each.name: each for each in CATALOGUE}
NAMES = (*BY_NAME, NONE)


def is_folder(setting: str) -> bool:
    """Tell whether the setting is the absolute path of a folder and not a name."""
    return setting.startswith("/")


def chosen(setting: str) -> str | None:
    """Return *setting* as it is stored: a name in `NAMES`, or an absolute path unchanged; else None."""
    if is_folder(setting):
        return setting
    return setting.lower() if setting.lower() in NAMES else None
