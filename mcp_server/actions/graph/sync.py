"""
graph_sync: report to each session what other sessions changed in the graph meanwhile.

The ledger has each session's short id and the last change reported to it. So both survive a resumed or
compacted session, another process and a rebuilt index.
"""

import sqlite3
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from mcp_server.actions.files.load import bytes_at
from mcp_server.actions.files.sync import catch_up_if_free, refresh_index
from mcp_server.actions.files.unindexed import self_healing
from mcp_server.actions.graph.graph import edge_of, node_of
from mcp_server.adapters import files
from mcp_server.adapters.index.events import deeds, graph, replay, sessions, usage
from mcp_server.adapters.index.events.deeds import Deed
from mcp_server.adapters.index.events.graph import ByHand
from mcp_server.adapters.index.events.sessions import SessionRow
from mcp_server.adapters.index.memories import relations, selections
from mcp_server.adapters.ledger import Watermark
from mcp_server.core.errors import Rejected
from mcp_server.core.graph.graph import SESSION_TTL, GraphEdge, Node
from mcp_server.core.memory_parts import Kind, Level, Status, id_in, vault_in
from mcp_server.store import Store

CHANGES = ("remembered", "revised", "restored", "tidied", "unlinked", "forgotten", "undone")


@dataclass(frozen=True, slots=True)
class News:
    """
    One memory that others changed: by whom and when, and how it is now; no `node` when it is gone.

    `by` is the short id of a session, '' when none is noted, 'tidy', or 'hand' for an edit of the file.
    `edges` are those that begin at it.
    """

    id: str
    level: Level
    by: str
    when: datetime
    node: Node | None = None
    superseded_by: str = ""
    edges: tuple[GraphEdge, ...] = ()


def register(store: Store, *, folder: str) -> str:
    """
    Note that the session, a new one where none acts, works with the graph, and return its short id.

    A registration lasts a day; registering again renews it, and changes not reported yet are still reported.
    """
    catch_up_if_free(store)
    session = store.session or str(uuid.uuid4())
    with store.database.read() as db:
        session_row = sessions.with_name(db, session)
        replayed = replay.taken_in(db)
        session = session_row.id if session_row else session
        short = sessions.short_of(db, session)
    data: dict[str, object] = {"session": session, "short": short, "folder": folder}
    if store.project:
        data["vault"] = store.project.key
    if session_row is None or session_row.watermark is None:
        data["watermark"] = replayed
    store.record("session_started", **data)
    catch_up_if_free(store)
    return short


def session_called(store: Store, name: str, own: str) -> tuple[str, bool]:
    """Return (the id of the session called *name*, *own* for ''; if it is registered or *name* is empty)."""
    with store.database.read() as db:
        session = sessions.with_name(db, name.strip() or own) if name.strip() or own else None
    if session is None:
        return name.strip() or own, not name.strip()
    return session.id, session.watermark is not None or not name.strip()


@self_healing
def sync_graph(store: Store, name: str) -> list[News]:
    """
    Return what other sessions, tidying and editors changed since the last report to the session *name*.

    Its own writes and inactive memories are left out. Each change is reported once.
    Raises Rejected when the session is not registered or has no event for a day.
    """
    refresh_index(store)
    with store.database.read() as db:
        session, watermark = _living(store, sessions.with_name(db, name.strip()), name)
        told_at, _ = graph.seen(db, session.id)
        replayed = replay.taken_in(db)
        moment = store.clock()
        vaults = store.keys
        changes = deeds.since(db, watermark, but=session.id, events=CHANGES)
        edits = graph.by_hand(db, vaults, since=told_at, before=int(moment.timestamp()))
        changed = [
            (deed.ref, _by(db, deed), deed.at) for deed in {deed.ref: deed for deed in changes}.values()
        ]
        changed += [(edit.ref, "hand", edit.at) for edit in edits if not _is_on_its_way(edit)]
        news = [_news(store, db, *item) for item in changed if vault_in(item[0]) in vaults]
    store.ledger.append("session_told", moment, session=session.id, watermark=replayed)
    catch_up_if_free(store)
    return sorted(filter(None, news), key=lambda item: (item.when, item.id))


def unseen_deed(store: Store, ref: str) -> tuple[Deed, str] | None:
    """Return (the last thing another session did to *ref* that this one does not know; its short id)."""
    catch_up_if_free(store)
    watermark = _seen(store)
    with store.database.read() as db:
        last = deeds.last_unseen(db, ref, watermark, events=CHANGES)
        return (last, _by(db, last)) if last and last.session != store.session else None


def _seen(store: Store) -> Watermark:
    """Return the last event of the graph that this session knows, by a report or by reading the graph."""
    with store.database.read() as db:
        row = sessions.with_name(db, store.session) if store.session else None
        _, read_marks = graph.seen(db, store.session)
    watermark = (row.watermark if row else None) or {}
    return {name: max(watermark.get(name, 0), read_marks.get(name, 0)) for name in {*watermark, *read_marks}}


def _living(store: Store, session: SessionRow | None, name: str) -> tuple[SessionRow, Watermark]:
    if session is None or session.watermark is None:
        raise Rejected(f"No session is registered as '{name[:40]}'.", "Call kg_register_session first.")
    if store.now() - session.last > SESSION_TTL:
        raise Rejected(
            f"Session '{name[:40]}' has been silent for more than a day.",
            "Call kg_register_session again; the changes it has not seen are kept for it.",
        )
    return session, session.watermark


def _is_on_its_way(edit: ByHand) -> bool:
    """Tell whether the file is as Daybook wrote it, and only the index does not know that yet."""
    if not (edit.path and edit.written):
        return False
    return files.digest(bytes_at(Path(edit.path))) == edit.written.digest


def _news(store: Store, db: sqlite3.Connection, ref: str, by: str, at: int) -> News | None:
    """Return how the memory *ref* is now; None when it is not knowledge or is put away."""
    key, memory_id = vault_in(ref), id_in(ref)
    vault, row = store.vault(key), selections.with_ref(db, ref)
    assert vault
    news = News(memory_id, vault.level, by, datetime.fromtimestamp(at, UTC))
    if row is None:
        return news
    if row.kind is not Kind.KNOWLEDGE or row.status not in (Status.ACTIVE, Status.SUPERSEDED):
        return None
    accepted = bool(usage.accepted_digests(db, [row.digest]))
    node = node_of(store, row, *graph.particulars(db, [row.row])[row.row], accepted=accepted)
    links = relations.edges(db, store.keys, at=[row.row])
    edges = tuple(edge for link in links if link.outgoing and (edge := edge_of(store, link)))
    superseded = row.superseded_by if row.status is Status.SUPERSEDED else ""
    return replace(news, node=node, superseded_by=superseded, edges=edges)


def _by(db: sqlite3.Connection, deed: Deed) -> str:
    if deed.event == "tidied":
        return "tidy"
    session_row = sessions.with_name(db, deed.session) if deed.session else None
    return sessions.short_of(db, session_row.id if session_row else deed.session) if deed.session else ""
