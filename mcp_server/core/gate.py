"""
The gate: how far a hit can be relied on, and whether anything is shown unasked.

It looks at absolute evidence (the cosine, and the share of the question's telling words that a
memory has), never at a score divided by the best of the same answer: the best of nothing is nothing.
The thresholds were calibrated for minilm-l6-int8 on questions asked where their answer is and where
it is not; `benchmarks/README.md` has the figures.
"""

from mcp_server.core.query import Verdict

ORDER = [Verdict.NONE, Verdict.MEDIUM, Verdict.HIGH]

HIGH_EVIDENCE = 0.80  # the cosine plus the share below of the coverage
MEDIUM_EVIDENCE = 0.60
NEAR_COSINE = 0.55  # "medium" without a word in common
COVERAGE_SHARE = 0.35  # how much full coverage adds to the cosine
HIGH_COVERAGE = 0.85  # where the words decide alone
MEDIUM_COVERAGE = 0.60
LEAST_COVERAGE_WORDS = 2  # one word found may be chance when it is not the whole question


def confidence(*, cosine: float | None, coverage: float, found: int, asked: int) -> Verdict:
    """
    Return how far a hit can be relied on.

    *coverage* is the share of the question's weight found in the memory, *found* and *asked* count the
    telling words; without a *cosine* the words decide alone.
    """
    enough = found >= min(LEAST_COVERAGE_WORDS, asked) and asked > 0
    if cosine is None:
        if not enough or coverage < MEDIUM_COVERAGE:
            return Verdict.NONE
        return Verdict.HIGH if coverage >= HIGH_COVERAGE else Verdict.MEDIUM
    evidence = cosine + COVERAGE_SHARE * (coverage if enough else 0.0)
    if evidence >= HIGH_EVIDENCE:
        return Verdict.HIGH
    passes = evidence >= MEDIUM_EVIDENCE or cosine >= NEAR_COSINE
    return Verdict.MEDIUM if passes else Verdict.NONE
