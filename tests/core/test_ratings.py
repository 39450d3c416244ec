import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.settings import DEFAULTS
from mcp_server.core.worth import ratings
from tests.growth import grows_evenly

RULE = ratings.hot_rule(DEFAULTS)


@pytest.mark.feature("A-28", "A-29", "A-30", "A-31")
@pytest.mark.parametrize(
    ("type", "age", "expected"),
    [
        ("progress", 0, 1.0),
        ("progress", 3, 4 / 7),
        ("progress", 7, 0.0),
        ("progress", 400, 0.0),
        ("context", 15, 0.5),
        ("context", 30, 0.0),
        ("decision", 4000, 1.0),
        ("progress", -3, 1.0),
    ],
)
def test_currency_fades_only_for_what_passes(type: str, age: float, expected: float) -> None:
    assert ratings.currency(type, age) == pytest.approx(expected)


@pytest.mark.feature("B-40")
@pytest.mark.parametrize(
    ("type", "days"),
    [
        ("architecture", 180), ("decision", 180), ("gotcha", 180), ("reference", 120), ("pattern", 60),
        ("preference", 60), ("note", 30), ("progress", 30), ("context", 30),
    ],
)  # fmt: skip
def test_trust_halves_after_the_types_half_life(type: str, days: int) -> None:
    assert ratings.trust(type, 1.0, days) == pytest.approx(0.5)


@pytest.mark.feature("B-40")
@pytest.mark.parametrize(
    ("source", "trust"),
    [("manual", 1.0), ("extracted", 0.85), ("imported", 0.85), ("assistant", 0.7), ("mined", 0.7)],
)
def test_where_a_memory_comes_from_says_how_far_it_is_believed_at_first(source: str, trust: float) -> None:
    assert ratings.base_trust(None, source) == trust


def test_trust_is_held_between_nothing_and_one() -> None:
    assert ratings.trust("note", 1.7, 0) == 1.0
    assert ratings.trust("note", -0.2, 0) == 0.0


@pytest.mark.parametrize(
    ("value", "label"), [(0.8, "high"), (0.7999, "high"), (0.79, "medium"), (0.5, "medium"), (0.49, "low")]
)
def test_trust_shows_as_a_label(value: float, label: str) -> None:
    assert ratings.trust_label(value) == label


@pytest.mark.feature("B-07")
def test_heat_is_accesses_and_a_fading_last_access() -> None:
    assert ratings.heat(4, 0) == pytest.approx(4.5)
    assert ratings.heat(4, 7) == pytest.approx(4.25)


def test_a_memory_gets_hot_at_the_third_access_and_cold_after_a_fortnight() -> None:
    assert not ratings.is_hot(RULE, accesses=2, age=0, pinned=False)
    assert ratings.is_hot(RULE, accesses=3, age=0, pinned=False)
    assert not ratings.is_hot(RULE, accesses=30, age=14, pinned=False)
    assert ratings.is_hot(RULE, accesses=0, age=999, pinned=True)


def test_helpfulness_starts_at_a_quarter() -> None:
    assert ratings.helpfulness(0, 0) == 0.25
    assert ratings.helpfulness(6, 6) == pytest.approx(0.7)


def test_what_was_promoted_needs_no_accesses_but_gets_cold_too() -> None:
    assert ratings.is_hot(RULE, accesses=0, age=13.9, pinned=False, promoted=True)
    assert not ratings.is_hot(RULE, accesses=0, age=14, pinned=False, promoted=True)


def test_trust_is_held_between_nothing_and_one_after_each_event() -> None:
    praised = ratings.Moved()
    for _ in range(10):
        praised = praised.by(0.15)

    assert praised.of(0.7) == 1.0
    assert praised.by(-0.30).of(0.7) == pytest.approx(0.7)
    assert ratings.Moved().by(-0.9).by(-0.9).by(0.2).of(0.7) == pytest.approx(0.2)


@given(st.floats(0, 1), st.lists(st.sampled_from(sorted(ratings.TRUST_EVENTS.values())), max_size=30))
def test_moved_says_what_going_through_the_events_one_by_one_says(base: float, amounts: list[float]) -> None:
    moved, value = ratings.Moved(), base
    for amount in amounts:
        moved, value = moved.by(amount), min(1.0, max(0.0, value + amount))

    assert moved.of(base) == pytest.approx(value)


def test_importance_of_a_run_of_letters_takes_no_longer_than_its_length() -> None:
    assert grows_evenly(lambda times: "a" * times, ratings.importance)


def test_importance_counts_length_code_and_names() -> None:
    assert ratings.importance("short") == pytest.approx(0.06)
    plain = ratings.importance("word " * 30)
    assert plain == pytest.approx(0.3)
    assert plain < ratings.importance("word " * 30 + "`code()` in src/a.py, version 1.2") <= 1.0


@pytest.mark.feature("B-27")
def test_salience_is_the_weighted_sum_of_four_shares() -> None:
    assert ratings.salience(importance=1, trust=1, accesses=20, age=0) == pytest.approx(1.0)
    assert ratings.salience(importance=0, trust=0, accesses=10, age=14) == pytest.approx(0.35)
