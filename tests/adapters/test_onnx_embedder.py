"""The embedding model, loaded in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from mcp_server.adapters.model_folder import SHIPPED_MODELS, look_into
from mcp_server.adapters.onnx_embedder import OnnxEmbedder
from mcp_server.core.embedding_models import SHIPPED
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.core.ports import Embedder
from mcp_server.embedding import load_embedder
from tests.patience import PATIENCE
from tests.tiny_model import make_model

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    "",
    "a",
    "How do I roll back a release?",
    "Grüße, 日本語 🙂",
    "[CLS] what a model calls its own: [SEP] [MASK] [PAD] [UNK]",
    "the first words " * 80 + "the last words " * 80,
]
LOAD = """
from mcp_server.bootstrap import Opened
Opened().meaning().embedder.embed_queries(["hello"])
"""


def test_loading_the_model_leaves_nothing_in_the_home_or_temporary_folder(tmp_path: Path) -> None:
    """The runtime would leave a device's id in the one, the library a folder in the other."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "HF_"))}
    home = tmp_path / "home"
    home.mkdir()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment |= {"TMPDIR": str(temporary)}
    environment |= {"HOME": str(home), "MEMORY_DIR": str(tmp_path / "store"), "PYTHONPATH": str(ROOT)}

    subprocess.run(
        [sys.executable, "-P", "-c", LOAD], env=environment, cwd=home, check=True, timeout=PATIENCE
    )

    assert list(home.rglob("*")) == []
    assert list(temporary.rglob("*")) == []


# The vectors


def others(folder: Path, file: str, pooling: PoolingType) -> list[bytes]:
    """Return the vectors that fastembed gives the texts, of length one, float32."""
    name = f"daybook/{folder.name}/{pooling}"
    TextEmbedding.add_custom_model(
        name, pooling=pooling, normalization=True, sources=ModelSource(hf=name), dim=0, model_file=file
    )
    other = TextEmbedding(name, specific_model_path=str(folder), cache_dir=str(folder), threads=1)
    return [next(iter(other.embed([text]))).tobytes() for text in TEXTS]


def test_the_shipped_model_gives_to_the_byte_the_vectors_that_another_program_makes_with_it(
    embedder: Embedder,
) -> None:
    ours = [passage.vector for passage in embedder.embed_passages(TEXTS)]

    assert ours == others(SHIPPED_MODELS / SHIPPED, "mapped.onnx", PoolingType.MEAN)


POOLINGS = {
    "cls_token": PoolingType.CLS,
    "lasttoken": PoolingType.LAST_TOKEN,
    "mean_tokens": PoolingType.MEAN,
}


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_model_in_a_folder_gives_them_too(tmp_path: Path, pooling: str, side: str) -> None:
    folder = make_model(tmp_path / f"{pooling}-{side}")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps({f"pooling_mode_{pooling}": True}))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    limits = {"model_max_length": 20, "max_length": 12, "truncation_side": side}
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, **limits}))

    ours = [passage.vector for passage in OnnxEmbedder(look_into(folder)).embed_passages(TEXTS)]

    assert ours == others(folder, "model.onnx", POOLINGS[pooling])


@pytest.mark.parametrize("length", [None, 0, int(1e30), 1e30, True, "256"])
def test_a_model_that_does_not_tell_how_much_it_reads_is_refused(tmp_path: Path, length: object) -> None:
    folder = make_model(tmp_path / "model")
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": length}))

    with pytest.raises(EmbedderUnavailable, match="how many tokens the model reads"):
        OnnxEmbedder(look_into(folder))


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    return load_embedder(tmp_path_factory.mktemp("home"), SHIPPED)


def tokens(embedder: Embedder, text: str) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.frombuffer(embedder.embed_queries([text])[0].tokens, dtype="<f4").reshape(
        -1, embedder.dimensions
    )


def test_each_different_token_has_a_vector_of_length_one(embedder: Embedder) -> None:
    vectors = tokens(embedder, "the cat and the dog")

    assert len(vectors) == 4
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert len(tokens(embedder, "cat dog the and the")) == 4


def test_what_the_tokenizer_puts_around_a_text_is_no_token(embedder: Embedder) -> None:
    assert len(tokens(embedder, "")) == 0
    assert len(tokens(embedder, "cat")) == 1


def test_a_token_is_nearer_to_one_that_means_the_same(embedder: Embedder) -> None:
    (automobile,), (car,), (poem,) = (tokens(embedder, word) for word in ("automobile", "car", "poem"))

    assert automobile @ car > automobile @ poem + 0.2
