"""Secrets of many kinds, and harmless texts that look alike, as `benchmarks/masking.py` has them."""

from benchmarks import masking
from benchmarks.attack.outcome import Part, Round, Row


def run(round_: Round) -> list[Row]:
    """Mask every text of each set; `count` is not asked, for it takes seconds."""
    rows = []
    for name, (kinds, lines) in masking.SETS.items():
        figures, wrong = masking.measured(kinds, lines)
        missed = [f"{case.kind}: {case.text}" for case in wrong if case.secrets]
        harmed = [f"{case.kind}: {case.text}" for case in wrong if not case.secrets]
        if round_.planted:
            missed, harmed = ["planted"] * figures.positives, ["planted"] * figures.negatives
        most = int((1 - masking.LEAST_RECALL) * figures.positives)
        note = f"recall {figures.recall:.3f}; {masking.LEAST_RECALL} is the least"
        rows.append(Row(f"secrets that are not masked, {name}", figures.positives, missed, note, most))
        most = int((1 - masking.LEAST_PRECISION) * figures.positives)
        note = f"precision {figures.precision:.3f}; {masking.LEAST_PRECISION} is the least"
        rows.append(Row(f"harmless texts that are masked, {name}", figures.negatives, harmed, note, most))
    return rows


PART = Part("secrets", "secrets of many kinds, and what only looks like one", count=1, quick=1, run=run)
