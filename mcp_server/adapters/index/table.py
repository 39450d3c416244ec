"""The definition of a table of the index: stated by the code that fills it, made by `database/schema.py`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

TOKENIZER = "porter unicode61"
"""How the full-text indexes split texts into words and stem these."""


class Ref(str):
    """The type of a column that holds the ledger's name of a memory: it is renamed when the memory moves."""

    __slots__ = ()


VAULT_OF_REF = "substr(ref, 1, instr(ref, '/') - 1)"
"""In SQL, the key of the vault in a column `ref`."""


class Table(NamedTuple):
    """
    One table: its columns with their types, and its indexes.

    `required` columns are never NULL, `searched` ones have a full-text index, `also` are statements that make
    other indexes. `sql` makes the table where the columns cannot say everything.
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
