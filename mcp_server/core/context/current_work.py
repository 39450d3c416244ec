"""
The current work: what the name of a branch is about, and which memories concern it.

It only decides the order in which the brief shows memories at the start of a session, not which ones.
"""

import re
from collections.abc import Sequence

from mcp_server.core.memory_parts import DAY

WORKED_ON = 3 * DAY  # seconds; a file that changed within them is being worked on
MOST = 0.5  # if the files of a larger share of memories changed lately, it means nothing: a fresh clone

_GENERAL = frozenset(
    """
    add and backport branch bug bugfix build change chore cleanup dev develop development doc docs experiment
    feat feature fix for from head hotfix improve into issue main master merge minor misc new next patch
    pr prototype refactor release remove rename spike story support task temp test tests the ticket tmp trunk
    try update use user users wip with work
    """.split()
)  # words in branch names that say nothing about the work
_TICKET = re.compile(r"\b[A-Z]{2,10}-\d+")
_WORD = re.compile(r"[^\W\d_]{3,}")


def branch_pattern(branch: str) -> re.Pattern[str] | None:
    """Return a pattern for the words of a branch's name; None for a name without telling words, as `main`."""
    words = {word.casefold().removesuffix("s") for word in _WORD.findall(_TICKET.sub(" ", branch))}
    telling = sorted(word for word in words if word not in _GENERAL and f"{word}s" not in _GENERAL)
    if not telling:
        return None
    # Words inside paths and identifiers count too, so `_` ends a word.
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(telling)})s?(?![^\W_])", re.IGNORECASE)


def of_branch(pattern: re.Pattern[str], title: str, tags: Sequence[str], touches: Sequence[str]) -> bool:
    """Tell whether a memory's title, tags or files have a word of the branch's name."""
    return any(map(pattern.search, (title, *tags, *touches)))
