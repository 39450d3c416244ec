"""A Python environment as the launcher wants it, made in a moment and without a network."""

import shutil
import subprocess
import sys
from pathlib import Path

from harness.drive_claude import Claude
from harness.terminal import wait_until

SLOW_UV = """#!/bin/sh
[ "$1" = venv ] || exit 0
while [ -d "$GATE" ]; do sleep 0.1; done
for folder; do :; done
cp -RP "$PREPARED/." "$folder"
"""


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
        if program := shutil.which(tool):
            (folder / tool).symlink_to(program)
    return folder


class SlowSetUp:
    """The making of the environment, which takes until it is let go; a context manager."""

    def __init__(self, claude: Claude, plugin: Path, folder: Path) -> None:
        self.venv = folder / "new-venv"
        self._gate = folder / "gate"
        self._gate.mkdir()
        uv = folder / "uv" / "uv"
        uv.parent.mkdir()
        uv.write_text(SLOW_UV, encoding="utf-8")
        uv.chmod(0o755)
        prepared = make_environment(folder / "prepared", plugin)
        (prepared / ".daybook-ready").unlink()
        claude.env |= {"DAYBOOK_VENV": str(self.venv), "GATE": str(self._gate), "PREPARED": str(prepared)}
        claude.env["PATH"] = f"{uv.parent}:{claude.env['PATH']}"

    def __enter__(self) -> "SlowSetUp":
        return self

    def finish(self) -> None:
        self._gate.rmdir()
        wait_until((self.venv / ".daybook-ready").exists)

    def __exit__(self, *_: object) -> None:
        if self._gate.exists():
            self._gate.rmdir()
