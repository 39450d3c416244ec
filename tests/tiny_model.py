"""
A tiny embedding model, made here: each token has a vector of its own, and a text their mean.

It is a real ONNX file with the shipped model's tokenizer, loads in a moment and has few dimensions.
"""

import random
import shutil
import struct
from pathlib import Path

from mcp_server.adapters.model_folder import SHIPPED_MODELS, TOKENIZER
from mcp_server.core.embedding_models import SHIPPED

TOKENS = 30522  # of the shipped tokenizer
FLOAT, INT64 = 1, 7  # TensorProto.DataType


def make_model(folder: Path, *, dimensions: int = 8, seed: int = 0) -> Path:
    """Make *folder* a model with that many dimensions; another *seed* gives other vectors."""
    folder.mkdir(parents=True)
    for name in TOKENIZER:
        shutil.copy(SHIPPED_MODELS / SHIPPED / name, folder)
    chance = random.Random(seed)
    table = [chance.gauss(0, 1) for _ in range(TOKENS * dimensions)]
    (folder / "model.onnx").write_bytes(_model(struct.pack(f"<{len(table)}f", *table), dimensions))
    return folder


def _model(table: bytes, dimensions: int) -> bytes:
    """Return a model that looks `input_ids` up in a table; the numbers are the fields of onnx.proto."""
    node = _text(1, "table") + _text(1, "input_ids") + _text(2, "last_hidden_state") + _text(4, "Gather")
    shape = _number(1, TOKENS) + _number(1, dimensions)
    tensor = shape + _number(2, FLOAT) + _text(8, "table") + _bytes(9, table)
    graph = (
        _bytes(1, node)
        + _text(2, "tiny")
        + _bytes(5, tensor)
        + _bytes(11, _value("input_ids", INT64, ["batch", "tokens"]))
        + _bytes(12, _value("last_hidden_state", FLOAT, ["batch", "tokens", dimensions]))
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13))


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    places = b"".join(_bytes(1, _text(2, d) if isinstance(d, str) else _number(1, d)) for d in shape)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, places)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])
