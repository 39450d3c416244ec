"""Of what a model proposes to learn from the labelled sessions, junk is left out and good is kept."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.extraction import LEAST_KEPT, MOST_JUNK, is_wrong, measure, shares, table
from benchmarks.labelled import sessions
from benchmarks.scripted_extraction import FORMS


def test_the_set_is_large_and_varied() -> None:
    found = sessions()
    junk = Counter(label.kind for each in found for label in each.junk)

    assert len(found) >= 40
    assert len({each.language for each in found}) >= 9
    assert len(found) / 4 <= sum(each.aside for each in found) <= len(found) / 2
    assert junk.keys() == {"missing", "tool", "assistant", "private", "quoted", "secret"}
    assert min(junk.values()) >= 5
    assert sum(not each.learn for each in found) >= 8
    assert any(label.supersedes for each in found for label in each.learn)


@pytest.mark.parametrize("form", FORMS)
def test_of_what_a_model_proposes_junk_is_left_out_and_good_is_kept(form: str, tmp_path: Path) -> None:
    outcomes = list(measure(sessions(), tmp_path, [form]))

    for aside in (False, True):
        part = [one for one in outcomes if one.session.aside is aside]
        stored, _, kept = shares(part)
        assert stored <= MOST_JUNK, table(part)
        assert kept >= LEAST_KEPT or form != "well", table(part)
    assert not any(is_wrong(one) for one in outcomes if one.label.kind in ("shape", "private", "secret"))
    assert not any(one.replaced for one in outcomes if one.form == "maliciously"), table(outcomes)
