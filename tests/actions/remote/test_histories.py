"""Random histories of machines that share a memory end with the same memory on each, and no word lost."""

from pathlib import Path

import pytest

from tests.actions.remote.histories import History


@pytest.mark.parametrize("seed", range(12))
def test_machines_end_equal_and_no_word_is_lost(seed: int, tmp_path: Path) -> None:
    history = History(tmp_path, machines=2 + seed % 2, seed=seed)
    try:
        history.run(40)
        history.check()
    finally:
        history.close()
