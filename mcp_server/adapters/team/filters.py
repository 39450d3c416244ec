"""Filters of a search as SQL conditions on a team's memories."""

from typing import NamedTuple

from mcp_server.core.memory_parts import Kind, Level, Status
from mcp_server.core.search.query import Filter


class Condition(NamedTuple):
    """A condition over `daybook.searched` and the values bound in it."""

    sql: str
    values: tuple[object, ...]
    simple: bool
    """Whether it lets through all active memories, so nearly all."""


NONE = "false"


def condition_of(filter: Filter) -> Condition:
    """Return which memories *filter* lets through; a team has knowledge only, of a level of its own."""
    parts: list[str] = []
    values: list[object] = []

    def add(part: str, *bound: object) -> None:
        parts.append(part)
        values.extend(bound)

    if filter.as_of:
        add("valid_from <= %s AND (valid_to IS NULL OR valid_to > %s)", filter.as_of, filter.as_of)
        add("status = ANY(%s)", [Status.ACTIVE.value, Status.SUPERSEDED.value])
    elif set(filter.statuses) != set(Status):
        add("status = ANY(%s)", [status.value for status in filter.statuses])
    usual = len(parts)
    if (filter.kinds and Kind.KNOWLEDGE not in filter.kinds) or filter.level in (Level.USER, Level.PROJECT):
        add(NONE)
    if filter.types:
        add("type = ANY(%s)", list(filter.types))
    for tag in filter.tags:
        add("tags && %s::text[]", tag.split("|"))
    if filter.since:
        add("updated >= %s", filter.since)
    if filter.until:
        add("updated < %s", filter.until)
    if filter.touches:
        add("array_to_string(touches, %s) LIKE %s", "\n", f"%{_literal(filter.touches)}%")
    if filter.category:
        add("category = %s", filter.category)
    simple = len(parts) == usual and not filter.as_of and Status.ACTIVE in filter.statuses
    return Condition(" AND ".join(parts) or "true", tuple(values), simple)


def _literal(text: str) -> str:
    """Return *text* as a LIKE pattern that matches exactly it."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
