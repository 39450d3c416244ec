"""
compact: a graph that grew too long loses its least valuable nodes to the archive.

Only what was put through the graph's tools goes: a person's other memories are put away by age, not because
there are many of them. Their traces stay in the graph, and `kg_recall` brings them back.
"""

import logging
from collections.abc import Iterator, Sequence

from mcp_server.actions.files.read import Found, read_row
from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.upkeep.consolidate import put_away
from mcp_server.adapters.index.events import ageing
from mcp_server.adapters.index.events.tidying import COMPACTION, ORPHANS
from mcp_server.adapters.index.memories import selections
from mcp_server.core.errors import NotFound, Unreadable
from mcp_server.core.graph.text import LEAVES, TOKEN, measured, to_archive
from mcp_server.core.journal import Entry, change
from mcp_server.core.memory import Status
from mcp_server.store import Store

COMPACTED = "compacted"
MOST = 200  # memories of one step in one run
log = logging.getLogger(__name__)


def compacted(store: Store, vaults: Sequence[str]) -> Iterator[Entry]:
    """Yield the way to the archive for the lowest nodes of each level whose graph is over KG_MAX_TOKENS."""
    most = store.settings.kg_max_tokens
    if not most:
        return
    for graph in read_graph(store):
        limit = most * TOKEN
        chosen = to_archive(graph, now=store.now(), limit=limit)
        mine = [node for node in chosen if node.ref.rpartition("/")[0] in vaults][:MOST]
        for found in _found(store, [node.ref for node in mine]):
            line = f"archive: [{found.memory.id}] was worth least in a graph over {most:,} tokens"
            yield put_away(store, found, COMPACTION, COMPACTED, line)
        left = measured(graph, gone=frozenset(node.name for node in mine))
        if left > limit * LEAVES and measured(graph) > limit:
            log.warning(
                "The graph of level %s has %d tokens, %d are its budget, and all else in it is protected.",
                *(graph.level.value, left // TOKEN, most),
            )


def reconnected(store: Store, vaults: Sequence[str]) -> Iterator[Entry]:
    """Yield for what is called an orphan, and is no compacted node without a link, that it is none."""
    with store.database.read() as db:
        refs = ageing.no_orphans(db, vaults)
    for found in _found(store, refs[:MOST]):
        line = f"no orphan: [{found.memory.id}] stays in the archive"
        changed = change(found.ref, found.memory, found.place, status=Status.ARCHIVED)
        yield Entry(ORPHANS, line, (changed,))


def _found(store: Store, refs: Sequence[str]) -> Iterator[Found]:
    with store.database.read() as db:
        rows = [row for ref in refs if (row := selections.with_ref(db, ref))]
    for row in rows:
        try:
            yield read_row(store, row)
        except (NotFound, Unreadable):
            continue
