"""A model that answers as it is told, and a transcript to fill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recorded import Recorded
from tests.scripted_model import ScriptedModel


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as server:
        yield server


@pytest.fixture
def recorded(tmp_path: Path, project: Path) -> Recorded:
    return Recorded(tmp_path / "transcripts", cwd=project)
