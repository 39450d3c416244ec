"""
The messages between a team's server and its clients, as JSON (`core/team/json_values.py`).

Unknown keys are refused in a client's request and ignored in a server's answer, because the server may be
newer; those of a memory are sent back with a change of it.

Two keys of a question have no effect in a team. `Query.parts` are those of a prompt, and no prompt is sent.
`Query.expand` adds memories that the hits link to: a member's machine does that itself, for its own memories
and the copy of the confirmed ones. The server does not, because any member could then bring a memory before
a reader by a link alone.
"""

from collections.abc import Mapping
from dataclasses import fields

from mcp_server.core.errors import (
    Conflict,
    DaybookError,
    NotAllowed,
    NotFound,
    Rejected,
    StorageUnavailable,
)
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind, check_id
from mcp_server.core.render import one_line
from mcp_server.core.search.query import Query
from mcp_server.core.storage.port import ChangeRecord, Results, Stored
from mcp_server.core.team.json_values import object_of, read, text_of
from mcp_server.core.team.team import Team

MOST_SENTENCE = 1_000  # characters of the sentence or the hint of an error
MOST_REQUEST = 1024 * 1024  # bytes of a client's request; the longest text of a memory may take half of it
KINDS: Mapping[str, type[DaybookError]] = {
    kind.__name__: kind for kind in (NotFound, Rejected, Conflict, NotAllowed, StorageUnavailable)
}
"""The errors that a client raises again as they were."""


def memory_of(value: object, *, strict: bool) -> Memory:
    """Return the memory in *value*; raise Rejected, with *strict* also for an unknown key."""
    memory = read(Memory, value, "memory", strict=strict)
    check_id(memory.id)
    if memory.kind is not Kind.KNOWLEDGE:
        raise Rejected("A team keeps knowledge only, no conversations and no sessions.")
    return memory


def stored_of(value: object) -> Stored:
    """Return the version of a memory in a server's answer; raise Rejected."""
    stored = read(Stored, value, "stored", strict=False)
    check_id(stored.memory.id)
    return stored


def newer_of(value: object) -> tuple[Stored, dict[str, object]]:
    """Return the version in a server's answer, and the keys of its memory that only a newer Daybook knows."""
    stored = stored_of(value)
    known = {field.name for field in fields(Memory)}
    memory = object_of(object_of(value, "stored")["memory"], "memory")
    return stored, {key: item for key, item in memory.items() if key not in known}


def query_of(value: object) -> Query:
    """Return the question in a client's request; raise Rejected."""
    return read(Query, value, "query", strict=True)


def results_of(value: object) -> Results:
    """Return the results in a server's answer; raise Rejected."""
    results = read(Results, value, "results", strict=False)
    for result in results.results:
        check_id(result.stored.memory.id)
    return results


def change_of(value: object) -> ChangeRecord:
    """Return the change in a server's answer; raise Rejected."""
    return read(ChangeRecord, value, "change", strict=False)


def team_of(value: object) -> Team:
    """Return the team in a server's answer; raise Rejected."""
    return read(Team, value, "team", strict=False)


def error_value(error: DaybookError) -> dict[str, str]:
    """Return *error* as a JSON value: its kind, its sentence and its hint."""
    return {"kind": type(error).__name__, "sentence": str(error), "hint": error.hint}


def error_of(value: object) -> DaybookError:
    """Return the error in a server's answer, of its own class if it is in KINDS; raise Rejected."""
    fields = object_of(value, "error")
    kind, sentence, hint = (text_of(fields.get(key, ""), key) for key in ("kind", "sentence", "hint"))
    sentence, hint = one_line(sentence, MOST_SENTENCE), one_line(hint, MOST_SENTENCE)
    if not sentence:
        raise Rejected("The error says nothing.")
    if kind == NotFound.__name__:
        return NotFound("", sentence=sentence, hint=hint)
    return KINDS.get(kind, DaybookError)(sentence, hint)
