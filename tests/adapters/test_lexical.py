from pathlib import Path

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.search import lexical
from mcp_server.adapters.vault import make_vault_folders
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.search import ranking
from mcp_server.core.search.query import Filter, Mode, Query, Sort
from mcp_server.store import Store


def note(store: Store, *texts: str) -> None:
    for text in texts:
        remember(store, Draft("Note", text))


@pytest.mark.feature("D-17")
@pytest.mark.parametrize("asked", ["quagga", "savanna", "zoology"])
def test_title_text_and_tags_are_each_searched_by_words(store: Store, asked: str) -> None:
    remember(store, Draft("Quagga", "It lived on the savanna.", tags=("zoology",)))
    note(store, "Something else.")

    (hit,) = recall(store, Query(asked, mode=Mode.KEYWORD)).hits

    assert hit.title == "Quagga"


def test_how_rare_a_word_is_counts_in_this_project_and_not_in_others(opened: Opened, tmp_path: Path) -> None:
    project_store, elsewhere = (opened.store(folder=tmp_path / name) for name in ("here", "elsewhere"))
    note(project_store, *(f"kafka topic {number}" for number in range(9)), "redis topic 9")
    note(elsewhere, *(f"redis cache {number}" for number in range(60)))

    answer = recall(project_store, Query("kafka redis", mode=Mode.KEYWORD, sort=Sort.RELEVANCE))

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


def test_a_verb_is_found_in_another_form_and_counts_as_much(store: Store) -> None:
    note(store, "Caroline went to the lake.", "Caroline goes to the lake.", "Caroline was at the sea.")

    hits = recall(store, Query("Where did Caroline go?", mode=Mode.KEYWORD, sort=Sort.RELEVANCE)).hits

    assert hits[0].parts.relevance == pytest.approx(hits[1].parts.relevance, rel=0.05)
    assert [hit.parts.coverage for hit in hits[:2]] == [1.0, 1.0]
    assert "was at the sea" in hits[2].text


def test_a_rare_form_of_a_common_verb_tells_no_more_than_the_verb(store: Store) -> None:
    note(store, *(f"They go to place {number}." for number in range(30)), "They are gone from the place.")
    note(store, "The quagga will go.")

    query = Query("Where did the quagga go?", mode=Mode.KEYWORD, sort=Sort.RELEVANCE, limit=40)
    best, *others = recall(store, query).hits

    assert "quagga" in best.text
    assert max(hit.parts.words for hit in others) < 2 * min(hit.parts.words for hit in others) < 0.5


def test_two_words_are_found_written_as_one(store: Store) -> None:
    note(store, "The database is backed up at night.", "The data of the shop.", "The base of the tower.")

    hit, *others = recall(store, Query("data base", mode=Mode.KEYWORD, sort=Sort.RELEVANCE)).hits

    assert hit.text.startswith("The database")
    assert (hit.parts.coverage, hit.parts.near) == (1.0, 1.0)
    assert all(other.parts.coverage < 1.0 and other.parts.near == 0.0 for other in others)


def test_of_a_very_common_word_the_newest_memories_are_read(store: Store) -> None:
    note(store, *(f"The gateway of shop {number}." for number in range(120)))
    together = 75  # questions, which share the rows that may be read
    keys = [vault.key for vault in store.vaults]

    with store.database.read() as db:
        answer = lexical.search(lexical.Occurrences(db), [["gateway"]] * together, Filter(), keys)[0]
        newest = [row for (row,) in db.execute("SELECT row FROM memories ORDER BY row DESC LIMIT 100")]

    assert set(answer.memories) == set(newest)
    assert answer.weights["gateway"] == ranking.idf(120, 120)


@pytest.mark.parametrize("table", ["memories", "passages"])
def test_all_words_of_a_transaction_are_written_at_once(store: Store, table: str) -> None:
    vault = store.vaults[-1]
    make_vault_folders(vault)
    for number in range(20):
        (vault.root / "knowledge" / f"{number}.md").write_text(f"# Note {number}\n\nquokka {number}\n")
    sync(store)

    with store.database.read() as db:
        # FTS5 makes a segment each time that it writes words, and merges some of them later.
        segments = db.execute(f"SELECT count(DISTINCT segid) FROM {table}_fts_idx").fetchone()[0]
        found = db.execute(f"SELECT count(*) FROM {table}_fts WHERE {table}_fts MATCH 'quokka'").fetchone()[0]
    assert (segments, found) == (1, 20)
