"""
How two texts relate: do they say the same, and if not, what differs.

Two texts that share most of their words may say the same or the opposite: "timeout is 30 seconds" and
"timeout is 60 seconds". So nothing is decided by likeness. A *guarded difference* (numbers, versions, dates,
negation, swapped operands, other names) keeps apart what code handles by itself, and tells a person or a
model what differs. The rules are those of docs/capture.md.
"""

import re
from dataclasses import dataclass

from mcp_server.core.text.words import STOP_WORDS

SUBJECT = 0.6  # Jaccard of the unguarded words above which two texts are about the same thing
OTHER_WORD = "one word"

AUTHORITY = {
    "manual": 4,
    "extracted": 2,
    "imported": 2,
    "assistant": 1,
    "mined": 0,
    "output": -1,
    "seeded": -1,
}
VERIFIED = 3  # it was checked and confirmed: below what the person says, above what was extracted


@dataclass(frozen=True, slots=True)
class Statement:
    """What a memory says, and who says it."""

    title: str
    text: str
    type: str
    source: str = "manual"
    verified: bool = False

    @property
    def title_and_text(self) -> str:
        return f"{self.title}\n{self.text}"

    @property
    def authority(self) -> int:
        authority = AUTHORITY.get(self.source, 0)
        return max(authority, VERIFIED) if self.verified else authority


def outranks(old: Statement, new: Statement) -> bool:
    """Tell whether *new*, which only Claude or a pattern said, may not undo the person's word in *old*."""
    return new.authority < AUTHORITY["extracted"] and old.authority >= VERIFIED


def tokens(text: str) -> frozenset[str]:
    """Return the words that carry meaning, in lower case; numbers, versions and names like next.js whole."""
    return frozenset(sequence(text))


def jaccard(first: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common words, 0 to 1; two empty sets have nothing in common."""
    union = len(first | other)
    return len(first & other) / union if union else 0.0


def guarded_difference(first: str, other: str) -> str:
    """
    Return what makes two similar texts say different things, '' when nothing does.

    One text may say more than the other: only what both sides say differently counts, except negation.
    """
    if _both_differ(numbers_in(first), numbers_in(other)):
        return "numbers"
    if negates(first) != negates(other) or _opposed(first, other):
        return "negation"
    swapped = {(after, before) for before, after in _operands(first)} & _operands(other)
    if swapped and sequence(first) != sequence(other):
        return "swapped operands"
    if _both_differ(names_in(first), names_in(other)):
        return "names"
    if _substituted(first, other):
        return OTHER_WORD
    return ""


_TOKEN = re.compile(r"\w[\w.+#/:@-]*")
_TRAILING = re.compile(r"(?:[./:@-]|(?<!\+)\+(?!\+))+$")  # C++ is not C
_FILLING = STOP_WORDS | {"using", "use", "used"}
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|avoid|avoids|forbidden|instead of using"
    r"|\w+n['’]t|don'?t|stop(?:ped)? using|no longer)\b",
    re.IGNORECASE,
)
_OPPOSITES = tuple(
    (frozenset(left.split("|")), frozenset(right.split("|")))
    for left, right in (
        ("always", "never|sometimes|rarely"),
        ("enable|enabled|enables", "disable|disabled|disables"),
        ("on", "off"),
        (
            "allow|allowed|allows|permit|permitted",
            "deny|denied|forbid|forbidden|block|blocked|refuse|refused",
        ),
        ("before", "after"),
        ("true", "false"),
        ("with", "without"),
        ("increase|increased|raise|raised", "decrease|decreased|lower|lowered|reduce|reduced"),
        ("sync|synchronous", "async|asynchronous"),
        ("required|mandatory", "optional"),
        ("public", "private"),
        ("add|added", "remove|removed"),
        ("accept|accepted", "reject|rejected"),
        ("first", "last"),
        ("min|minimum|least", "max|maximum|most"),
    )
)
_DIRECTED = re.compile(
    r"\b(?:over|instead of|rather than|than|before|after|not|to|into|calls|depends on|replaces|replaced by"
    r"|imports|extends|precedes|follows|above|below)\b|->|→",
    re.IGNORECASE,
)
_SENTENCE_END = ".!?:;\n"
NEARBY = 60  # characters on each side in which an operand is looked for
SUBSTITUTES = 2  # words in the place of others up to which two texts are looked at as one with changes


def same_subject(statement: Statement, other: Statement) -> bool:
    """Tell whether the texts are about the same thing once what differs between them is left out."""
    names = names_in(statement.title_and_text) ^ names_in(other.title_and_text)
    left, right = (
        [word for word in sequence(text) if not _is_guarded(word, names)]
        for text in (statement.text, other.text)
    )
    if left and right and left[0] not in right and right[0] not in left:
        return False  # "Alice prefers tabs", "Bob prefers tabs": what a sentence begins with is its subject
    only_left = [a for a in left if not any(a == b or _variants(a, b) for b in right)]
    only_right = [b for b in right if not any(a == b or _variants(a, b) for a in left)]
    if only_left and only_right:
        return False  # "staging listens on 8080", "production listens on 9090": two things, not two values
    common = len(set(left)) - len(set(only_left))
    return common > 0 and common / (common + len(set(only_left)) + len(set(only_right))) > SUBJECT


def _is_guarded(word: str, names: frozenset[str]) -> bool:
    if _NUMBER.search(word) or word in names or _NEGATION.fullmatch(word):
        return True
    return any(word in side for pair in _OPPOSITES for side in pair)


def sequence(text: str) -> list[str]:
    """Return the words that carry meaning, in lower case and in their order."""
    tokens_found = [_TRAILING.sub("", word).lower() for word in _TOKEN.findall(text.replace("’", "'"))]
    return [word for word in tokens_found if word and word not in _FILLING]


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers, versions, dates and times in *text*."""
    return frozenset(_NUMBER.findall(text))


def negates(text: str) -> bool:
    """Tell whether *text* denies something."""
    return bool(_NEGATION.search(text))


def _opposed(left_text: str, right_text: str) -> bool:
    left, right = (set(re.findall(r"[a-z]+", text.lower())) for text in (left_text, right_text))
    for side, opposite in _OPPOSITES:
        for first, second in ((left, right), (right, left)):
            says, denies = first & side, second & opposite
            if says and denies and not (first & opposite) and not (second & side):
                return True
    return False


def _operands(text: str) -> set[tuple[str, str]]:
    """Return the telling words before and after each word that gives a direction."""
    pairs = set()
    for match in _DIRECTED.finditer(text):
        start, end = match.span()
        before, after = sequence(text[max(0, start - NEARBY) : start]), sequence(text[end : end + NEARBY])
        pairs |= {(left, right) for left in before[-2:] for right in after[:2] if left != right}
    return pairs


def names_in(text: str) -> frozenset[str]:
    """Return the words that name something: capitals inside a sentence or a word, dots, slashes."""
    return frozenset(word.lower() for word, starts in _words_with_place(text) if _is_name(word, starts))


def _words_with_place(text: str) -> list[tuple[str, bool]]:
    """Return the words of *text*, each with whether a sentence begins with it."""
    places = []
    end = 0
    for match in _TOKEN.finditer(text):
        between = text[end : match.start()].rstrip(" \t\"'`*(") or text[max(0, end - 1) : end]
        places.append((match[0].rstrip(".+/:@-"), not between or between[-1] in _SENTENCE_END))
        end = match.end()
    return places


def _is_name(word: str, starts_sentence: bool) -> bool:
    if any(character.isdigit() for character in word) or word.lower() in _FILLING:
        return False
    inner = word[1:]
    if inner != inner.lower() or re.search(r"\w[./#@_]\w", word):
        return True
    return word[:1].isupper() and not starts_sentence and len(word) > 1


def _both_differ(first: frozenset[str], other: frozenset[str]) -> bool:
    return bool(first - other) and bool(other - first)


def _substituted(first: str, other: str) -> bool:
    """Tell whether the texts are equal but for one or two words in the same places that are no variants."""
    left, right = sequence(first), sequence(other)
    if len(left) != len(right):
        return False
    changed = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    return 0 < len(changed) <= SUBSTITUTES and any(not _variants(a, b) for a, b in changed)


def _variants(first: str, other: str) -> bool:
    """Tell whether two words are forms of one: colour and color, uses and using, test and tests."""
    common = 0
    for a, b in zip(first, other, strict=False):
        if a != b:
            break
        common += 1
    return common >= 3 and common >= min(len(first), len(other)) - 2
