"""A Python environment as the launcher wants it, made in a moment and without a network."""

import shutil
import subprocess
import sys
from pathlib import Path


def make_environment(folder: Path, plugin: Path) -> Path:
    """Make at *folder* a ready environment for the launcher, out of the one that runs these tests."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    packages = [path for path in sys.path if path.endswith("site-packages")]
    (site / "daybook-tests.pth").write_text("\n".join(packages) + "\n", encoding="utf-8")
    shutil.copy(plugin / "requirements.txt", folder / ".daybook-ready")
    return folder
