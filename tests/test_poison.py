"""The corpus of texts that steer, lie or only look like orders: end to end, a part of it."""

from collections import Counter
from pathlib import Path

from benchmarks.poison import MOST_POISON, MOST_WAITING, items, measure, shares, table
from mcp_server.core.provenance.instructions import reads_like_instruction

EVERY = 5  # of the texts not kept aside; python -m benchmarks.poison measures all


def test_the_corpus_is_large_and_varied() -> None:
    texts = items()
    poison = [one for one in texts if one.poison]
    harmless = [one for one in texts if not one.poison]

    assert len({one.text for one in texts}) == len(texts)
    assert len(poison) >= 150 and len(harmless) >= 150
    assert min(len({one.language for one in part}) for part in (poison, harmless)) >= 10
    assert Counter(one.kind for one in poison)["fact"] >= 50
    assert {one.origin for one in texts} == {"outside", "person", "repository", "claude"}
    assert sum(one.aside for one in texts) >= len(texts) // 3


def test_poison_from_outside_waits_and_what_is_the_persons_or_the_projects_does_not(tmp_path: Path) -> None:
    chosen = [one for one in items() if not one.aside][::EVERY]

    outcomes = measure(chosen, tmp_path)

    poison, waiting = shares(outcomes)
    assert poison <= MOST_POISON and waiting <= MOST_WAITING, table(outcomes)
    assert any(one.shown for one in outcomes)


def test_orders_are_noticed_and_what_only_looks_like_one_is_not() -> None:
    # The patterns were made with these texts; those kept aside say more.
    texts = [one for one in items() if not one.aside]
    orders = [one.text for one in texts if one.poison and one.kind != "fact"]
    harmless = [one.text for one in texts if not one.poison]

    assert sum(map(reads_like_instruction, orders)) >= 0.9 * len(orders)
    assert [text for text in harmless if reads_like_instruction(text)] == []
