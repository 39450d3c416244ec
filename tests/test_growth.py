"""No test asserts seconds: how work grows is measured, and a line is told from a square on any machine."""

import ast
from collections.abc import Callable, Iterator

import pytest

from tests import growth
from tests.live import ROOT

LEAST_PATIENCE = 60  # seconds
CLOCKS = {"perf_counter", "process_time", "thread_time"}


def line(times: int) -> int:
    return sum(at & 7 for at in range(times))


def square(times: int) -> int:
    return sum(line(times) for _ in range(times))


@pytest.mark.parametrize(("work", "evenly"), [(line, True), (square, False)])
def test_a_line_is_told_from_a_square(
    work: Callable[[int], object], evenly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "LEAST", growth.LEAST / 4)  # a square is measured in every round

    assert growth.grows_evenly(int, work, amount=64) is evenly


def test_what_is_quick_at_the_most_is_quick_enough() -> None:
    assert growth.grows_evenly(int, square, amount=1, most=16)


def hurries(program: str) -> Iterator[str]:
    """Yield where a test looks at seconds that went by, or waits for something for less than a minute."""
    for node in ast.walk(ast.parse(program)):
        match node:
            case ast.Attribute(attr=name) if name.removesuffix("_ns") in CLOCKS:
                yield ast.unparse(node)
            case ast.BinOp(left=ast.Call(func=ast.Attribute(attr="monotonic")), op=ast.Sub()):
                yield ast.unparse(node)
            case (
                ast.BinOp(left=ast.Call(func=ast.Attribute(attr="monotonic")), right=ast.Constant(value=most))
                | ast.keyword(arg="timeout", value=ast.Constant(value=most))
                | ast.Call(
                    func=ast.Attribute(attr="wait" | "join" | "communicate"), args=[ast.Constant(value=most)]
                )
            ) if isinstance(most, int | float) and 1 <= most < LEAST_PATIENCE:  # less is a pause
                yield ast.unparse(node)


def test_no_test_asserts_seconds_or_waits_for_less_than_a_minute() -> None:
    # The programs tell seconds to benchmarks; what they are told is a matter of the tests.
    own = {ROOT / "tests" / "growth.py", *(ROOT / "tests" / "durability" / "programs").iterdir()}
    paths = [path for path in (ROOT / "tests").rglob("*.py") if path not in own]

    hurries_by_path = {str(path): list(hurries(path.read_text(encoding="utf-8"))) for path in paths}
    assert {path: names for path, names in hurries_by_path.items() if names} == {}
    assert len(paths) > 100


@pytest.mark.parametrize(
    "program",
    [
        "assert time.process_time() - began < 2",
        "took = time.perf_counter_ns()",
        "assert time.monotonic() - began < 30",
        "end = time.monotonic() + 20",
        "thread.join(10)",
        "subprocess.run(command, timeout=30)",
    ],
)
def test_what_hurries_is_seen(program: str) -> None:
    assert list(hurries(program))


def test_patience_and_pauses_are_no_hurry() -> None:
    program = "end = time.monotonic() + PATIENCE; pause.wait(0.002); run(command, timeout=PATIENCE)"

    assert not list(hurries(program))
