import pytest

from mcp_server.core.worth.prediction import Step, faded, next_after, predictions


def step(first: str, second: str, count: int, *, out: int, age: float = 0) -> Step:
    return Step(first, second, count, age, out, age)


@pytest.mark.feature("B-42")
@pytest.mark.parametrize(
    ("count", "age", "expected"),
    [(8, 0, 8), (8, 29.9, 8), (8, 30, 4), (9, 60, 2), (1, 30, 0), (5, 40_000, 0)],
)
def test_a_count_is_halved_for_each_thirty_idle_days(count: int, age: float, expected: int) -> None:
    assert faded(count, age) == expected


@pytest.mark.feature("B-42")
def test_a_step_seen_twice_in_three_tenths_of_the_cases_is_likely() -> None:
    likely = predictions([step("a", "b", 2, out=6), step("a", "c", 2, out=7), step("x", "y", 1, out=1)])

    assert [
        (prediction.after, prediction.ref, round(prediction.probability, 2)) for prediction in likely
    ] == [("a", "b", 0.33)]


def test_a_step_that_others_have_outrun_is_not_likely_any_more() -> None:
    assert predictions([Step("a", "b", 8, 65, 8, 0)]) == []  # 8 / 2 / 2 of 8
    assert predictions([Step("a", "b", 8, 65, 8, 65)])[0].probability == 1.0


@pytest.mark.feature("B-42")
def test_three_are_predicted_each_once_and_none_that_was_given() -> None:
    steps = [
        step("a", "b", 9, out=10), step("c", "d", 8, out=10), step("a", "d", 5, out=10),
        step("a", "e", 4, out=10), step("a", "f", 3, out=10), step("c", "a", 9, out=10),
    ]  # fmt: skip

    assert [(prediction.ref, prediction.after) for prediction in next_after(["a", "c"], steps)] == [
        ("b", "a"), ("d", "c"), ("e", "a")
    ]  # fmt: skip
