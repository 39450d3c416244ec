"""
An embedding model on this machine: a folder with an ONNX file and a tokenizer.

Files that sentence-transformers writes next to a model are used: `1_Pooling/config.json` says how tokens
become one vector, `config_sentence_transformers.json` the prefix of each text.
"""

from dataclasses import dataclass
from pathlib import Path

from mcp_server.adapters.json_file import read_linked_object
from mcp_server.core.digests import text_digest
from mcp_server.core.embedding_models import BY_NAME, SHIPPED, EmbeddingModel, endpoint_of, is_folder
from mcp_server.core.errors import EmbedderUnavailable

SHIPPED_MODELS = Path(__file__).resolve().parent.parent / "models"
MODELS = "models"  # in the store, what was downloaded
TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
_USUAL = (  # where the ONNX file of a folder usually is; the first one that exists is used
    "model.onnx",
    "onnx/model.onnx",
    "model_optimized.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
)
_POOLINGS = {"cls_token": "cls", "cls": "cls", "mean_tokens": "mean", "mean": "mean", "lasttoken": "last"}


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """
    A model that can be loaded: *model* is its name stored with each vector, *file* its ONNX file in *folder*.

    *pooling* is `mean`, `cls` or `last`; the prefixes are put before every question and every passage.
    """

    model: str
    folder: Path
    file: str
    pooling: str = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""


def folder_of(home: Path, setting: str) -> Path:
    """Return the folder of the model of a setting, whether or not it exists."""
    if is_folder(setting):
        return Path(setting)
    return SHIPPED_MODELS / SHIPPED if setting == SHIPPED else home / MODELS / setting


def find_model(home: Path, setting: str) -> ModelFolder:
    """Return the model of a setting; raises EmbedderUnavailable when it is not on this machine."""
    folder, entry = folder_of(home, setting), BY_NAME.get(setting)
    if entry and entry.repository and not folder.is_dir():
        raise EmbedderUnavailable(
            f"The embedding model '{setting}' is not on this machine.",
            f"Run 'daybook model use {setting}', which downloads it.",
        )
    return look_into(folder, entry)


def name_of(home: Path, setting: str) -> str:
    """Return the name that the model of a setting has beside its vectors; raises as `find_model` does."""
    endpoint = endpoint_of(setting)
    return endpoint.model if endpoint else find_model(home, setting).model


def look_into(folder: Path, entry: EmbeddingModel | None = None) -> ModelFolder:
    """
    Return the model in *folder*; raises EmbedderUnavailable when a file of it is missing.

    A model outside the catalogue is named after its folder and a digest that changes with its files.
    """
    file = entry.file if entry else next((name for name in _USUAL if (folder / name).is_file()), "")
    if not file:
        names = sorted(path.name for path in folder.glob("*.onnx"))
        file = names[0] if len(names) == 1 else "model.onnx"
    missing = [name for name in (file, *TOKENIZER) if not (folder / name).is_file()]
    if missing:
        raise EmbedderUnavailable(
            f"There is no embedding model in {folder}: it lacks {', '.join(missing)}.",
            "Give a folder with an ONNX model and its tokenizer.",
        )
    prompts = read_linked_object(folder / "config_sentence_transformers.json").get("prompts")
    prompts = prompts if isinstance(prompts, dict) else {}
    return ModelFolder(
        entry.model if entry else f"{folder.name}-{_digest(folder, file)}",
        folder,
        file,
        _pooling(folder),
        str(prompts.get("query") or ""),
        str(prompts.get("passage") or prompts.get("document") or ""),
    )


def _digest(folder: Path, file: str) -> str:
    """Return eight digits that change when a file of the model is replaced; reads no large file."""
    parts = [str(folder)]
    for name in (file, *TOKENIZER):
        status = (folder / name).stat()
        parts.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    return text_digest("\n".join(parts), size=4)


def _pooling(folder: Path) -> str:
    config = read_linked_object(folder / "1_Pooling" / "config.json")
    if not config:
        return "mean"
    ways = [name.removeprefix("pooling_mode_") for name, value in config.items() if value is True]
    ways = [*ways, str(config.get("pooling_mode") or "")]
    poolings = [_POOLINGS[way] for way in ways if way in _POOLINGS]
    if len(poolings) != 1:
        raise EmbedderUnavailable(
            f"The embedding model in {folder} computes its vectors in a way that Daybook does not support.",
            "Choose another with 'daybook model use'.",
        )
    return poolings[0]
