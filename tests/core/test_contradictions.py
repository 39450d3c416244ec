"""Which of many statements may contradict each other, and how the work grows with them."""

from mcp_server.core.judge.contradictions import opposed
from mcp_server.core.text.text_relation import Statement
from tests.growth import grows_evenly


def statement(text: str, type: str = "decision") -> Statement:
    return Statement("", text, type)


def test_the_sure_ones_come_first() -> None:
    statements = {
        1: statement("Uploads by customers are aborted after 30 seconds"),
        2: statement("The gateway aborts uploads after 60 seconds, customers are told by mail"),
        3: statement("The upload timeout of the proxy is 10 seconds"),
        4: statement("The upload timeout of the proxy is 20 seconds"),
    }

    pairs = opposed(statements, {(1, 2): 0.8})

    pair_ends = [(pair.first, pair.other, pair.sure) for pair in pairs]
    assert pair_ends[0] == (3, 4, True)
    assert (1, 2, False) in pair_ends


def test_the_fewer_words_are_common_the_nearer_the_meaning_must_be() -> None:
    statements = {1: statement("Uploads end after 30 seconds"), 2: statement("The uploads stop after 60 s")}

    assert opposed(statements, {(1, 2): 0.80}) == []
    (pair,) = opposed(statements, {(1, 2): 0.85})
    assert (pair.first, pair.other, pair.why) == (1, 2, "numbers")


def test_near_texts_that_name_other_things_come_last_and_are_not_sure() -> None:
    statements = {
        1: statement("In billing Alice reviews what changes in the billing code"),
        2: statement("Changes of billing are reviewed by the team of Bob and Carol"),
        3: statement("In billing Alice reviews 3 changes in the billing code"),
        4: statement("In billing Alice reviews 5 changes in the billing code"),
    }

    pairs = opposed(statements, {(1, 2): 0.9})

    assert (pairs[0].first, pairs[0].other, pairs[0].sure) == (3, 4, True)
    assert [pair.sure for pair in pairs if {pair.first, pair.other} == {1, 2}] == [False]


def test_two_with_vectors_that_are_far_apart_are_not_brought_together_by_words() -> None:
    statements = {1: statement("roster listens on port 6012"), 2: statement("roster listens on port 7014")}

    assert opposed(statements, {}, {1, 2}) == []
    assert opposed(statements, {}, {1}) != []


def test_what_says_the_same_is_not_opposed() -> None:
    statements = {1: statement("Uploads end after 30 seconds"), 2: statement("After 30 seconds uploads end")}

    assert opposed(statements, {(1, 2): 0.99}) == []


def test_comparing_statements_takes_no_longer_than_their_number() -> None:
    words = "cache queue deploy branch worker invoice report search upload proxy token cookie".split()

    def statements(times: int) -> dict[int, Statement]:
        return {
            number: statement(
                f"The {words[number % 12]} of part{number % (times // 20 + 1)} needs {words[number % 7]} "
                f"limit {number}"
            )
            for number in range(times)
        }

    assert grows_evenly(statements, lambda many: opposed(many, {}), amount=500)


def test_very_long_texts_are_compared_by_how_they_begin() -> None:
    def statements(filler: str) -> dict[int, Statement]:
        return {
            seconds: statement(f"The upload gateway {filler}has a timeout of {seconds} seconds")
            for seconds in (30, 60)
        }

    assert opposed(statements(""), {}) != []
    assert opposed(statements("of the shop in front of its proxy " * 200), {}) == []
