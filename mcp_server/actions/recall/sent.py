"""sent: what a model that Daybook calls may see of the memories that were found."""

from collections.abc import Iterable
from dataclasses import replace

from mcp_server.adapters.index.memories import selections
from mcp_server.core.search.query import Hit
from mcp_server.core.sessions.passages import PASSAGE_SIZE
from mcp_server.core.text.private import has_private, without_private
from mcp_server.store import Store


def sent(store: Store, hits: Iterable[Hit]) -> list[Hit]:
    """
    Return *hits* without what the person marked as private; one whose title is marked is left out.

    A hit may show a slice of a memory, and the marks may stand outside it, so the whole memory is looked at.
    """
    may_be_seen = []
    with store.database.read() as db:
        for hit in hits:
            row = selections.with_ref(db, hit.ref)
            text = row.text if row else hit.text
            if has_private(hit.title):
                continue
            public_text = without_private(text)[:PASSAGE_SIZE].strip()
            may_be_seen.append(replace(hit, text=public_text) if has_private(text) else hit)
    return may_be_seen
