"""related: what is linked with a memory, and what a name stands for at the end of a link."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import find, look_up, read
from mcp_server.actions.files.sync import ensure_synced
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.adapters.index.memories import relations
from mcp_server.adapters.index.memories.memories import Row, by_rows
from mcp_server.adapters.index.memories.relations import Edge
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.graph.graph import stands_for
from mcp_server.core.links import RELATES_TO, as_name, is_artifact, wiki_links
from mcp_server.core.memory import TAGS
from mcp_server.core.memory_parts import Level, typed_id
from mcp_server.store import Store

MAX_PATH = 500  # characters
MOST_RELATED = 100  # links of one answer

End = MemoryFile | str
"""One end of a link: a memory, or the path of a file."""


@dataclass(frozen=True, slots=True)
class Related:
    """
    What is linked with a memory, or carries tags.

    `tagged` are the memories with any of the tags, `left_out` is how many links more there are.
    """

    about: Row | None
    edges: tuple[Edge, ...] = ()
    tagged: tuple[Row, ...] = ()
    left_out: int = 0


def is_written(edge: Edge) -> bool:
    """Tell whether a link is in its memory's text as `[[...]]`, where only an edit takes it out."""
    return edge.rel == RELATES_TO and edge.target in wiki_links(edge.ends[0].text)


@self_healing
def get_related(store: Store, memory_id: str = "", *, tags: Sequence[str] = ()) -> Related:
    """
    Return what the memory *memory_id* is linked with, in both directions, and the active memories that
    carry any of *tags*, those with the most of them first.

    Raises NotFound, and Rejected when neither is given.
    """
    with_tags = TAGS.cleaned(tags)
    if not memory_id.strip() and not with_tags:
        raise Rejected("No memory and no tags were given.", "Give the id of a memory, or tags.")
    ensure_synced(store)
    vaults = store.keys
    about = find(store, memory_id) if memory_id.strip() else None
    with store.database.read() as db:
        tagged = relations.carrying(db, with_tags, vaults) if with_tags else []
        edges = relations.edges(db, vaults, at=[about.row]) if about else []
    others = tuple(row for row in tagged if about is None or row.row != about.row)
    return Related(about, tuple(edges[:MOST_RELATED]), others, max(0, len(edges) - MOST_RELATED))


def at_level(store: Store, level: Level) -> Store:
    """Return *store* with the vaults of *level* alone: the same id may stand at both levels."""
    if level is Level.PROJECT and not store.project:
        raise Rejected(
            "There is no project here, so there is no project level.",
            "Use level 'user', or work inside a project's folder.",
        )
    return store.scoped(vault for vault in store.vaults if vault.level is level)


def ends_of(store: Store, source: str, target: str, level: Level | None) -> tuple[End, End]:
    """Return what *source*, of *level* if given, and *target* name as ends; raises what `end_of` does."""
    with naming_level(store, source, level):
        start = end_of(at_level(store, level) if level else store, source)
    return start, end_of(store, target)


@contextlib.contextmanager
def naming_level(store: Store, name: str, level: Level | None) -> Iterator[None]:
    """Let a NotFound of the block say so when the memory *name* is there, but not at *level*."""
    try:
        yield
    except NotFound:
        row = look_up(store, typed_id(name)) if level else None
        vault = store.vault(row.vault) if row else None
        if vault is None or vault.level is level:
            raise
        raise NotFound(
            name,
            sentence=f"'{typed_id(name)}' is of the {vault.level.value} level, not of the {level} level.",
            hint=f"Give the level {vault.level.value}.",
        ) from None


@self_healing
def end_of(store: Store, text: str) -> End:
    """
    Return what *text* names as an end of a link: the memory with that id, title or alias, else a file's path.

    Raises NotFound, with the nearest ids, for what is none of these, Rejected for a path that is too long.
    """
    name = text.strip()
    stem = name.removesuffix(".md")
    if look_up(store, stem):
        return read(store, stem)
    with store.database.read() as db:
        vaults = [vault.key for vault in sorted(store.vaults, key=lambda vault: vault.adopted)]
        row = relations.called(db, [("", as_name(name))], vaults).get(("", as_name(name)))
        memory = by_rows(db, [row])[row] if row else None
    if memory and not stands_for(memory.id, memory.touches) and look_up(store, memory.id) == memory:
        return read(store, memory.id)
    if not is_artifact(name):
        return read(store, name)
    if len(name) > MAX_PATH or not name.isprintable():
        raise Rejected(
            f"A path of {len(name)} characters cannot be linked.",
            f"Give the path from the project's folder on, with at most {MAX_PATH} characters, all printable.",
        )
    return name
