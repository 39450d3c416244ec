import pytest

from mcp_server.core import dials


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
    assert dials.currency(type, age) == pytest.approx(expected)


def test_trust_halves_after_the_types_half_life() -> None:
    assert dials.trust("decision", 1.0, 180) == pytest.approx(0.5)
    assert dials.trust("preference", 1.0, 60) == pytest.approx(0.5)
    assert dials.trust("note", 1.0, 30) == pytest.approx(0.5)


def test_trust_is_held_between_nothing_and_one() -> None:
    assert dials.trust("note", 1.7, 0) == 1.0
    assert dials.trust("note", -0.2, 0) == 0.0


@pytest.mark.parametrize(
    ("value", "label"), [(0.8, "high"), (0.79, "medium"), (0.5, "medium"), (0.49, "low")]
)
def test_trust_shows_as_a_label(value: float, label: str) -> None:
    assert dials.trust_label(value) == label


def test_heat_is_accesses_and_a_fading_last_access() -> None:
    assert dials.heat(4, 0) == pytest.approx(4.5)
    assert dials.heat(4, 7) == pytest.approx(4.25)


def test_a_memory_gets_hot_at_the_third_access_and_cold_after_a_fortnight() -> None:
    assert not dials.is_hot(accesses=2, age=0, pinned=False)
    assert dials.is_hot(accesses=3, age=0, pinned=False)
    assert not dials.is_hot(accesses=30, age=14, pinned=False)
    assert dials.is_hot(accesses=0, age=999, pinned=True)


def test_helpfulness_starts_at_a_quarter() -> None:
    assert dials.helpfulness(0, 0) == 0.25
    assert dials.helpfulness(6, 6) == pytest.approx(0.7)
