"""
from_other_machines: memories that came from other machines after a session had begun: its brief lacks them.

Told with the next prompt, once in a session: preferences and what is settled, as in a brief. The ledger tells
seconds, so what came in the second in which a session began counts as new to it: twice is better than never.
"""

from dataclasses import dataclass, field
from typing import Any

from mcp_server.actions.context.brief import LOOKED_AT, PREFERENCES, contested, entries_of
from mcp_server.actions.context.knowledge import pushable
from mcp_server.actions.files.sync import catch_up_if_free
from mcp_server.adapters.index.events import receipts, sessions, usage
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.remote import notes
from mcp_server.core.context.brief import PROMPT_BUDGET, WHOLE, BriefSection, render_brief
from mcp_server.core.memory_types import BriefHeading, types_under
from mcp_server.core.render import LINE_LIMIT
from mcp_server.store import Store

NEW = "These came from another of the person's machines after this session had begun."

_SECTIONS = ((PREFERENCES, WHOLE, BriefHeading.PREFERENCES), ("Settled", LINE_LIMIT, BriefHeading.SETTLED))


@dataclass(frozen=True, slots=True)
class Arrived:
    """The text about what came, '' for nothing, and the event to write once it was shown."""

    text: str = ""
    note: dict[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The (ref, digest) of what the text shows."""
        return list(zip(self.note.get("refs", ()), self.note.get("digests", ()), strict=True))


def arrived(store: Store) -> Arrived:
    """Return what came since this session began and was not shown in it. Raises IndexUnavailable."""
    arrivals = notes.came_of(store.home)
    if not (arrivals and store.session):
        return Arrived()
    with store.database.read() as db:
        session_row = sessions.with_id(db, store.session)
    if session_row and max(arrivals.values()) < session_row.started:
        return Arrived()
    catch_up_if_free(store)  # so that what this session was shown counts
    with store.database.read() as db:
        session_row = sessions.with_id(db, store.session)
        since = session_row.started if session_row else store.now()
        late_refs = {ref for ref, at in arrivals.items() if at >= since}
        shown_pairs = usage.injected(db, store.session)
        fresh = []
        for title, limit, under in _SECTIONS:
            types = types_under(under)
            rows = selections.newest(db, store.keys, types=types, limit=LOOKED_AT, private=store.private)
            new = [row for row in rows if row.ref in late_refs and (row.ref, row.digest) not in shown_pairs]
            fresh.append((title, limit, new))
        pushable_rows = pushable(store, db, [row for _, _, rows in fresh for row in rows])
        if not pushable_rows:
            return Arrived()
        rivals = contested(store, db)
        rendered = render_brief(
            [
                BriefSection(title, entries_of(rows, pushable_rows, rivals), limit)
                for title, limit, rows in fresh
            ],
            notices=[NEW],
            budget=PROMPT_BUDGET,
        )
    note = {
        "why": receipts.START,
        "refs": list(rendered.refs),
        "digests": list(rendered.digests),
        "tokens": list(rendered.tokens),
        "session": store.session,
    }
    return Arrived(rendered.text, note)
