"""
Questions about what changed, from the changelogs of public projects.

An entry is what one release says in one bullet. What several releases speak of (an option, a function)
gives a question about how it is now, which the newest entry answers, and one about how it was, which an
older one answers. An old entry gives a question in its own words.
"""

import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

CURRENT, OLD, WHEN, EXACT, WORDS = "current", "old", "when", "exact", "words"
ABOUT = {
    CURRENT: "how it is now: the newest entry answers",
    OLD: "how it was in a release: its entry answers",
    WHEN: "what changed in a month: the entry of that month answers",
    EXACT: "the first words of an entry more than a year old",
    WORDS: "five words of an entry more than a year old",
}

LONG_AGO = timedelta(days=365)
APART = timedelta(days=30)  # the least time between the newest and the oldest entry about a thing
MOST_RELEASES = 8  # what more of them speak of is no single thing
MOST_QUESTIONS = 50  # of each sort, for each project
FEWEST_WORDS = 8  # of an entry that is asked for in its own words
FIRST_WORDS = 10

_NOW = ("What is the current state of {}?", "How does {} work now?", "What is the latest about {}?",
        "What does {} currently do?")  # fmt: skip
_THEN = ("How was {} in {}?", "What changed about {} in {}?", "What did {} do as of {}?")

_VERSION = re.compile(r"^(?:#+ +)?(?:version +)?\[?v?(\d+\.\d+[\w.]*)\]?\b", re.IGNORECASE)
_DATE = re.compile(r"\b(\d{4}-\d\d-\d\d)\b")
_DATED_WITHIN = 5  # lines after a heading
_BULLET = re.compile(r"^[*-] +(.*)")
_THING = re.compile(r"`{1,2}(?:~[\w.]*?)?([A-Za-z_./-][\w./-]{4,40})(?:\(\))?`{1,2}")
_NOISE = re.compile(
    r"\(?`?\[?#\d+\]?\(?[^\s)]*\)?`?_*\)?|\{(?:issue|pr)\}`\d+`|:(?:issue|pr):`\d+`|<https?:[^>]*>|\(https?:[^)]*\)"
    r"|\bby @\S+( in)?|\{\w+\}|:\w+:(?=`)"
)
_FIX = re.compile(r"^(\[bugfix\]|fix|bug)", re.IGNORECASE)
_TELLING = re.compile(r"[A-Za-z][\w-]{4,}")


@dataclass(frozen=True, slots=True)
class Entry:
    """What one release says in one bullet; `number` counts from the oldest."""

    number: int
    version: str
    released: datetime
    text: str

    @property
    def things(self) -> frozenset[str]:
        """The options, functions and files that it names."""
        return frozenset(_THING.findall(self.text))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a sort (see ABOUT), and the numbers of the entries that answer it."""

    sort: str
    text: str
    answers: frozenset[int]


def read_changelog(path: Path) -> list[Entry]:
    """Return the entries in *path*, Markdown or reStructuredText, oldest first, without undated releases."""
    lines = path.read_text(encoding="utf-8").splitlines()
    releases: list[tuple[str, datetime, str]] = []
    version, released = "", None
    bullet: list[str] = []

    def close() -> None:
        sentence = " ".join(_NOISE.sub("", " ".join(bullet)).split()).strip(" ,")
        if released and len(sentence.split()) >= 3:
            releases.append((version, released, sentence))
        bullet.clear()

    for at, line in enumerate(lines):
        heading = _VERSION.match(line)
        if heading:
            dated = _DATE.search(" ".join(lines[at : at + _DATED_WITHIN]))
            close()
            version = heading[1]
            released = datetime.fromisoformat(dated[1]).replace(tzinfo=UTC) if dated else None
        elif started := _BULLET.match(line):
            close()
            bullet.append(started[1])
        elif bullet and line.startswith("  "):
            bullet.append(line.strip())
        elif bullet:
            close()
    close()
    releases.sort(key=lambda entry: entry[1])
    return [Entry(number, *release) for number, release in enumerate(releases)]


def histories(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return thing → the entries about it, oldest first, one for each release, without mended faults."""
    about: defaultdict[str, dict[str, Entry]] = defaultdict(dict)
    for entry in entries:
        if not _FIX.match(entry.text):
            for thing in entry.things:
                about[thing].setdefault(entry.version, entry)
    chains = {thing: list(releases.values()) for thing, releases in about.items()}
    return {
        thing: chain
        for thing, chain in sorted(chains.items())
        if 2 <= len(chain) <= MOST_RELEASES and chain[-1].released - chain[0].released >= APART
    }


def questions(name: str, entries: Sequence[Entry]) -> list[Asked]:
    """Return the questions that the *entries* of the project *name* give; the same ones every time."""
    chance = random.Random(name)
    questions_asked: list[Asked] = []
    chains = list(histories(entries).items())
    for thing, chain in chance.sample(chains, min(MOST_QUESTIONS, len(chains))):
        newest = max(entry.released for entry in chain)
        last = {entry.number for entry in entries if thing in entry.things and entry.released == newest}
        questions_asked.append(Asked(CURRENT, chance.choice(_NOW).format(thing), frozenset(last)))
        before, _ = chance.choice(list(pairwise(chain)))
        then = {
            entry.number for entry in entries if (entry.version == before.version) and thing in entry.things
        }
        month = f"{before.released:%B %Y}"
        dated = {entry.number for entry in chain if f"{entry.released:%B %Y}" == month}
        if len(dated) < len(chain):
            questions_asked.append(Asked(WHEN, f"What changed about {thing} in {month}?", frozenset(dated)))
        questions_asked.append(
            Asked(OLD, chance.choice(_THEN).format(thing, before.version), frozenset(then))
        )
    newest = max((entry.released for entry in entries), default=datetime.now(UTC))
    old = [
        entry
        for entry in entries
        if newest - entry.released > LONG_AGO and len(entry.text.split()) >= FEWEST_WORDS
    ]
    for entry in chance.sample(old, min(MOST_QUESTIONS, len(old))):
        questions_asked.append(
            Asked(EXACT, " ".join(entry.text.split()[:FIRST_WORDS]), frozenset({entry.number}))
        )
        telling = sorted(set(_TELLING.findall(entry.text)), key=_shuffled)
        if len(telling) >= 5:
            questions_asked.append(Asked(WORDS, " ".join(telling[:5]), frozenset({entry.number})))
    return questions_asked


def _shuffled(word: str) -> bytes:
    return hashlib.blake2b(word.encode(), digest_size=8).digest()
