"""
The embedding model, run by fastembed.

The default is all-MiniLM-L6-v2 in int8, shipped with the package: nothing is downloaded.
"""

import os
import threading
from collections.abc import Sequence

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # see index/semantic.py; the first import of numpy counts
os.environ["HF_HUB_OFFLINE"] = "1"  # a model is downloaded by model_hub when the person asks, and never here
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # onnxruntime 1.31 reports to its maker, from its import on

import numpy as np
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from mcp_server.adapters.model_folder import ModelFolder
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.ports import Vector

BATCH = 1  # passages at a time: on one thread larger batches are no faster, and each costs 10 MB
_POOLING = {"mean": PoolingType.MEAN, "cls": PoolingType.CLS, "last": PoolingType.LAST_TOKEN}
_naming = threading.Lock()


class FastembedEmbedder:
    """A model in a folder; its vectors have length one. The shipped one has 384 dimensions and 256 tokens."""

    def __init__(self, found: ModelFolder) -> None:
        """Load the model and try it; raise EmbedderUnavailable when that fails."""
        self.model = found.model
        self._found = found
        try:
            self._embedding = TextEmbedding(
                _named(found),
                specific_model_path=str(found.folder),
                cache_dir=str(found.folder),  # or it makes a folder for downloads, which there are none of
                threads=1,
                # The arena keeps the largest batch's memory for ever: 500 MB instead of 145 MB.
                enable_cpu_mem_arena=False,
            )
            tried = next(iter(self._embedding.embed(["probe"])))
        except Exception as error:  # whatever the runtime raises, lexical search goes on
            raise EmbedderUnavailable(
                f"The embedding model in {found.folder} cannot be loaded: {error}."
            ) from error
        if tried.ndim != 1 or not abs(float(np.linalg.norm(tried)) - 1) < 0.01:
            raise EmbedderUnavailable(f"The model in {found.folder} does not give one vector for a text.")
        self.dimensions = len(tried)

    def embed_query(self, text: str) -> Vector:
        return self._embed([self._found.query_prefix + text])[0]

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed([self._found.passage_prefix + text for text in texts])

    def _embed(self, texts: list[str]) -> list[Vector]:
        found = self._embedding.embed(texts, batch_size=BATCH)
        return [np.asarray(vector, dtype="<f4").tobytes() for vector in found]


def _named(found: ModelFolder) -> str:
    """Tell fastembed of the model, if it does not know it yet, and return its name there."""
    name = f"daybook/{found.model}/{found.pooling}/{found.file}"
    with _naming:
        if name not in [each["model"] for each in TextEmbedding.list_supported_models()]:
            TextEmbedding.add_custom_model(
                name,
                pooling=_POOLING[found.pooling],
                normalization=True,
                sources=ModelSource(hf=name),  # never asked: the folder is given
                dim=0,
                model_file=found.file,
            )
    return name
