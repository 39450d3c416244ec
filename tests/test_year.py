"""The year under a moved clock, in short: `python -m benchmarks.year` plays all of it."""

from pathlib import Path

import pytest

from benchmarks.year import play


@pytest.mark.feature("D-19")
def test_a_season_hides_nothing_that_lasts_and_tells_what_it_put_away(tmp_path: Path) -> None:
    year = play(tmp_path, 17)

    rows = list(year.rows())
    assert [row for row in rows if not row[-1]] == []
    assert len(year.durable) > 50
    assert len(year.imported) == 30
    assert sum(map(len, year.away.values())) > 10
    assert year.told
    assert year.untold == []
    assert year.moved > 2
    assert len(year.edited) > 5
