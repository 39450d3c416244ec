"""
Words for a time in a question: "last week", "in March 2024", "three days ago", "since 2026-11-03".

Only words that name a time by themselves are understood; "before the migration" is searched as words.
"""

import functools
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple of": 2}
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)
_PATTERNS = (
    ("day", r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"),
    ("day", rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<name>{_MONTH})\.?,? (?P<year>\d{{4}})"),
    ("day", rf"(?P<name>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})"),
    ("month", r"(?P<year>\d{4})-(?P<month>\d\d)"),
    ("month", rf"(?P<name>{_MONTH})\.?,? (?:of )?(?P<year>\d{{4}})"),
    ("month", rf"(?:in|since|until|before|after|during|last|this) (?P<name>{_MONTH})"),
    ("year", r"(?:in|since|until|before|after|during) (?P<year>(?:19|20)\d\d)"),
    ("ago", rf"(?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)}) (?P<unit>{'|'.join(_UNITS)})s? ago"),
    ("past", rf"(?:last|past) (?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)}) (?P<unit>{'|'.join(_UNITS)})s"),
    ("weekday", rf"(?:last|on|since) (?P<weekday>{'|'.join(_DAYS)})"),
    ("named", r"(?P<which>today|yesterday|(?:this|last|past) (?:week|month|year))"),
)
# What each of them has, one way or another: most questions name no time, and to compile the patterns is slow.
_MAY_NAME = re.compile(
    r"\d|ago|last|past|day|this|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE
)
_EDGE = re.compile(r"\b(since|after|until|before)\s+(?:the\s+)?$", re.IGNORECASE)
_LATEST = timedelta(days=36500)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time from *start* up to but not including *end*; both are aware."""

    start: datetime
    end: datetime

    def meets(self, first: datetime, last: datetime) -> bool:
        """Tell whether anything from *first* to *last* is in the span."""
        return first < self.end and last >= self.start


def span_of(question: str, now: datetime) -> TimeSpan | None:
    """
    Return the time that *question* names, None for none; the first that is found counts.

    Weeks begin on Monday; "two weeks ago" is the week around that day, "last March" the latest that began.
    """
    for kind, pattern in _patterns() if _MAY_NAME.search(question) else ():
        for match in pattern.finditer(question):
            parts = {key: value.lower() for key, value in match.groupdict().items() if value}
            try:
                span = _span(kind, parts, now)
            except (ValueError, OverflowError):
                continue  # 2026-02-31
            edge = _EDGE.search(question[: match.start()]) or re.match(r"\w+", match[0])
            match edge[0].split()[0].lower() if edge else "":
                case "since":
                    return TimeSpan(span.start, max(span.end, now + _LATEST))
                case "after":
                    return TimeSpan(span.end, max(span.end, now + _LATEST))
                case "until":
                    return TimeSpan(datetime.min.replace(tzinfo=now.tzinfo), span.end)
                case "before":
                    return TimeSpan(datetime.min.replace(tzinfo=now.tzinfo), span.start)
                case _:
                    return span
    return None


@functools.cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(kind, re.compile(rf"\b(?:{pattern})(?![\w-])", re.IGNORECASE)) for kind, pattern in _PATTERNS]


def _span(kind: str, parts: dict[str, str], now: datetime) -> TimeSpan:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if "name" in parts:
        parts["month"] = str(1 + next(i for i, name in enumerate(_MONTHS) if name[:3] == parts["name"][:3]))
    match kind:
        case "day":
            return _days(today.replace(int(parts["year"]), int(parts["month"]), int(parts["day"])), 1)
        case "month":
            month = int(parts["month"])
            year = int(parts.get("year") or (now.year if month <= now.month else now.year - 1))
            return _month(today, year, month)
        case "year":
            start = today.replace(int(parts["year"]), 1, 1)
            return TimeSpan(start, start.replace(year=start.year + 1))
        case "ago":
            unit = _UNITS[parts["unit"]]
            return _days(today - timedelta(days=_number(parts) * unit + unit // 2), unit)
        case "past":
            days = _number(parts) * _UNITS[parts["unit"]]
            return _days(today - timedelta(days=days), days + 1)
        case "weekday":
            back = (now.weekday() - _DAYS.index(parts["weekday"]) - 1) % 7 + 1
            return _days(today - timedelta(days=back), 1)
        case _:
            return _named(parts["which"], today)


def _named(phrase: str, today: datetime) -> TimeSpan:
    if phrase in ("today", "yesterday"):
        return _days(today - timedelta(days=phrase == "yesterday"), 1)
    when, unit = phrase.split()
    back = when != "this"
    if unit == "week":
        return _days(today - timedelta(days=today.weekday() + 7 * back), 7)
    if unit == "year":
        start = today.replace(today.year - back, 1, 1)
        return TimeSpan(start, start.replace(year=start.year + 1))
    first = today.replace(day=1) - timedelta(days=int(back))
    return _month(today, first.year, first.month)


def _month(today: datetime, year: int, month: int) -> TimeSpan:
    start = today.replace(year, month, 1)
    return TimeSpan(start, start.replace(year + month // 12, month % 12 + 1))


def _days(start: datetime, days: int) -> TimeSpan:
    return TimeSpan(start, start + timedelta(days=days))


def _number(parts: dict[str, str]) -> int:
    number = parts["number"]
    return int(number) if number.isdecimal() else _NUMBERS[number]
