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
