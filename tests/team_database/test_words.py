"""The words of a question are looked up in a team's database as they are in the index of one person."""

import itertools

import numpy as np
import psycopg

from mcp_server.adapters.team import words
from mcp_server.core.search.query import Mode, Query
from tests.team_database.teams import Opened, memory


def test_a_name_of_two_words_tells_more_than_a_common_word(opened: Opened) -> None:
    for number in range(12):
        text = "A function calls a function: both do what they require."
        opened.by["anna"].save(memory(f"function-{number}", text))
    opened.by["anna"].save(memory("named", "The macro `both_require` compares the two fields of a record."))
    query = Query("what does the function `both_require` do?", mode=Mode.KEYWORD)
    best = opened.by["rita"].search(query).results[0]
    assert best.stored.memory.id == "named"


def test_two_of_several_words_are_looked_up_and_one_alone_is_not(url: str) -> None:
    names = "abcdefg"
    texts = [" ".join(some) for size in range(5) for some in itertools.combinations(names, size)]
    with psycopg.connect(url) as db:
        for number in range(len(names) + 1):
            expression = words.two_of([f"'{name}'" for name in names[:number]])
            rows = db.execute(
                "SELECT text FROM unnest(%s::text[]) AS texts (text) WHERE text::tsvector @@ %s::tsquery",
                (texts, expression),
            ).fetchall()
            expected = {text for text in texts if len({*text.split()} & {*names[:number]}) > 1}
            assert {text for (text,) in rows} == expected, number


def test_how_often_a_word_stands_follows_from_its_rank(url: str) -> None:
    times = [*range(1, 41), 255]
    vectors = [f"word:{','.join(map(str, range(1, 2 * number, 2)))} other:2" for number in times]
    with psycopg.connect(url) as db:
        rows = db.execute(
            "SELECT ts_rank(vector::tsvector, 'word') FROM unnest(%s::text[]) AS vectors (vector)", (vectors,)
        ).fetchall()
    ranks = np.array([rank for (rank,) in rows]) / words.RANK_OF_ONE
    assert words.occurrences(ranks).tolist() == times
    assert words.occurrences(np.array([0.0, 2.0])).tolist() == [0.0, 2.0]  # in no form, once in each of two
