"""
A person's word: given in a terminal that is theirs.

It keeps Claude from being talked into saying it, by a page or by a repository. It cannot hold against a
program that runs as the person and means to get past it: that one may write into the store itself.
"""

import functools
import os
import shlex
import sys
from collections.abc import Iterable, Mapping

from mcp_server.adapters.parent_processes import Ancestor, ancestors, started_by_claude
from mcp_server.core.authors import CLAUDE as BY_CLAUDE
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import PersonNeeded
from mcp_server.core.render import visible


def require(act: str) -> None:
    """Raise PersonNeeded unless a person typed this command themselves; *act* is what it does, as a noun."""
    if why := objection(os.environ, ancestors()):
        raise PersonNeeded(act, typed(), why=why)


def typed() -> str:
    """Return this command, whole, for a person to type: without its options it changes nothing."""
    return visible(shlex.join(sys.argv[1:]))


def is_here() -> bool:
    """Tell whether what is typed here is a person's word."""
    return not objection(os.environ, ancestors())


@functools.cache
def who_types() -> str:
    """Return who changes memories by this command, as their history is to say."""
    return BY_CLAUDE if started_by_claude(os.environ, ancestors()) else PERSON


def objection(environment: Mapping[str, str], above: Iterable[Ancestor]) -> str:
    """
    Return why this process does not stand in a terminal of the person's, '' when it does.

    Both ends must be a terminal, and Claude Code must be nowhere *above*, not even where a shell, `script` or
    `env` in between took its marks out of the *environment*.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
        return "this is not a terminal"
    return started_by_claude(environment, above)
