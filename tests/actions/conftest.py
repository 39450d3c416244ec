"""A model that answers as it is told."""

from collections.abc import Iterator

import pytest

from tests.scripted_model import ScriptedModel


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as server:
        yield server
