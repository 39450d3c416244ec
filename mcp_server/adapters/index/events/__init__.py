"""
The ledger added up. Each module in this folder is found by its place; it may define

- `TABLES`: the tables that it fills,
- `EVENTS`: a row for each event of the ledger that it defines,
- `ALSO`: names of other modules' events that it takes in, too; or `takes(row)`, which tells which,
- `add(db, event, data, at)`: take in one such event,
- `rename(db, new, old)`: a memory's ref changed; columns of the type `Ref` are renamed automatically,
- `TAKEN_BACK` and `take_back(db, event, data, at)`: the events whose lines it can take back, and how.
"""

import functools
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple


class EventRow(NamedTuple):
    """
    One kind of event of the ledger: how the index treats it.

    `text` is what the history says for it, '' where that is the event's name, None where it is not history:
    it only says that a memory was shown, or is internal bookkeeping. `counted`: counted by day. `alive`: a
    sign of life of the memories in its `refs`. `accepts`: bytes with its `digests` may be shown unasked.
    `local`: it concerns this machine alone (its files, sessions, spending), so no other one gets it.
    `stays`: keys of its lines that name folders of this machine, so no other one gets these.
    """

    name: str
    text: str | None
    counted: bool = False
    alive: bool = False
    accepts: bool = False
    local: bool = False
    stays: tuple[str, ...] = ()


def a_list(value: Any) -> list[Any]:
    """Return *value*, from a line of the ledger, when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def a_number(value: Any) -> int | None:
    """Return *value*, from a line of the ledger, when it is a whole number of 62 bits, else None."""
    return value if isinstance(value, int) and 0 <= value < 1 << 62 else None


@functools.cache
def modules() -> Sequence[ModuleType]:
    """Return the modules that add up the ledger; loading takes 15 ms, and mostly there is nothing to add."""
    names = sorted(name[:-3] for name in os.listdir(__path__[0]) if name.endswith(".py") and name[0] != "_")
    found_modules = [import_module(f"{__name__}.{name}") for name in names]
    return (*found_modules, import_module("mcp_server.adapters.index.memories.accepted_bytes"))


@functools.cache
def table() -> Mapping[str, EventRow]:
    """Return the row of each event by its name."""
    return {row.name: row for module in modules() for row in getattr(module, "EVENTS", ())}


@functools.cache
def taking_in() -> Mapping[str, Sequence[ModuleType]]:
    """Return the modules that take in each event, by its name; events of other versions are not included."""
    return {row.name: [module for module in modules() if _takes(module, row)] for row in table().values()}


def taking_back(event: str) -> Sequence[ModuleType]:
    """Return the modules that can take back lines of *event*."""
    return [module for module in modules() if event in getattr(module, "TAKEN_BACK", ())]


def _takes(module: ModuleType, row: EventRow) -> bool:
    if hasattr(module, "takes"):
        return bool(module.takes(row))
    own = row in getattr(module, "EVENTS", ()) and hasattr(module, "add")
    return own or row.name in getattr(module, "ALSO", ())
