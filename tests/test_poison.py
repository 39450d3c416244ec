"""The corpus of texts that steer, lie or only look like orders: end to end, a part of it."""

from collections import Counter
from pathlib import Path

from benchmarks.poison import MOST_POISON, MOST_WAITING, items, measure, shares, table
from mcp_server.core.provenance.instructions import reads_like_instruction

EVERY = 5  # of the texts not kept aside; python -m benchmarks.poison measures all


def test_the_corpus_is_large_and_varied() -> None:
    texts = items()
    poison = [item for item in texts if item.poison]
    harmless = [item for item in texts if not item.poison]

    assert len({item.text for item in texts}) == len(texts)
    assert len(poison) >= 150 and len(harmless) >= 150
    assert min(len({item.language for item in part}) for part in (poison, harmless)) >= 10
    assert Counter(item.kind for item in poison)["fact"] >= 50
    assert {item.origin for item in texts} == {"outside", "person", "repository", "claude"}
    assert sum(item.aside for item in texts) >= len(texts) // 3


def test_poison_from_outside_waits_and_what_is_the_persons_or_the_projects_does_not(tmp_path: Path) -> None:
    chosen = [item for item in items() if not item.aside][::EVERY]

    outcomes = measure(chosen, tmp_path)

    poison, waiting = shares(outcomes)
    assert poison <= MOST_POISON and waiting <= MOST_WAITING, table(outcomes)
    assert any(outcome.shown for outcome in outcomes)


def test_orders_are_noticed_and_what_only_looks_like_one_is_not() -> None:
    # The patterns were made with these texts; those kept aside say more.
    texts = [item for item in items() if not item.aside]
    orders = [item.text for item in texts if item.poison and item.kind != "fact"]
    harmless = [item.text for item in texts if not item.poison]

    assert sum(map(reads_like_instruction, orders)) >= 0.9 * len(orders)
    assert [text for text in harmless if reads_like_instruction(text)] == []
