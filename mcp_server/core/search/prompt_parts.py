"""The sentences of a prompt that ask something: memories are searched with each of them alone."""

import re

from mcp_server.core import markdown
from mcp_server.core.search.query import MAX_QUERY
from mcp_server.core.text.words import STOP_WORDS, query_terms

MOST_PARTS = 3  # each is one more question: about 8 ms at 10,000 memories
FEWEST_TERMS = 2  # telling ones; "Thanks!" calls for nothing
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def parts_of(prompt: str) -> tuple[str, ...]:
    """
    Return what to ask instead of *prompt*, () when that is one sentence: its sentences, one by one.

    A memory that answers one sentence of three is not like the whole (`benchmarks/results/prompts.md`). One
    or two are asked together with the whole, which may be about one thing. Of many, the first and the last
    two are asked: people say what they want before or after what they paste. Fenced code asks for nothing.
    """
    telling = sentences_of(_ends_of(_without_code(prompt)))
    if not telling or telling == [prompt.strip()]:
        return ()
    if len(telling) < MOST_PARTS:
        return (_ends_of(prompt), *telling)
    return tuple(telling if len(telling) == MOST_PARTS else [telling[0], *telling[1 - MOST_PARTS :]])


def sentences_of(text: str) -> list[str]:
    """Return the sentences of *text* that have two telling words or more, each once."""
    sentences = dict.fromkeys(filter(None, map(str.strip, _ENDS.split(text))))
    return [
        sentence for sentence in sentences if len(set(query_terms(sentence)) - STOP_WORDS) >= FEWEST_TERMS
    ]


def _without_code(text: str) -> str:
    return "\n".join(line for line, is_code in markdown.lines(text) if not is_code)


def _ends_of(text: str) -> str:
    """Return what is looked at of *text*: all, or half from its beginning and half from its end."""
    half = MAX_QUERY // 2
    return text if len(text) <= MAX_QUERY else f"{text[:half]}\n{text[-half:]}"


_COMMAND = re.compile(
    r"<command-name>(?P<name>/[^<]{1,80})</command-name>(?:\s*<command-args>(?P<arguments>[^<]{0,400}))?"
)


def command_in(text: str) -> str:
    """Return the slash command that Claude Code noted in *text*, with its arguments; '' for none."""
    match = _COMMAND.search(text)
    return f"{match['name']} {match['arguments'] or ''}".strip() if match else ""
