"""
Currency, trust and heat: is it still timely, do we believe it, is it used.

All three are computed when read and never stored decayed; ages are in days.
The constants are those of DESIGN sections 3 and 4.
"""

CURRENCY_LIFE = {"progress": 7.0, "context": 30.0}  # days until the currency is 0; other types stay at 1
FADED = 0.3  # below this currency a memory is left out of the brief

BASE_TRUST = {"manual": 1.0, "imported": 0.85, "extracted": 0.85, "assistant": 0.7, "mined": 0.7}
TRUST_HALF_LIFE = {
    "architecture": 180.0, "decision": 180.0, "gotcha": 180.0,
    "reference": 120.0, "pattern": 60.0, "preference": 60.0,
}  # fmt: skip
DEFAULT_TRUST_HALF_LIFE = 30.0
TRUST_EVENTS = {
    "confirmed": 0.15, "used": 0.05, "cross_validated": 0.20, "outdated": -0.10,
    "partly_incorrect": -0.15, "wrong": -0.30, "superseded": -0.05, "low_utility": -0.03,
    "contradiction_resolved": -0.20,
}  # fmt: skip

HOT_AFTER = 3  # accesses
COLD_AFTER = 14.0  # days without an access
HOT_SET_SIZE = 20


def half_life(age: float, days: float) -> float:
    """Return 1 at age 0, 0.5 after *days*, never 0; a time in the future counts as now."""
    return float(0.5 ** (max(0.0, age) / days))


def currency(type: str, age: float) -> float:
    """Return how timely a memory is, 0 to 1; *age* since it was updated or verified."""
    life = CURRENCY_LIFE.get(type)
    return 1.0 if life is None else max(0.0, 1.0 - max(0.0, age) / life)


def trust(type: str, base: float, age: float) -> float:
    """Return how far a memory is believed, 0 to 1; *age* since it was last verified or its use confirmed."""
    return min(1.0, max(0.0, base)) * half_life(age, TRUST_HALF_LIFE.get(type, DEFAULT_TRUST_HALF_LIFE))


def trust_label(value: float) -> str:
    """Return high, medium or low."""
    return "high" if value >= 0.8 else "medium" if value >= 0.5 else "low"


def heat(accesses: int, age: float) -> float:
    """Return how much a memory is used; *age* since the last access, infinite when there was none."""
    return 1.0 * accesses + 0.5 * half_life(age, 7.0)


def is_hot(*, accesses: int, age: float, pinned: bool) -> bool:
    """Tell whether a memory belongs to the hot set: pinned, or accessed three times and lately."""
    return pinned or (accesses >= HOT_AFTER and age < COLD_AFTER)


def helpfulness(used: int, retrieved: int) -> float:
    """Return the share of retrievals that were of use, smoothed by a prior of 1 in 4."""
    return (used + 1) / (retrieved + 4)
