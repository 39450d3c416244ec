"""The result of an action in the form in which doors show it: as lines, as a table or as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcp_server.core.memory_parts import moment_in

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Shown:
    """
    A result as every door shows it.

    `head` is a sentence, `rows` belong to `headers`; where a header ends with a colon, a line puts it before
    its cell. Rows without headers are a name and its value, or one sentence; those without a value are left
    out, and so are empty notes. `texts` are the texts of memories, one for each row or none at all, `body` is
    the whole text of one memory. `below` are further tables, `notes` sentences that come last, and `json` is
    the same for programs. With `offset` the rows are a page that begins there, of `total` rows; a
    body begins at that character, and `read_memory` reads on.

    Nothing in it is escaped: each door does that in its own way.
    """

    head: str = ""
    headers: tuple[str, ...] = ()
    rows: Sequence[tuple[object, ...]] = ()
    texts: tuple[str, ...] = ()
    body: str = ""
    below: tuple[Shown, ...] = ()
    notes: Sequence[str] = ()
    json: object = None
    offset: int | None = None
    total: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(filter(None, self.notes)))
        if not self.headers:
            object.__setattr__(self, "rows", [row for row in self.rows if row[-1] not in ("", None)])


def cells(table: Shown, row: tuple[object, ...]) -> list[str]:
    """Return the non-empty cells of a row, as a line has them: without headers, one sentence."""
    if not table.headers:
        return [": ".join(map(str, row))]
    return [
        f"{name[:-1]} {cell}" if name.endswith(":") else str(cell)
        for name, cell in zip(table.headers, row, strict=True)
        if cell not in ("", None)
    ]


def day(at: int) -> str:
    """Return a moment in Unix seconds as its day in UTC, '' for 0."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" if at else ""


def moment(at: int) -> str:
    """Return a moment in Unix seconds as date and time in UTC, '' for 0."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}" if at else ""


def minute(timestamp: str) -> str:
    """Return an ISO time as date and time in UTC, which says so; any other text stays."""
    at = moment_in(timestamp)
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else timestamp
