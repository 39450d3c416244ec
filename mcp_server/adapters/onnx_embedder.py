"""
The embedding model, run by onnxruntime on the tokens of a text.

The default is all-MiniLM-L6-v2 in int8, shipped with the package: nothing is downloaded.
"""

import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # see index/semantic.py; the first import of numpy counts
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # onnxruntime 1.31 reports to its maker, as soon as it is imported

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

from mcp_server.adapters.model_folder import ModelFolder
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.ports import Embedded

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]  # (vectors, dimensions)


class OnnxEmbedder:
    """A model in a folder; its vectors have length one. The shipped one has 384 dimensions and 256 tokens."""

    sends = False
    problem = ""

    def __init__(self, folder: ModelFolder) -> None:
        """Load the model and test it; raise EmbedderUnavailable when that fails."""
        self.model = folder.model
        self._folder = folder
        try:
            self._tokenizer = _tokenizer(folder.folder)
            self._network = InferenceSession(
                str(folder.folder / folder.file), _options(), providers=["CPUExecutionProvider"]
            )
            self._input_names = {node.name for node in self._network.get_inputs()}
            self._around = self._tokenizer.encode("").ids  # what the tokenizer puts around every text
            tried = np.frombuffer(self._embedded("probe").vector, dtype="<f4")
        except Exception as error:  # whatever error the runtime raises, lexical search goes on
            raise EmbedderUnavailable(
                f"The embedding model in {folder.folder} cannot be loaded: {error}."
            ) from error
        if not abs(float(np.linalg.norm(tried)) - 1) < 0.01:
            raise EmbedderUnavailable(f"The model in {folder.folder} does not give one vector for a text.")
        self.dimensions = len(tried)

    def embed_queries(self, texts: Sequence[str], *, patience: float = math.inf) -> list[Embedded]:
        return [self._embedded(self._folder.query_prefix + text) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> list[Embedded]:
        # One at a time: on one thread batches are no faster, and each further passage costs 10 MB.
        return [self._embedded(self._folder.passage_prefix + text) for text in texts]

    def _embedded(self, text: str) -> Embedded:
        ids = np.array(self._tokenizer.encode(text).ids, dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        outputs = self._network.run(
            None, {name: inputs[name][None] for name in inputs.keys() & self._input_names}
        )
        states: Vectors = outputs[0][0].astype(np.float32, copy=False)
        vector = _of_length_one(_POOLED[self._folder.pooling](states))
        own = ~np.isin(ids, self._around)
        return Embedded(vector.tobytes(), _by_token(ids[own], states[own]).tobytes())


def _options() -> SessionOptions:
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # The arena keeps the largest batch's memory for ever: 500 MB instead of 145 MB.
    options.enable_cpu_mem_arena = False
    return options


def _tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of a model; it cuts a text at the model's context length and adds no padding."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    lengths = [config.get("model_max_length"), config.get("max_length")]
    # transformers writes 1e30 for an unknown length.
    limits = [length for length in lengths if type(length) is int and 0 < length <= sys.maxsize]
    if not limits:
        raise ValueError("tokenizer_config.json does not say how many tokens the model reads")
    side = config.get("truncation_side") or (tokenizer.truncation or {}).get("direction", "right")
    tokenizer.enable_truncation(min(limits), direction=side)
    tokenizer.no_padding()
    return tokenizer


# How the vectors of a text's tokens become one: (tokens, dimensions) to (1, dimensions).
_POOLED: dict[str, Callable[[Vectors], NDArray[Any]]] = {
    "mean": lambda states: states.sum(axis=0, keepdims=True, dtype=np.float64) / max(len(states), 1),
    "cls": lambda states: states[:1],
    "last": lambda states: states[-1:],
}


def _of_length_one(vectors: NDArray[Any]) -> Vectors:
    scaled: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return scaled.astype("<f4", copy=False)


def _by_token(ids: Ids, states: Vectors) -> Vectors:
    """Return one vector of length one for each different token: the mean of its vectors in the text."""
    order = np.argsort(ids, kind="stable")
    first = np.flatnonzero(np.diff(ids[order], prepend=-1))
    return _of_length_one(np.add.reduceat(_of_length_one(states[order]), first))
