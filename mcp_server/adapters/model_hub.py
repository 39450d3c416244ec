"""
The hub from which an embedding model is downloaded, once, at the person's request.

Nothing else is sent: no token, no telemetry. Nothing is written outside the target folder.
"""

import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.adapters.model_folder import MODELS, TOKENIZER
from mcp_server.core.embedding_models import EmbeddingModel
from mcp_server.core.errors import EmbedderUnavailable

HUB = "https://huggingface.co"
ALSO = ("1_Pooling/config.json", "config_sentence_transformers.json")


def download(
    model: EmbeddingModel, home: Path, *, endpoint: str = "", progress: Callable[[int], None] | None = None
) -> Path:
    """
    Download *model* into the store at *home* and return its folder; *progress* is called with new bytes.

    After an interruption the bytes so far are kept apart, and the next download continues from them.
    Raises EmbedderUnavailable when the hub cannot be reached or refuses; then the folder does not exist.
    """
    folder = home / MODELS / model.name
    partial = folder.with_name(f".{model.name}.part")
    files.make_folder(partial)
    os.environ["HF_HUB_DISABLE_XET"] = "1"  # Xet would write elsewhere, and contact another host
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    try:
        from huggingface_hub import constants, snapshot_download
    except ImportError as error:
        raise EmbedderUnavailable(f"The library that downloads models cannot be loaded: {error}.") from error
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # each of its tries is a line on the screen
    constants.HF_HUB_DISABLE_XET = True  # in case the library was already imported
    try:
        snapshot_download(
            model.repository,
            local_dir=partial,
            cache_dir=partial / ".cache",
            allow_patterns=[model.file, *TOKENIZER, *ALSO],
            token=False,
            endpoint=endpoint or HUB,
            max_workers=2,
            tqdm_class=_progress_bar(progress or (lambda _: None)),
        )
    except Exception as error:  # the library's errors have no common root
        raise EmbedderUnavailable(
            f"The embedding model '{model.name}' could not be downloaded from {endpoint or HUB}:"
            f" {_first_line(error)}.",
            "Nothing was changed. Try again when the network works, or name a folder that has the model.",
        ) from error
    for name in (model.file, *TOKENIZER):
        if not (partial / name).is_file():
            raise EmbedderUnavailable(f"The hub has no {name} for '{model.name}'; nothing was changed.")
    shutil.rmtree(partial / ".cache", ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)  # the rest of a model that lost a file
    partial.replace(folder)
    files.sync_folder(folder.parent)
    return folder


def remove(model: EmbeddingModel, home: Path) -> None:
    """Delete what was downloaded of *model*, so that the next download begins anew."""
    folder = home / MODELS / model.name
    for place in (folder, folder.with_name(f".{model.name}.part")):
        shutil.rmtree(place, ignore_errors=True)


def _progress_bar(progress: Callable[[int], None]) -> type:
    """Return a progress bar for the library that shows nothing and passes the bytes to *progress*."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    class ProgressBar(tqdm):  # type: ignore[misc]
        def __init__(self, *arguments: object, **settings: object) -> None:
            # Two of its bars count bytes: those from the network, and those written.
            self._bytes = settings.get("unit") == "B" and settings.get("desc") != "Downloading bytes"
            settings.pop("name", None)
            super().__init__(*arguments, **{**settings, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            if self._bytes and n:
                progress(int(n))
            return None

    return ProgressBar


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or ["it gave no reason"]
    return lines[0][:300].removeprefix("Got: ").rstrip(".:")
