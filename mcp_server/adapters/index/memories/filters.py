"""Filters as SQL conditions over the memories of the index."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from mcp_server.core.memory_parts import Status
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL, SEARCHED_ALONE

if TYPE_CHECKING:  # hooks load this module and make no queries
    from mcp_server.core.search.query import Filter

_ALONE = ", ".join(f"'{source}'" for source in sorted(SEARCHED_ALONE))


def marks(values: Collection[object]) -> str:
    """Return as many SQL placeholders as there are *values*."""
    return ", ".join("?" * len(values))


def where(filter: "Filter", vaults: Sequence[str]) -> tuple[str, list[object]]:
    """Return (SQL condition, values) for the memories of *vaults* that *filter* lets through."""
    from mcp_server.core.memory import WORDS  # slow to load, and hooks make no queries

    conditions: list[str] = []
    values: list[object] = []

    def add(condition: str, *bound: object) -> None:
        conditions.append(condition)
        values.extend(bound)

    def add_any(column: str, allowed: Sequence[object]) -> None:
        add(f"{column} IN ({marks(allowed)})", *allowed)

    add_any("memories.vault", list(vaults))
    if filter.as_of:
        moment = int(filter.as_of.timestamp())
        add("coalesce(nullif(memories.valid_from, 0), memories.created) <= ?", moment)
        add("(memories.valid_to = 0 OR memories.valid_to > ?)", moment)
        add("memories.status IN (?, ?)", Status.ACTIVE.value, Status.SUPERSEDED.value)
    elif set(filter.statuses) != set(Status):
        add_any("memories.status", [status.value for status in filter.statuses])
    if filter.kinds:
        add_any("memories.kind", [kind.value for kind in filter.kinds])
    if not filter.subagents:
        add("NOT (memories.source = 'transcript' AND memories.id LIKE '%-agent-%')")  # see `capture.py`
    if filter.beside:
        add("NOT (memories.source = 'transcript' AND memories.session = ?)", filter.beside)
    if filter.types:
        add_any("memories.type", filter.types)
    for tag in filter.tags:
        either = tag.split("|")
        add(f"memories.row IN (SELECT memory FROM tags WHERE tag IN ({marks(either)}))", *either)
    if filter.since:
        add("memories.updated >= ?", int(filter.since.timestamp()))
    if filter.until:
        add("memories.updated < ?", int(filter.until.timestamp()))
    if filter.touches:
        # The column is JSON, which writes an accent, a quote and a backslash in another way.
        add("EXISTS (SELECT 1 FROM json_each(memories.touches) WHERE instr(value, ?))", filter.touches)
    for name in WORDS:
        if value := getattr(filter, name):
            add(f"memories.{name} = ?", value)
    return " AND ".join(conditions), values


def is_simple(filter: "Filter") -> bool:
    """Tell whether *filter* lets all active memories of its vaults through, or all of some kinds."""
    return filter.statuses == (Status.ACTIVE,) and is_by_scope(filter)


def is_by_scope(filter: "Filter") -> bool:
    """Tell whether *filter* depends on vault, status and kind only."""
    from mcp_server.core.memory import WORDS  # slow to load, and hooks make no queries

    criteria = (
        filter.beside,
        filter.types,
        filter.tags,
        filter.since,
        filter.until,
        filter.touches,
        filter.as_of,
    )
    return filter.subagents and not any((*criteria, *(getattr(filter, name) for name in WORDS)))


def counting(memory: str, private: Sequence[str]) -> tuple[str, list[object]]:
    """
    Return (SQL condition, values) for whether what the row *memory* says about other memories counts.

    Anyone may have written a file outside the *private* vaults; Claude may have stored text from a web page;
    what reads like an instruction may come from both. Until the person accepts it, it changes no others.
    """
    # The sources are written out, not bound: an index has them in its condition, and SQLite prepares a
    # statement anew for each value that is bound to be compared with such a column.
    return (
        f"{memory}.source NOT IN ({_ALONE}) AND ({memory}.digest IN (SELECT digest FROM accepted)"
        f" OR ({memory}.vault IN ({marks(private)}) AND {memory}.source != '{ASSISTANT}'"
        f" AND ({memory}.source = '{MANUAL}' OR {memory}.instructing = 0)))",
        [*private],
    )
