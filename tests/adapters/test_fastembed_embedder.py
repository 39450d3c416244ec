"""The embedding model, loaded in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOAD = """
from mcp_server.bootstrap import Opened
Opened().meaning().embedder.embed_query("hello")
"""


def test_loading_the_model_leaves_nothing_in_the_persons_home(tmp_path: Path) -> None:
    """The runtime that executes the model would leave a device's id there, and report to its maker."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "HF_"))}
    home = tmp_path / "home"
    home.mkdir()
    environment |= {"HOME": str(home), "MEMORY_DIR": str(tmp_path / "store"), "PYTHONPATH": str(ROOT)}

    subprocess.run([sys.executable, "-P", "-c", LOAD], env=environment, cwd=home, check=True, timeout=60)

    assert list(home.rglob("*")) == []
