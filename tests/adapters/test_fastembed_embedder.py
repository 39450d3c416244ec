"""The embedding model, loaded in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOAD = """
from mcp_server.adapters.fastembed_embedder import FastembedEmbedder
FastembedEmbedder().embed_query("hello")
"""


def test_loading_the_model_leaves_nothing_in_the_persons_home(tmp_path: Path) -> None:
    """The runtime that executes the model would leave a device's id there, and report to its maker."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "HF_"))}

    subprocess.run(
        [sys.executable, "-P", "-c", LOAD],
        env={**environment, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=60,
    )

    assert list(tmp_path.rglob("*")) == []
