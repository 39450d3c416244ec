from collections.abc import Callable
from pathlib import Path

from mcp_server.actions.recall import recall
from mcp_server.actions.remember import remember
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.query import Mode, Query, Sort
from mcp_server.store import Store


def note(store: Store, *texts: str) -> None:
    for text in texts:
        remember(store, Draft("Note", text))


def test_how_rare_a_word_is_counts_in_this_project_and_not_in_others(
    open_here: Callable[..., Opened], tmp_path: Path
) -> None:
    opened = open_here()
    here, elsewhere = (opened.store(folder=tmp_path / name) for name in ("here", "elsewhere"))
    note(here, *(f"kafka topic {number}" for number in range(9)), "redis topic 9")
    note(elsewhere, *(f"redis cache {number}" for number in range(60)))

    answer = recall(here, Query("kafka redis", mode=Mode.KEYWORD, sort=Sort.RELEVANCE))

    assert answer.hits[0].text == "redis topic 9"


def test_the_best_passage_of_a_long_memory_is_the_one_that_is_found(store: Store) -> None:
    filling = "\n\n".join(
        f"Paragraph {number} tells of something else entirely. " * 6 for number in range(12)
    )
    remember(store, Draft("Long", f"{filling}\n\nThe quagga is extinct.\n\n{filling}"))
    note(store, *(f"short {number}" for number in range(3)))

    (hit,) = recall(store, Query("quagga", mode=Mode.KEYWORD)).hits

    assert "The quagga is extinct." in hit.text
    assert len(hit.text) < 1200


def test_words_near_each_other_as_in_the_question_come_first(store: Store) -> None:
    apart = "The gateway is old. " + "It does what it did. " * 4 + "A timeout is not set."
    note(
        store,
        apart,
        apart.replace("old", "grey"),
        "The gateway has a timeout. " + "It does what it did. " * 8,
    )

    hits = recall(store, Query("gateway timeout", mode=Mode.KEYWORD, sort=Sort.RELEVANCE)).hits

    assert [hit.parts.near for hit in hits] == [1.0, 0.0, 0.0]


def test_how_near_words_are_is_counted_in_proportion_to_how_rare_they_are(store: Store) -> None:
    note(
        store,
        *(f"The cache of shop {number}." for number in range(30)),
        "Cache of shop; no quagga, no zebra.",
    )

    query = Query("shop cache quagga zebra", mode=Mode.KEYWORD, sort=Sort.RELEVANCE, limit=40)
    shares = [hit.parts.near for hit in recall(store, query).hits]

    assert shares[0] == 1.0
    assert 0.0 < shares[1] < 0.2


def test_having_more_of_the_words_beats_having_one_more_often(store: Store) -> None:
    note(
        store,
        "retry " * 12,
        "The retry of a job that a queue holds waits for a while, then tries again and again.",
    )
    note(store, *(f"Another job {number} of the queue." for number in range(4)))

    hits = recall(store, Query("retry job", mode=Mode.KEYWORD, sort=Sort.RELEVANCE)).hits

    assert hits[0].text.startswith("The retry of a job")
