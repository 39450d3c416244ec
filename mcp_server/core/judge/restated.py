"""Whether a conversation states what a memory said that has been superseded since."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mcp_server.core.search.echo import is_question, root
from mcp_server.core.text.containment import normal
from mcp_server.core.text.excerpt import sentences
from mcp_server.core.text.text_relation import guarded_difference, names_in, numbers_in
from mcp_server.core.text.words import STOP_WORDS, telling, words

FEWEST_WORDS = 2  # telling words; a single one has too many senses


class Stated(NamedTuple):
    """A sentence that states something, with the roots of all its words."""

    text: str
    roots: frozenset[str]


def stated(text: str) -> list[Stated]:
    """Return the sentences of *text* that state something; a question does not."""
    sentences_of_text = filter(None, map(str.strip, sentences(text)))
    return [
        Stated(sentence, frozenset(map(root, words(sentence))))
        for sentence in sentences_of_text
        if not is_question(sentence)
    ]


def restated(statements: Sequence[Stated], old: str, new: str) -> bool:
    """
    Tell whether one of *statements* says what the text *old* says and its successor *new* does not.

    It must have all telling words of a sentence of *old*, the same numbers, names and negations, and no
    number or name that only *new* has.
    """
    near = [
        (sentence, statement)
        for sentence in map(str.strip, sentences(old))
        for statement in statements
        if _may_say(statement, sentence)
    ]
    if not near:
        return False
    holds = normal(new)
    added = (numbers_in(new) | names_in(new)) - numbers_in(old) - names_in(old)
    return any(
        len(_roots(sentence)) >= FEWEST_WORDS
        and _roots(sentence) <= _roots(statement.text)
        and normal(sentence).rstrip(".!") not in holds
        and not guarded_difference(sentence, statement.text)
        and added.isdisjoint(numbers_in(statement.text) | names_in(statement.text))
        for sentence, statement in near
    )


def _may_say(statement: Stated, sentence: str) -> bool:
    """Tell whether *statement* has the words of *sentence*: a quick test that rules out most."""
    return bool(sentence) and _all_in(statement.roots, words(sentence))


def _all_in(roots: frozenset[str], terms: Iterable[str]) -> bool:
    return all(root(word) in roots for word in terms if word not in STOP_WORDS)


def _roots(text: str) -> frozenset[str]:
    return frozenset(map(root, telling(text)))
