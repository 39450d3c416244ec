"""touched: name the files that a memory is about so that the person's other machines can read the names."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from mcp_server.core.portable_path import portable
from mcp_server.core.search.query import Filter
from mcp_server.store import Store


def as_touched(store: Store, paths: Iterable[str], *, folder: Path | None = None) -> tuple[str, ...]:
    """
    Return each of *paths* from *folder* on, by default the project's root, or with `~` for the person's home.

    A relative path, and one that lies elsewhere, stays as it is.
    """
    top = folder or (store.project.root if store.project else None)
    home = os.path.expanduser("~")
    return tuple(dict.fromkeys(portable(path, folder=str(top or ""), home=home) for path in paths))


def asked_of(store: Store, filter: Filter) -> Filter:
    """Return *filter* with the file that it asks for named as memories name it."""
    return replace(filter, touches="".join(as_touched(store, [filter.touches]))) if filter.touches else filter
