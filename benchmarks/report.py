"""The report of a run, as markdown: a table for each set, what differs, and what each part is worth."""

from collections.abc import Iterable, Mapping, Sequence

from tabulate import tabulate

from benchmarks.measures import MEASURES
from benchmarks.paired import Difference, Figures, difference, interval, over_sets
from benchmarks.ways import WITHOUT
from mcp_server.core.search.query import Mode

Results = dict[str, dict[str, float]]
"""Way of searching → measure → mean."""

OURS = Mode.HYBRID.value
OTHERS = ("grep", "bm25", Mode.KEYWORD.value, Mode.SEMANTIC.value)
WHOLE = "all, each the same"


def report(
    results_by_set: Mapping[str, Results],
    figures_by_set: Mapping[str, Figures],
    *,
    before: Mapping[str, Figures],
    heading: str,
) -> str:
    """
    Return the report on *results_by_set* (set → means) and *figures_by_set* (set → way → question → nDCG@10).

    *before* has the figures of an earlier run, nothing when there is none; *heading* says what measured it.
    """
    parts = ["# How well recall finds", heading]
    for name, results in results_by_set.items():
        parts += [f"## {name}", of_set(results, figures_by_set[name])]
    sets = list(figures_by_set.values())
    parts += ["## Hybrid against the others", _EXPLAINED]
    parts.append(_across(figures_by_set, [(f"over {way}", _pairs(sets, way, OURS)) for way in OTHERS]))
    without = [way.name for way in WITHOUT if all(way.name in figures for figures in sets)]
    if without:
        parts += ["## What each part is worth", "How much worse hybrid is without it. " + _EXPLAINED]
        parts.append(_across(figures_by_set, [(way, _pairs(sets, way, OURS)) for way in without]))
    common = [name for name in figures_by_set if name in before]
    if common:
        earlier = [(before[name][OURS], figures_by_set[name][OURS]) for name in common]
        parts += ["## Since the earlier run", _EXPLAINED]
        parts.append(_across(common, [(OURS, earlier)]))
    return "\n\n".join(parts) + "\n"


def of_set(results: Results, figures: Figures) -> str:
    """Return the means of one set, and between which bounds nDCG@10 lies 95 times of 100."""
    rows = []
    for way in results:
        if not way.startswith("without"):
            low, high = interval(figures[way])
            means = [f"{results[way][measure]:.3f}" for measure in MEASURES]
            rows.append([way, *means, f"{low:.3f} to {high:.3f}"])
    return _table(rows, ["way", *MEASURES, "ndcg@10, 95 of 100 times"])


def told(change: Difference) -> str:
    """Return a difference with a star when 0 lies outside of its interval."""
    star = "*" if change.low > 0 or change.high < 0 else ""
    return f"{change.mean:+.3f}{star}"


_EXPLAINED = (
    "Differences of nDCG@10, question by question; a star means that 0 lies outside the interval of 95 %,"
    " which is given for all sets together, each counting the same."
)


def _pairs(
    sets: Iterable[Figures], before: str, after: str
) -> list[tuple[Mapping[str, float], Mapping[str, float]]]:
    return [(figures[before], figures[after]) for figures in sets]


def _across(
    names: Iterable[str],
    compared: Sequence[tuple[str, list[tuple[Mapping[str, float], Mapping[str, float]]]]],
) -> str:
    rows = []
    for name, pairs in compared:
        whole = over_sets(pairs)
        alone = [told(difference(before, after)) for before, after in pairs]
        rows.append([name, *alone, told(whole), f"{whole.low:+.4f} to {whole.high:+.4f}"])
    return _table(rows, ["nDCG@10", *names, WHOLE, "95 of 100 times"])


def _table(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    return tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)
