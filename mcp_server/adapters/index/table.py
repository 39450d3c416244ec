"""What a table of the index is: each stands beside the code that fills it, `database/schema.py` makes it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Ref(str):
    """The type of a column that names a memory as the ledger does: where one moves, it is renamed there."""

    __slots__ = ()


class Table(NamedTuple):
    """
    One table: its columns with their types, and what it is found by.

    `required` columns are never NULL, `searched` ones have a full-text index, `also` are statements that make
    other indexes. `sql` makes the table where the columns do not say all of it.
    """

    name: str
    columns: Mapping[str, type] = {}
    pk: str | Sequence[str] | None = None
    defaults: Mapping[str, object] = {}
    required: Sequence[str] = ()
    unique: Sequence[Sequence[str]] = ()
    indexes: Sequence[Sequence[str]] = ()
    searched: Sequence[str] = ()
    also: Sequence[str] = ()
    sql: str = ""
