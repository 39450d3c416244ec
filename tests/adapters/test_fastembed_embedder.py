"""The embedding model, loaded in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mcp_server.core.embedding_models import SHIPPED
from mcp_server.core.ports import Embedder
from mcp_server.meanings import load_embedder

ROOT = Path(__file__).resolve().parents[2]
LOAD = """
from mcp_server.bootstrap import Opened
Opened().meaning().embedder.embed_query("hello")
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

    subprocess.run([sys.executable, "-P", "-c", LOAD], env=environment, cwd=home, check=True, timeout=60)

    assert list(home.rglob("*")) == []
    assert list(temporary.rglob("*")) == []


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    return load_embedder(tmp_path_factory.mktemp("home"), SHIPPED)


def tokens(embedder: Embedder, text: str) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.frombuffer(embedder.embed_query(text).tokens, dtype="<f4").reshape(-1, embedder.dimensions)


def test_each_different_token_has_a_vector_of_length_one(embedder: Embedder) -> None:
    found = tokens(embedder, "the cat and the dog")

    assert len(found) == 4
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert len(tokens(embedder, "cat dog the and the")) == 4


def test_what_the_tokenizer_puts_around_a_text_is_no_token(embedder: Embedder) -> None:
    assert len(tokens(embedder, "")) == 0
    assert len(tokens(embedder, "cat")) == 1


def test_a_token_is_nearer_to_one_that_means_the_same(embedder: Embedder) -> None:
    (automobile,), (car,), (poem,) = (tokens(embedder, word) for word in ("automobile", "car", "poem"))

    assert automobile @ car > automobile @ poem + 0.2
