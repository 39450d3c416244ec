"""The home of a person."""

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "ada"
    folder.mkdir(parents=True)
    return folder
