"""The weights of the shipped model are mapped, so that all servers share them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.adapters.model_folder import SHIPPED_MODELS
from mcp_server.core.embedding_models import SHIPPED
from mcp_server.core.errors import EmbedderUnavailable
from mcp_server.embedding import load_embedder
from tests.adapters.mapped_weights import without_weights

FOLDER = SHIPPED_MODELS / SHIPPED
TEXTS = ["", "a", "How do I roll back a release?", "Grüße, 日本語", "word " * 2000]
ROOT = Path(__file__).resolve().parents[2]

REPLACED = """
import sys
from pathlib import Path
from mcp_server.adapters.onnx_embedder import OnnxEmbedder
from mcp_server.adapters.model_folder import look_into
from mcp_server.core.embedding_models import BY_NAME

folder = Path(sys.argv[1])
embedder = OnnxEmbedder(look_into(folder, BY_NAME["minilm-l6"]))
said = embedder.embed_queries(["hello"])[0]
mapped = str(folder / "model.onnx") in Path("/proc/self/maps").read_text()
(folder / "model.onnx").unlink()
(folder / "model.onnx").write_bytes(b"another")
again, other = embedder.embed_queries(["hello", "other words"])
print(mapped, again == said, other != said)
"""


def test_the_mapped_model_is_what_is_made_of_the_other() -> None:
    """`UPDATE=1` writes it anew; then SHA256SUMS beside it changes as well."""
    mapped = without_weights(FOLDER / "model.onnx")
    if os.environ.get("UPDATE"):
        (FOLDER / "mapped.onnx").write_bytes(mapped)

    assert (FOLDER / "mapped.onnx").read_bytes() == mapped
    assert len(mapped) < 400_000


def test_mapped_weights_give_the_vectors_that_read_ones_give(tmp_path: Path) -> None:
    read = shutil.copytree(FOLDER, tmp_path / "own")
    (read / "mapped.onnx").unlink()

    mapped, whole = load_embedder(tmp_path, SHIPPED), load_embedder(tmp_path, str(read))

    assert mapped.embed_passages(TEXTS) == whole.embed_passages(TEXTS)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what a process has mapped is told on Linux")
def test_a_model_that_is_replaced_while_it_is_mapped_stays_as_it_was(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "model")

    process = subprocess.run(
        [sys.executable, "-c", REPLACED, str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )

    assert (process.returncode, process.stdout.split()) == (0, ["True", "True", "True"]), process.stderr


@pytest.mark.parametrize("size", [0, 30_000, 1_000_000, 22_000_000])
def test_weights_that_end_too_early_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / SHIPPED)
    os.truncate(folder / "model.onnx", size)
    monkeypatch.setattr("mcp_server.adapters.model_folder.SHIPPED_MODELS", tmp_path)

    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        load_embedder(tmp_path, SHIPPED)
