import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_server.core.search import ranking

share = st.floats(0, 1)


@pytest.mark.feature("D-22")
def test_the_fused_relevance_is_the_documented_sum() -> None:
    relevance = ranking.relevance(words=1.0, near=0.4, cosine=0.8)

    assert relevance == pytest.approx(0.25 + 0.04 + 0.48)


def test_the_relevance_with_tokens_is_the_documented_mean() -> None:
    relevance = ranking.relevance(words=1.0, near=0.4, cosine=0.8, maxsim=0.7)

    assert relevance == pytest.approx((0.25 + 0.04 + 0.5 * 0.8 + 0.5 * 0.7) / 1.35)


def test_all_evidence_there_can_be_is_a_relevance_of_one() -> None:
    assert ranking.relevance(words=1.0, near=1.0, cosine=1.0, maxsim=1.0) == pytest.approx(1.0)


def test_without_an_embedder_the_words_alone_reach_one() -> None:
    assert ranking.relevance(words=1.0, near=1.0, cosine=None) == pytest.approx(1.0)


def test_an_opposite_meaning_counts_as_no_meaning() -> None:
    assert ranking.relevance(words=0.3, near=0.0, cosine=-0.4) == ranking.relevance(
        words=0.3, near=0.0, cosine=0.0
    )


@given(share, share, share, st.none() | share, share)
def test_more_evidence_never_lowers_the_relevance(
    words: float, near: float, cosine: float, maxsim: float | None, more: float
) -> None:
    evidence = {"words": words, "near": near, "cosine": cosine}
    evidence |= {} if maxsim is None else {"maxsim": maxsim}
    before = ranking.relevance(**evidence)

    for part, share in evidence.items():
        assert ranking.relevance(**{**evidence, part: max(share, more)}) >= before


@given(share, share, share, share, share)
def test_the_composite_stays_between_nothing_and_one(
    a: float, b: float, c: float, d: float, e: float
) -> None:
    assert 0 <= ranking.composite(relevance=a, recency=b, usage=c, trust=d, helpfulness=e) <= 1 + 1e-9


@pytest.mark.feature("B-10")
@given(st.floats(0.01, 1), share, share, share, share)
def test_age_and_use_decide_only_between_equals(a: float, b: float, c: float, d: float, e: float) -> None:
    nothing_else = ranking.composite(relevance=1.08 * a, recency=0, usage=0, trust=0, helpfulness=0)

    assert ranking.composite(relevance=a, recency=b, usage=c, trust=d, helpfulness=e) < nothing_else


@given(share, share)
def test_in_a_question_about_now_what_is_newer_counts_more(older: float, newer: float) -> None:
    assume(newer - older > 0.001)

    assert 1.0 <= ranking.now_boost(older) < ranking.now_boost(newer) <= ranking.NOW_BOOST + 1e-9


@given(st.dictionaries(st.integers(), st.floats(0.001, 1000), min_size=1))
def test_the_best_of_a_ranking_is_normalised_to_one(scores: dict[int, float]) -> None:
    normal = ranking.normalised(scores)

    assert max(normal.values()) == pytest.approx(1.0)
    assert sorted(scores, key=lambda key: scores[key]) == sorted(
        scores, key=lambda key: (normal[key], scores[key])
    )


def test_the_best_of_poor_matches_counts_in_proportion_to_what_it_covers() -> None:
    assert ranking.normalised({1: 8.0, 2: 2.0}, coverage=0.3) == {1: 0.5, 2: 0.125}
    assert ranking.normalised({1: 8.0, 2: 2.0}, coverage=0.7) == {1: 1.0, 2: 0.25}


def test_the_mean_of_the_best_passages_is_a_share_of_the_meaning() -> None:
    relevance = ranking.relevance(words=0.0, near=0.0, cosine=0.8, mean=0.5)

    assert relevance == pytest.approx(0.6 * (0.7 * 0.8 + 0.3 * 0.5))


def test_a_ranking_of_nothing_is_empty() -> None:
    assert ranking.normalised({}) == {}


def test_recency_halves_in_thirty_days_and_a_future_date_counts_as_now() -> None:
    assert ranking.recency(30) == pytest.approx(0.5)
    assert ranking.recency(300) > 2 * ranking.recency(900) > 0
    assert ranking.recency(-5) == 1.0


def test_usage_is_full_at_twenty_accesses() -> None:
    assert (ranking.usage(0), ranking.usage(10), ranking.usage(20), ranking.usage(99)) == (0.0, 0.5, 1.0, 1.0)


def test_a_small_store_searches_its_common_words_too() -> None:
    assert ranking.telling_terms({"the": 900, "webhook": 1}) == ["the", "webhook"]


def test_of_what_a_large_store_has_too_often_to_be_read_the_rarest_words_are_searched() -> None:
    frequencies = {"commonest": 90_000, "rare": 3, "common": 9_000, "rarest": 1}

    assert ranking.telling_terms(frequencies) == ["rare", "common", "rarest"]
    assert ranking.telling_terms({"commonest": 90_000, "common": 80_000}) == ["commonest", "common"]


def test_words_that_no_memory_has_take_no_place_from_those_that_one_has() -> None:
    unknown = dict.fromkeys((f"unknown{number}" for number in range(30)), 0)

    assert ranking.telling_terms(unknown | {"webhook": 5}) == [*unknown, "webhook"]
    assert ranking.telling_terms({"foo": 0, "bar": 0, "deploy": 20_000}) == ["foo", "bar", "deploy"]


def test_of_a_long_question_the_rarest_words_are_searched_in_their_order() -> None:
    frequencies = {f"word{n:02}": 100 - n for n in range(40)}

    terms = ranking.telling_terms(frequencies)

    assert terms == [f"word{n:02}" for n in range(16, 40)]


def test_coverage_weighs_the_telling_words() -> None:
    weights = {"stripe": 3.0, "page": 1.0}

    assert ranking.coverage(frozenset({"stripe"}), weights) == pytest.approx(0.75)
    assert ranking.coverage(frozenset(), weights) == 0.0
    assert ranking.coverage(frozenset({"stripe"}), {}) == 0.0


def test_the_more_memories_are_searched_the_more_words_chance_brings_together() -> None:
    weights = {"stripe": 6.0, "webhook": 5.0, "body": 2.0}

    assert ranking.surprise(frozenset({"stripe"}), weights, 1000) == 0.0
    few = ranking.surprise(frozenset({"stripe", "webhook"}), weights, 1000)
    many = ranking.surprise(frozenset({"stripe", "webhook"}), weights, 10_000)
    assert (few, many) == pytest.approx(((11 - math.log(1000)) / 8, (11 - math.log(10_000)) / 8))
    assert ranking.surprise(frozenset(weights), {**weights, "body": 20.0}, 10) == 1.0
    assert ranking.surprise(frozenset(), weights, 0) == 0.0


def test_the_parts_of_a_prompt_together_read_half_of_what_one_question_may() -> None:
    assert ranking.rows_for_each(1) == 15_000
    assert 3 * ranking.rows_for_each(3) == 7_500
