"""
The embedding model, run by fastembed.

The default is all-MiniLM-L6-v2 in int8, shipped with the package: nothing is downloaded.
"""

import os
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # see index/semantic.py; the first import of numpy counts
os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the library must never look for a newer model by itself
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # onnxruntime 1.31 reports to its maker, from its import on
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"

import numpy as np
from fastembed import TextEmbedding

from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.ports import Vector

MODELS = Path(__file__).resolve().parent.parent / "models"
SHIPPED = "minilm-l6"
BATCH = 1  # passages at a time: on one thread larger batches are no faster, and each costs 10 MB


class FastembedEmbedder:
    """all-MiniLM-L6-v2: 384 dimensions, mean pooling, unit length, 256 tokens."""

    model = f"{SHIPPED}-int8"
    dimensions = 384

    def __init__(self, folder: Path = MODELS / SHIPPED) -> None:
        """Load the model from *folder*; raise EmbedderUnavailable when that fails."""
        if not (folder / "model.onnx").is_file():
            raise EmbedderUnavailable(f"There is no embedding model in {folder}.")
        try:
            self._embedding = TextEmbedding(
                "sentence-transformers/all-MiniLM-L6-v2",
                specific_model_path=str(folder),
                threads=1,
                # The arena keeps the largest batch's memory for ever: 500 MB instead of 145 MB.
                enable_cpu_mem_arena=False,
            )
        except Exception as error:  # whatever the runtime raises, lexical search goes on
            raise EmbedderUnavailable(
                f"The embedding model in {folder} cannot be loaded: {error}."
            ) from error

    def embed_query(self, text: str) -> Vector:
        return self.embed_passages([text])[0]

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        found = self._embedding.embed(list(texts), batch_size=BATCH)
        return [np.asarray(vector, dtype="<f4").tobytes() for vector in found]
