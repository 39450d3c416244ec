"""predecessors: find the memories that a new one is said to supersede, by id or by quoted words."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read, read_or_none
from mcp_server.adapters.index.memories import selections
from mcp_server.core.errors import IndexUnavailable, NotFound
from mcp_server.core.memory_parts import ID, Status
from mcp_server.core.text.containment import SENTENCE_ENDS, normal
from mcp_server.core.text.words import words
from mcp_server.store import Store

SHORTEST_QUOTE = 8  # characters; a shorter text must be a whole title
MOST_MEANT = 3  # memories listed for a quote that several contain


@dataclass(slots=True)
class Predecessors:
    """
    The memories that names lead to: `active` by id; `unmoved`, name that leads to no active one → the id that
    superseded it or ''; `elsewhere`, ids of other projects' memories; `several`, quote → the ids of memories
    that all contain it.
    """

    active: dict[str, MemoryFile] = field(default_factory=dict)
    unmoved: dict[str, str] = field(default_factory=dict)
    elsewhere: list[str] = field(default_factory=list)
    several: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.active or self.unmoved or self.elsewhere or self.several)


def predecessors(store: Store, names: Iterable[str]) -> Predecessors:
    """
    Find the memories for *names*: each is an id, or quotes a text that exactly one active memory contains.

    Only memories of this project and of the person are found, never those of another project.
    """
    result = Predecessors()
    for name in dict.fromkeys(filter(None, map(str.strip, names))):
        memory_id = name.removesuffix(".md")
        if ID.fullmatch(memory_id):
            _by_id(store, memory_id, result)
        else:
            _by_words(store, name, result)
    return result


def _by_id(store: Store, memory_id: str, result: Predecessors) -> None:
    """Add to *result* what the id *memory_id* leads to."""
    with suppress(NotFound):
        old = read(store, memory_id)
        if old.memory.status is Status.ACTIVE:
            result.active[old.memory.id] = old
            return
        result.unmoved[memory_id] = old.memory.superseded_by
        return
    is_known = False
    with suppress(IndexUnavailable), store.database.read() as db:
        is_known = selections.is_anywhere(db, memory_id)
    if is_known:
        result.elsewhere.append(memory_id)
    else:
        result.unmoved[memory_id] = ""


def _by_words(store: Store, quote: str, result: Predecessors) -> None:
    """Add to *result* the memory that alone contains *quote*, or all that contain it."""
    quoted = normal(quote).strip(SENTENCE_ENDS + " \"'“”„«»")
    rows = []
    if words(quoted):
        with suppress(IndexUnavailable), store.database.read() as db:
            rows = [
                row
                for row in selections.with_phrase(db, store.adopted, quoted)
                if quoted == normal(row.title)
                or (len(quoted) >= SHORTEST_QUOTE and quoted in f"{normal(row.title)}\n{normal(row.text)}")
            ]
    if len(rows) == 1 and (file := read_or_none(store, rows[0].id)):
        result.active[rows[0].id] = file
    elif rows:
        result.several[quote] = tuple(row.id for row in rows[:MOST_MEANT])
    else:
        result.unmoved[quote] = ""
