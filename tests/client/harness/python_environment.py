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


def path_without_python(folder: Path) -> Path:
    """Make at *folder* what is on the PATH of a machine without Python."""
    folder.mkdir()
    for tool in "bash cat cp env git grep head id ls mkdir mv readlink rm sed sh sleep tail uname".split():
        if found := shutil.which(tool):
            (folder / tool).symlink_to(found)
    return folder
