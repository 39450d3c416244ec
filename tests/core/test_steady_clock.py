"""When the clock is believed: dates in, verdict out."""

from datetime import UTC, datetime

import pytest

from mcp_server.core.worth.steady_clock import doubt_of, known_since


def at(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


STEADY = ["2026-11-18", "2026-11-20", "2026-11-21"]


@pytest.mark.parametrize(
    ("now", "used", "missing", "before"),
    [
        ("2026-11-22", STEADY, 0, None),
        ("2026-12-21", STEADY, 0, None),
        ("2026-12-22", STEADY, 3, "2026-11-21"),  # 31 days
        ("2040-01-01", STEADY, 3, "2026-11-21"),
        ("2040-01-01", [*STEADY, "2040-01-01"], 2, "2026-11-21"),
        ("2040-01-01", [*STEADY, "2040-01-01T01:00", "2040-01-01T23:00"], 2, "2026-11-21"),
        ("2040-01-02", [*STEADY, "2040-01-01", "2040-01-02"], 1, "2026-11-21"),
        ("2040-01-03", [*STEADY, "2040-01-01", "2040-01-02", "2040-01-03"], 0, None),
        ("2040-04-03", [*STEADY, "2040-01-01", "2040-01-02", "2040-04-03"], 2, "2040-01-02"),
        ("2026-11-22", [*STEADY, "2040-01-01", "2040-01-02", "2040-01-03"], 0, None),  # set right again
        ("1999-01-01", STEADY, 3, "2026-11-18"),
        ("1999-01-01", ["1999-01-01", *STEADY], 2, "2026-11-18"),
        ("1999-01-03", ["1999-01-01", "1999-01-02", "1999-01-03", *STEADY], 0, None),
        ("2026-11-22", ["1999-01-01", *STEADY], 0, None),
        ("2026-11-22", ["0001-01-01", "9999-12-31", *STEADY], 0, None),
        ("2026-11-19T12:00", STEADY, 2, None),  # a little in the future is nobody's fault
        ("2026-11-22", ["2026-11-22"], 2, None),  # new here
        ("2026-11-22", [], 3, None),
        ("2027-05-20", [*STEADY, "2027-05-19", "2027-05-20"], 1, "2026-11-21"),  # half a year away
        ("2027-05-21", [*STEADY, "2027-05-19", "2027-05-20", "2027-05-21"], 0, None),
        ("2026-12-01", ["2026-10-02", "2026-11-01", "2026-12-01"], 0, None),  # once in thirty days
        ("2026-12-02", ["2026-10-02", "2026-11-01", "2026-12-02"], 2, "2026-11-01"),
    ],
)
def test_the_clock_is_believed_when_it_was_used_on_three_days(
    now: str, used: list[str], missing: int, before: str | None
) -> None:
    doubt = doubt_of(at(now), map(at, used))

    assert (doubt.missing if doubt else 0) == missing
    assert (doubt.before if doubt else None) == (at(before) if before else None)


@pytest.mark.parametrize(
    ("used", "first"),
    [
        (STEADY, "2026-11-18"),
        (["1999-01-01", *STEADY], "2026-11-18"),
        (["1970-01-01", "1970-01-02", *STEADY, "2040-01-01"], "2026-11-18"),
        (["2026-11-22"], None),
        ([], None),
    ],
)
def test_what_is_dated_before_the_first_steady_days_has_no_date(used: list[str], first: str | None) -> None:
    assert known_since(map(at, used)) == (at(first) if first else None)
