"""Of what a model proposes to learn from the labelled sessions, junk is left out and good is kept."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.extraction import LEAST_KEPT, MOST_JUNK, is_wrong, measure, shares, table
from benchmarks.labelled import sessions
from benchmarks.scripted_extraction import FORMS


def test_the_set_is_large_and_varied() -> None:
    sessions_read = sessions()
    junk = Counter(label.kind for session in sessions_read for label in session.junk)

    assert len(sessions_read) >= 40
    assert len({session.language for session in sessions_read}) >= 9
    assert len(sessions_read) / 4 <= sum(session.aside for session in sessions_read) <= len(sessions_read) / 2
    assert junk.keys() == {"missing", "tool", "assistant", "private", "quoted", "secret"}
    assert min(junk.values()) >= 5
    assert sum(not session.learn for session in sessions_read) >= 8
    assert any(label.supersedes for session in sessions_read for label in session.learn)


@pytest.mark.parametrize("form", FORMS)
def test_of_what_a_model_proposes_junk_is_left_out_and_good_is_kept(form: str, tmp_path: Path) -> None:
    outcomes = list(measure(sessions(), tmp_path, [form]))

    for aside in (False, True):
        part = [outcome for outcome in outcomes if outcome.session.aside is aside]
        stored, _, good_kept = shares(part)
        assert stored <= MOST_JUNK, table(part)
        assert good_kept >= LEAST_KEPT or form != "well", table(part)
    assert not any(
        is_wrong(outcome) for outcome in outcomes if outcome.label.kind in ("shape", "private", "secret")
    )
    assert not any(outcome.replaced for outcome in outcomes if outcome.form == "maliciously"), table(outcomes)
