from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.search import confidence as gate
from mcp_server.core.search.confidence import MEASURED, ORDER, POINTERS, THRESHOLDS, PromptEvidence
from mcp_server.core.search.query import Confidence

share = st.floats(0, 1)


def confidence(**evidence: Any) -> Confidence:
    return gate.weigh(**evidence).verdict


def in_prompt(evidence: list[PromptEvidence], calling: float) -> list[Confidence]:
    return [weighed.verdict for weighed in gate.in_prompt(evidence, calling)]


@pytest.mark.parametrize(
    ("cosine", "maxsim", "coverage", "words_matched", "words_asked", "expected"),
    [
        (0.7, 0.75, 0.0, 0, 4, Confidence.HIGH),
        (0.6, 0.75, 1.0, 4, 4, Confidence.HIGH),
        (0.5, 0.6, 0.5, 2, 4, Confidence.MEDIUM),
        (0.5, 0.4, 0.5, 2, 4, Confidence.NONE),
        (0.3, 0.5, 0.3, 1, 4, Confidence.NONE),
        (0.5, 0.65, 0.0, 0, 4, Confidence.MEDIUM),
        (0.56, None, 0.0, 0, 4, Confidence.MEDIUM),
        (0.4, 0.65, 1.0, 1, 1, Confidence.MEDIUM),
        (None, None, 1.0, 3, 3, Confidence.HIGH),
        (None, None, 0.7, 3, 4, Confidence.MEDIUM),
        (None, None, 0.5, 2, 4, Confidence.NONE),
        (None, None, 0.9, 1, 4, Confidence.NONE),
        (None, None, 1.0, 1, 1, Confidence.HIGH),
        (None, None, 0.0, 0, 0, Confidence.NONE),
        (0.9, 0.9, 0.0, 0, 0, Confidence.NONE),
    ],
)
def test_a_hit_is_believed_as_far_as_its_evidence_goes(
    cosine: float | None,
    maxsim: float | None,
    coverage: float,
    words_matched: int,
    words_asked: int,
    expected: Confidence,
) -> None:
    judged = confidence(
        cosine=cosine, maxsim=maxsim, coverage=coverage, words_matched=words_matched, words_asked=words_asked
    )
    assert judged is expected


@pytest.mark.parametrize(
    ("terms", "tags", "numbers_found", "expected"),
    [
        (["work", "billing"], ["billing"], ["billing"], True),
        (["tax", "rates"], ["tax-rates"], [], True),
        (["88213"], [], ["88213"], True),
        (["88213", "mean"], [], ["88213"], True),
        (["q7xk2", "e1042"], [], ["q7xk2", "e1042"], True),
        (["q7xk2", "e1042"], [], ["q7xk2"], False),
        (["invoice", "88213"], [], ["invoice", "88213"], False),  # its likeness says more
        (["v2"], [], ["v2"], False),
        (["manifest"], [], ["manifest"], False),
        (["mean"], [], ["mean"], False),
        ([], [], [], False),
    ],
)
def test_a_question_may_be_about_a_tag_or_a_number_alone(
    terms: list[str], tags: list[str], numbers_found: list[str], expected: bool
) -> None:
    assert gate.asks_only_for(terms, tags=tags, present=numbers_found) is expected


@given(share, share, share, share, share, share)
def test_more_evidence_never_lowers_the_verdict(
    cosine: float, maxsim: float, coverage: float, near: float, surprise: float, more: float
) -> None:
    parts = {"cosine": cosine, "maxsim": maxsim, "coverage": coverage, "near": near, "surprise": surprise}
    before = confidence(words_matched=3, words_asked=4, **parts)

    for name, value in parts.items():
        raised = confidence(words_matched=3, words_asked=4, **{**parts, name: max(value, more)})
        assert ORDER.index(raised) >= ORDER.index(before)


@pytest.mark.feature("3.2-abstention")
def test_rare_words_that_stand_together_are_believed_before_common_ones_apart() -> None:
    assert confidence(cosine=0.48, coverage=0.5, words_matched=2, words_asked=4) is Confidence.NONE
    assert (
        confidence(cosine=0.48, coverage=0.5, words_matched=2, words_asked=4, near=0.3, surprise=0.5)
        is Confidence.MEDIUM
    )


def test_one_word_of_many_may_be_chance_however_rare_it_is() -> None:
    assert (
        confidence(cosine=0.5, coverage=0.6, words_matched=1, words_asked=4, surprise=1.0) is Confidence.NONE
    )


@pytest.mark.parametrize("model", ["multilingual", "minilm-l12", "mpnet-base", "a-folder-1a2b3c4d"])
@pytest.mark.parametrize("cosine", [0.0, 0.3, 0.56, 0.6])
def test_a_model_that_was_not_measured_is_believed_less(model: str, cosine: float) -> None:
    assert (
        confidence(cosine=cosine, coverage=0.0, words_matched=0, words_asked=4, model=model)
        is Confidence.NONE
    )
    assert (
        confidence(cosine=0.92, coverage=0.0, words_matched=0, words_asked=4, model=model)
        is not Confidence.NONE
    )


@given(st.sampled_from([*THRESHOLDS, "a-folder-1a2b3c4d"]), share, share, st.integers(0, 5))
def test_the_words_are_believed_whatever_the_model_says(
    model: str, cosine: float, coverage: float, words_matched: int
) -> None:
    with_meaning = confidence(
        cosine=cosine, coverage=coverage, words_matched=words_matched, words_asked=5, model=model
    )
    by_words = confidence(cosine=None, coverage=coverage, words_matched=words_matched, words_asked=5)

    assert model == MEASURED or ORDER.index(with_meaning) >= ORDER.index(by_words)


def test_what_is_measured_is_what_is_shipped() -> None:
    assert (
        [name for name, limits in THRESHOLDS.items() if limits.measured] == [MEASURED] == ["minilm-l6-int8"]
    )


CLEAR = PromptEvidence(0.7, 0.6, 0.75)
LIKELY = PromptEvidence(0.35, 0.3, 0.4)
FAINT = PromptEvidence(0.1, 0.05, 0.1)
OTHERS = [LIKELY._replace(score=score) for score in (0.34, 0.33, 0.32)]


@pytest.mark.parametrize(
    ("evidence", "calling", "expected"),
    [
        ([], 1.0, []),
        ([CLEAR, LIKELY], 1.0, [Confidence.MEDIUM, Confidence.NONE]),
        ([CLEAR, LIKELY], -1.0, [Confidence.NONE, Confidence.NONE]),
        ([CLEAR._replace(sure=True), LIKELY], -1.0, [Confidence.HIGH, Confidence.NONE]),
        ([LIKELY, *OTHERS], 1.0, [Confidence.LOW] * POINTERS + [Confidence.NONE]),
        ([LIKELY, *OTHERS], -1.0, [Confidence.NONE] * 4),
        ([FAINT], 0.0, [Confidence.NONE]),
        ([PromptEvidence(0.9, None, None)], -1.0, [Confidence.NONE]),
    ],
)
def test_a_text_comes_for_what_bears_on_the_prompt_and_titles_where_anything_may(
    evidence: list[PromptEvidence], calling: float, expected: list[Confidence]
) -> None:
    assert in_prompt(evidence, calling) == expected


def test_of_two_memories_that_are_as_good_neither_is_as_sure_as_one_alone() -> None:
    near, as_near = PromptEvidence(0.5, 0.4, 0.6), PromptEvidence(0.5, 0.4, 0.6)

    assert in_prompt([near, FAINT], 0.2) == [Confidence.MEDIUM, Confidence.NONE]
    assert Confidence.MEDIUM not in in_prompt([near, as_near], 0.2)


def test_that_a_prompt_is_of_the_kind_that_calls_for_memories_makes_no_faint_one_sure() -> None:
    assert in_prompt([PromptEvidence(0.1, 0.1, 0.1)], 100.0) != [Confidence.MEDIUM]


@pytest.mark.parametrize(
    ("evidence", "calling"),
    [([CLEAR, LIKELY], 1.0), ([LIKELY, *OTHERS], -1.0), ([FAINT], 0.0), ([CLEAR], 0.2)],
)
def test_what_comes_with_no_prompt_missed_a_bar_and_what_comes_reached_one(
    evidence: list[PromptEvidence], calling: float
) -> None:
    for verdict, (text, *title) in gate.in_prompt(evidence, calling):
        assert (verdict in (Confidence.MEDIUM, Confidence.HIGH)) == (text.missing <= 0)
        assert (verdict is Confidence.LOW) == (bool(title) and all(bar.missing <= 0 for bar in title))


@given(st.none() | share, share, st.integers(0, 4), st.sampled_from([*THRESHOLDS]))
def test_a_hit_is_relied_on_as_soon_as_it_reaches_a_bar(
    cosine: float | None, coverage: float, words_matched: int, model: str
) -> None:
    weighed = gate.weigh(
        cosine=cosine, coverage=coverage, words_matched=words_matched, words_asked=4, model=model
    )

    assert (weighed.verdict is not Confidence.NONE) == any(bar.missing <= 0 for bar in weighed.bars)
