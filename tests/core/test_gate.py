import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.gate import ORDER, confidence
from mcp_server.core.query import Verdict

share = st.floats(0, 1)


@pytest.mark.parametrize(
    ("cosine", "coverage", "found", "asked", "expected"),
    [
        (0.9, 0.0, 0, 4, Verdict.HIGH),
        (0.5, 1.0, 4, 4, Verdict.HIGH),
        (0.5, 0.5, 2, 4, Verdict.MEDIUM),
        (0.3, 0.3, 1, 4, Verdict.NONE),
        (0.56, 0.0, 0, 4, Verdict.MEDIUM),
        (0.4, 1.0, 1, 1, Verdict.MEDIUM),
        (None, 1.0, 3, 3, Verdict.HIGH),
        (None, 0.7, 3, 4, Verdict.MEDIUM),
        (None, 0.5, 2, 4, Verdict.NONE),
        (None, 0.9, 1, 4, Verdict.NONE),
        (None, 1.0, 1, 1, Verdict.HIGH),
        (None, 0.0, 0, 0, Verdict.NONE),
    ],
)
def test_a_hit_is_believed_as_far_as_its_evidence_goes(
    cosine: float | None, coverage: float, found: int, asked: int, expected: Verdict
) -> None:
    assert confidence(cosine=cosine, coverage=coverage, found=found, asked=asked) is expected


@given(share, share, share)
def test_more_evidence_never_lowers_the_verdict(cosine: float, coverage: float, more: float) -> None:
    def rank(cosine: float, coverage: float) -> int:
        return ORDER.index(confidence(cosine=cosine, coverage=coverage, found=3, asked=4))

    assert rank(max(cosine, more), coverage) >= rank(cosine, coverage)
    assert rank(cosine, max(coverage, more)) >= rank(cosine, coverage)
