"""The options by which several commands choose among memories."""

import functools
from collections.abc import Callable
from typing import Any

import click

from mcp_server.core.memory import Kind, split_list
from mcp_server.core.search.query import filter_of
from mcp_server.doors.cli.output import LEVELS

_FILTERS = (
    click.option("--type", default="", help="Only this type."),
    click.option(
        "--kind",
        type=click.Choice([kind.value for kind in Kind]),
        help="Only this kind; conversation also finds what subagents said.",
    ),
    click.option("--tags", default="", help="Only with all these tags, with commas between them."),
    click.option("--any-tags", default="", help="Only with one of these tags."),
    click.option("--category", default="", help="Only of this category."),
    click.option("--level", type=LEVELS),
    click.option("--since", default="", help="Only updated on or after this date."),
    click.option("--until", default="", help="Only updated before this date."),
    click.option("--all-projects", is_flag=True, help="From every project."),
    click.option("--include-archived", is_flag=True, help="Also find superseded and archived memories."),
)


def filtered(*more: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """
    Return what gives a command the options that choose among memories; it takes them as one Filter, `filter`.

    *more* are further names of options whose values belong to the filter.
    """
    names = ("type", "kind", "category", "level", "since", "until", "all_projects", "include_archived", *more)

    def add_options(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_filter(*, tags: str, any_tags: str, **values: Any) -> None:
            wanted_tags = (*split_list(tags), *filter(None, ["|".join(split_list(any_tags))]))
            chosen = filter_of(tags=wanted_tags, **{name: values.pop(name) for name in names})
            command(**values, filter=chosen)

        for option in reversed(_FILTERS):
            with_filter = option(with_filter)
        return with_filter

    return add_options
