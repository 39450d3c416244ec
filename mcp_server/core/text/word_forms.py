"""
Other forms that a word of a question may have in a memory.

The index stems by rules, and rules do not know that "went" is "go"; nor does it know that "data base"
may be written "database". Both are looked up with the question, so the index stays as it is: verbs are worth
.006 of nDCG@10 on single turns of chats, compounds .004 on whole chats.
A word is also looked up without its ending in another language: only memories in that language have that
stem (`languages.py`).
"""

import itertools
from collections.abc import Collection, Iterator, Sequence

from mcp_server.core.text.languages import stems_of_term

_IRREGULAR = """
    become became, begin began begun, bite bit bitten, blow blew blown, break broke broken,
    bring brought, build built, buy bought, catch caught, choose chose chosen, come came, deal dealt,
    dig dug, draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, eat ate eaten,
    fall fell fallen, feed fed, feel felt, fight fought, find found, fly flew flown,
    forget forgot forgotten, freeze froze frozen, give gave given, go goes went gone, grow grew grown,
    hang hung, hear heard, hide hid hidden, hold held, keep kept, know knew known, lead led,
    learn learnt, leave left, lose lost, make made, mean meant, meet met, override overrode overridden,
    pay paid, rewrite rewrote rewritten, ride rode ridden, ring rang rung, rise rose risen, run ran,
    say said, see saw seen, seek sought, sell sold, send sent, shake shook shaken, shine shone,
    shoot shot, show shown, sing sang sung, sink sank sunk, sit sat, sleep slept, speak spoke spoken,
    spend spent, spin spun, stand stood, steal stole stolen, stick stuck, strike struck, sweep swept,
    swim swam swum, swing swung, take took taken, teach taught, tear tore torn, tell told, think thought,
    throw threw thrown, understand understood, undo undid undone, wake woke woken, wear wore worn,
    win won, write wrote written
"""


def _of_verbs() -> dict[str, tuple[str, ...]]:
    """Return each form of an irregular verb → those that are not stemmed to the same."""
    found: dict[str, tuple[str, ...]] = {}
    for verb in _IRREGULAR.split(","):
        base, *others = forms = verb.split()
        found |= {form: tuple(other for other in forms if other != form) for form in forms}
        found |= dict.fromkeys(_regular(base), tuple(others))
    return found


def _regular(base: str) -> Iterator[str]:
    """Yield what stemming makes *base* of: "writes", "writing", "running"."""
    yield base + ("es" if base.endswith("ch") else "s")
    yield (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"
    yield base + base[-1] + "ing"


_VERBS = _of_verbs()


def word_forms(terms: Sequence[str], languages: Collection[str] = ()) -> dict[str, list[str]]:
    """
    Return each of *terms* → the words that count as it: itself, irregular forms, stems, then compounds.

    *languages* are those of `languages.STEMMED` that memories are written in.
    A compound is two neighbouring terms written as one word, and counts as either.
    """
    forms = {term: [term, *_VERBS.get(term, ()), *stems_of_term(term, languages)] for term in terms}
    for first, second in itertools.pairwise(forms):
        for term in (first, second):
            forms[term].append(first + second)
    return forms
