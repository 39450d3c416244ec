"""The benchmark of pairs: what it counts is the same through every door."""

import pytest

from benchmarks.pairs import DOORS, Pair, measure

SET = (
    Pair("update", "en", "The upload timeout is 30 seconds.", "The upload timeout is 60 seconds."),
    Pair("update", "de", "Die Frist sind 30 Tage.", "Rechnungen gehen am Monatsende hinaus."),
    Pair("contains", "en", "Packages come from pnpm.", "Packages come from pnpm, which is fast."),
    Pair("new", "en", "", "Penguins nest on the southern shore."),
    Pair("new", "en", "", "The upload timeout page is blue."),
    Pair("other", "en", "", "Elevators stop at night."),
)  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_what_is_hidden_lost_and_named_is_counted(door: str) -> None:
    wrong: list[str] = []

    counts_by_kind = measure(SET, model="none", door=DOORS[door], wrong=wrong)

    assert {kind: tuple(counts.values())[:4] for kind, counts in counts_by_kind.items()} == {
        "update": (1, 0, 0, 1), "update*": (1, 0, 0, 0), "new": (2, 0, 0, 1),
        "contains": (1, door != "mcp", 0, 1),  # what waits for the person hides nothing
    }  # fmt: skip
    assert [line.partition(":")[0] for line in wrong] == ["update*", "new"]


def test_one_in_so_many_of_a_kind_is_asked() -> None:
    counts_by_kind = measure(SET, model="none", every=2)

    assert {kind: counts["pairs"] for kind, counts in counts_by_kind.items()} == {
        "update": 1, "update*": 1, "contains": 1, "new": 1,
    }  # fmt: skip
