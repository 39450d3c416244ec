"""
The embedding model, run by fastembed.

The default is all-MiniLM-L6-v2 in int8, shipped with the package: nothing is downloaded.
"""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # see index/semantic.py; the first import of numpy counts
os.environ["HF_HUB_OFFLINE"] = "1"  # a model is downloaded by model_hub when the person asks, and never here
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # onnxruntime 1.31 reports to its maker, from its import on

import numpy as np
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.common.types import NumpyArray
from fastembed.common.utils import last_token_pooling, mean_pooling, normalize
from numpy.typing import NDArray

from mcp_server.adapters.model_folder import ModelFolder
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.ports import Embedded

Ids = NDArray[np.int64]

_naming = threading.Lock()

# How the vectors of a text's tokens, (1, tokens, dimensions), become one: (1, dimensions).
_POOLED: dict[str, Callable[[NumpyArray, Ids], NumpyArray]] = {
    "mean": mean_pooling,
    "cls": lambda states, _: states[:, 0],
    "last": last_token_pooling,
}


class FastembedEmbedder:
    """A model in a folder; its vectors have length one. The shipped one has 384 dimensions and 256 tokens."""

    def __init__(self, found: ModelFolder) -> None:
        """Load the model and try it; raise EmbedderUnavailable when that fails."""
        self.model = found.model
        self._found = found
        try:
            embedding = TextEmbedding(
                _named(found),
                specific_model_path=str(found.folder),
                cache_dir=str(found.folder),  # or it makes a folder for downloads, which there are none of
                threads=1,
                # The arena keeps the largest batch's memory for ever: 500 MB instead of 145 MB.
                enable_cpu_mem_arena=False,
            )
            self._network = cast("Any", embedding.model)  # what is around it tells nothing of tokens
            self._around = self._network.tokenize([""])[0].ids  # what the tokenizer puts around every text
            tried = np.frombuffer(self._embedded("probe").vector, dtype="<f4")
        except Exception as error:  # whatever the runtime raises, lexical search goes on
            raise EmbedderUnavailable(
                f"The embedding model in {found.folder} cannot be loaded: {error}."
            ) from error
        if not abs(float(np.linalg.norm(tried)) - 1) < 0.01:
            raise EmbedderUnavailable(f"The model in {found.folder} does not give one vector for a text.")
        self.dimensions = len(tried)

    def embed_query(self, text: str) -> Embedded:
        return self._embedded(self._found.query_prefix + text)

    def embed_passages(self, texts: Sequence[str]) -> list[Embedded]:
        # One at a time: on one thread batches are no faster, and each passage more costs 10 MB.
        return [self._embedded(self._found.passage_prefix + text) for text in texts]

    def _embedded(self, text: str) -> Embedded:
        made = self._network.onnx_embed([text])
        vector = normalize(_POOLED[self._found.pooling](made.model_output, made.attention_mask))[0]
        ids = made.input_ids[0]
        own = made.attention_mask[0].astype(bool) & ~np.isin(ids, self._around)
        tokens = _by_token(ids[own], made.model_output[0][own])
        return Embedded(vector.astype("<f4").tobytes(), tokens.astype("<f4").tobytes())


def _by_token(ids: Ids, states: NumpyArray) -> NumpyArray:
    """Return one unit vector for each different token: the mean of those that it has in the text."""
    order = np.argsort(ids, kind="stable")
    first = np.flatnonzero(np.diff(ids[order], prepend=-1))
    return normalize(np.add.reduceat(normalize(states[order]), first))


def _named(found: ModelFolder) -> str:
    """Tell fastembed of the model, if it does not know it yet, and return its name there."""
    name = f"daybook/{found.model}/{found.file}"
    with _naming:
        if name not in [each["model"] for each in TextEmbedding.list_supported_models()]:
            TextEmbedding.add_custom_model(
                name,
                sources=ModelSource(hf=name),  # never asked: the folder is given
                pooling=PoolingType.MEAN,  # nor is this: the tokens are pooled here
                normalization=True,
                dim=0,
                model_file=found.file,
            )
    return name
