"""
Currency, trust and heat of a memory: is it still timely, do we believe it, is it used.

All three are computed when read; decayed values are never stored. Ages are in days.
docs/ratings.md explains the constants.
"""

import math
import re
from typing import NamedTuple

from mcp_server.core.memory_parts import DAY
from mcp_server.core.memory_types import ROWS
from mcp_server.core.settings import Settings

CURRENCY_LIFE = {row.name: row.currency_life for row in ROWS if row.currency_life}
"""Days until the currency is 0; other types stay at 1."""
FADED = 0.3  # below this currency a memory is left out of the brief

BASE_TRUST = {"manual": 1.0, "imported": 0.85, "extracted": 0.85, "assistant": 0.7, "mined": 0.7}
TRUST_HALF_LIFE = {row.name: row.trust_half_life for row in ROWS if row.trust_half_life}
DEFAULT_TRUST_HALF_LIFE = 30.0
TRUST_EVENTS = {
    "confirmed": 0.15, "used": 0.05, "cross_validated": 0.20, "outdated": -0.10,
    "partly_incorrect": -0.15, "wrong": -0.30, "superseded": -0.05, "low_utility": -0.03,
    "contradiction_resolved": -0.20,
}  # fmt: skip
VALIDATING = ("confirmed", "used", "cross_validated")  # reasons for a memory that a caller may give, and
INVALIDATING = ("outdated", "partly_incorrect", "wrong")  # reasons against it
LOW_UTILITY_AFTER = 5  # answers with a memory that was never used

ACCESS_HEAT = 1.0  # of each access
RECENCY_HEAT = 0.5  # of an access just now
HEAT_HALF_LIFE = 7.0  # days
NEVER = 10**9  # accesses, or days, that no memory comes to

FULL_SALIENCE = 20  # accesses that count fully


def believed(date: int, written: int, now: int) -> int:
    """
    Return *date*, or, when it is more than a day in the future, the date its file was *written*.

    All in Unix seconds. A typing error such as 2099 would make a memory the newest for ever.
    """
    return date if date <= max(now, written) + DAY else written


def half_life(age: float, days: float) -> float:
    """Return 1 at age 0, 0.5 after *days*, never 0; a time in the future counts as now."""
    return float(0.5 ** (max(0.0, age) / days))


def currency(type: str, age: float) -> float:
    """Return how timely a memory is, 0 to 1; *age* is counted since it was updated or verified."""
    life = CURRENCY_LIFE.get(type)
    return 1.0 if life is None else max(0.0, 1.0 - max(0.0, age) / life)


def base_trust(stated: float | None, source: str) -> float:
    """Return the trust that a memory starts with: that in its file (*stated*), else that of its source."""
    return stated if stated is not None else BASE_TRUST.get(source, BASE_TRUST["mined"])


def trust(type: str, base: float, age: float) -> float:
    """Return how far a memory is believed, 0 to 1; *age*: since it was last verified or its use confirmed."""
    return min(1.0, max(0.0, base)) * half_life(age, TRUST_HALF_LIFE.get(type, DEFAULT_TRUST_HALF_LIFE))


class Moved(NamedTuple):
    """
    How events have moved a memory's trust: by `shift`, to no less than `least` and no more than `most`.

    After each event the trust is cut to 0 to 1, so praise of a fully trusted memory does not offset a later
    doubt. These three numbers are enough for any base and any sequence of events.
    """

    shift: float = 0.0
    least: float = 0.0
    most: float = 1.0

    def by(self, amount: float) -> "Moved":
        """Return the state after one more event that moves the trust by *amount*."""
        return Moved(self.shift + amount, _within_one(self.least + amount), _within_one(self.most + amount))

    def of(self, base: float) -> float:
        """Return the trust, 0 to 1, to which the events have moved *base*."""
        return min(self.most, max(self.least, _within_one(base) + self.shift))


def trust_label(value: float) -> str:
    """Return high, medium or low for *value* rounded to two places, as it is shown."""
    rounded = round(value, 2)
    return "high" if rounded >= 0.8 else "medium" if rounded >= 0.5 else "low"


def heat(accesses: int, age: float) -> float:
    """Return how much a memory is used; *age* is counted since the last access, infinite without one."""
    return ACCESS_HEAT * accesses + RECENCY_HEAT * half_life(age, HEAT_HALF_LIFE)


class HotRule(NamedTuple):
    """How many *accesses* put a memory into the hot set, and how many *days* without one take it out."""

    accesses: int
    days: int

    def since(self, now: int) -> int:
        """Return the moment after which a memory must have been accessed, in Unix seconds."""
        return now - self.days * DAY


def hot_rule(settings: Settings) -> HotRule:
    """Return the rule that the person set; 0 stands for never."""
    return HotRule(settings.hot_after or NEVER, settings.cold_after or NEVER)


def is_hot(rule: HotRule, *, accesses: int, age: float, pinned: bool, promoted: bool = False) -> bool:
    """
    Tell whether a memory belongs to the hot set: pinned, or accessed often and lately by *rule*.

    *accesses* are counted since it was demoted, if it was. A *promoted* one needs none, and its *age* is
    counted from the promotion.
    """
    return pinned or ((promoted or accesses >= rule.accesses) and age < rule.days)


def helpfulness(used: int, retrieved: int) -> float:
    """Return the share of retrievals that were used, smoothed by a prior of 1 in 4."""
    return (used + 1) / (retrieved + 4)


def importance(text: str) -> float:
    """Return how much information a text has, 0 to 1, by its length, code and names."""
    length = next(share for most, share in _LENGTHS if len(text) < most)
    code = min(1.0, 0.25 * sum(bool(re.search(sign, text)) for sign in _CODE))
    names = min(1.0, 0.2 * sum(bool(re.search(sign, text)) for sign in _NAMES))
    return 0.3 * length + 0.4 * code + 0.3 * names


def salience(*, importance: float, trust: float, accesses: int, age: float) -> float:
    """Return how much a memory stands out, 0 to 1, to sort a view; *age* is counted since the last access."""
    often = min(1.0, max(0, accesses) / FULL_SALIENCE)
    return 0.15 * importance + 0.15 * trust + 0.40 * often + 0.30 * half_life(age, 14.0)


_LENGTHS = ((20, 0.2), (100, 0.5), (500, 1.0), (2000, 0.8), (math.inf, 0.6))
# Compiled when first used, because the start of a session needs none of them.
_CODE = (
    r"```|`[^`\n]+`",
    r"\w\(\)|\w\.\w+\(",
    r"[{};]\s*(?:\n|$)",
    r"\b(?:def|class|import|return)\b",
)
_NAMES = (
    r"\w/[\w./-]",  # a path
    r"https?://",
    r"\bv?\d+\.\d+",  # a version
    r"\b[A-Z][a-z]+[A-Z]\w*|\b\w+_\w+",  # an identifier
    r"\b[A-Z]{3,}\b",
)


def _within_one(value: float) -> float:
    return min(1.0, max(0.0, value))
