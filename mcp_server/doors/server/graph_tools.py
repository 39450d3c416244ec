"""Tools for the knowledge graph: read, register, sync, put, delete, recall, ping."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from pydantic import Field

from mcp_server.actions.graph import graph, kg, sync
from mcp_server.actions.graph.kg import Put
from mcp_server.actions.graph.sync import News
from mcp_server.actions.memory.related import at_level
from mcp_server.core.graph.graph import LONG_GIST, Graph, id_of
from mcp_server.core.graph.text import edge_line, level_limits, node_block, rendered
from mcp_server.core.memory_parts import ID, Level, parted
from mcp_server.core.provenance.provenance import MANUAL, source_of
from mcp_server.core.render import counted, one_line, within
from mcp_server.core.secrets.redaction import redact
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.replies import LIMIT
from mcp_server.doors.shown import links

LevelName = Literal["user", "project"]
NodeId = Annotated[str, Field(description="kebab-case, descriptive")]
Given = Annotated[list[str] | str | None, Field(description="if not given, it stays as it was")]
Label = Annotated[str, Field(description="kebab-case: depends-on, must-load-before, …")]
End = "id or title of a node, or path of a file"
SessionName = Annotated[str, Field(description="from kg_register_session; if empty, this session")]


def register(application: Application) -> None:
    """Add the tools of the graph to *application*."""
    session, opened, tool = application.session, application.opened, application.tool

    def known(name: str) -> tuple[str, str]:
        """Return the session's id, and a sentence when nobody has registered it."""
        session_id, registered = sync.session_called(opened.store(), name, session.id)
        unknown = f" No session is registered as '{one_line(name, 40)}': call kg_register_session."
        return session_id, "" if registered else unknown

    @tool(reads=True)
    def kg_read() -> str:
        """Read the knowledge graph of the user and project levels: nodes, edges, and traces of archived
        nodes. Call it when you start work on something that earlier sessions may have learned about."""
        store = opened.store()
        return _graphs(graph.read_graph(store, read_by=session.id), store.settings.kg_max_tokens)

    @tool(reads=True)
    def kg_register_session() -> str:
        """Register this session for kg_sync and return its session_id. Call it once, after kg_read."""
        store = opened.store()
        short = sync.register(store, folder=str(opened.folder))
        session.id = session.id or sync.session_called(store, short, "")[0]  # its own puts are no news
        return short

    @tool(reads=True)
    def kg_sync(session_id: str) -> str:
        """List what other sessions changed since this session's last kg_sync, each change once. Call it
        before you put nodes or edges while other sessions may be working."""
        return _news(sync.sync_graph(opened.store(), session_id))

    @tool()
    def kg_put_node(
        context: Context[Any, Any],
        level: LevelName,
        id: NodeId,
        gist: Annotated[str, Field(description="the insight in a sentence or two, at most 300 characters")],
        touches: Given = None,
        notes: Given = None,
        session_id: SessionName = "",
    ) -> str:
        """Add a node to the knowledge graph, or update the node with that id: a pattern, a principle, an
        insight worth connecting. Prefer a new edge between existing nodes to a new node."""
        mine, unknown = known(session_id)
        asking = application.consent(context, at_level(opened.store(), Level(level)))
        asking.before_restoring(id)
        if ID.fullmatch(id) and source_of(gist, session.prompt) != MANUAL:
            asking.before_rewording(id, gist)
        was = kg.shown_before(opened.store(), Level(level), id)
        outcome = kg.put_node(
            opened.store().in_session(mine),
            Level(level),
            id,
            gist,
            touches=None if touches is None else parted(touches),
            notes=_notes(notes),
            source=source_of(gist, session.prompt),
        )
        application.judged(outcome.id, was=was)
        return _put(outcome, level) + unknown

    @tool()
    def kg_put_edge(
        context: Context[Any, Any],
        level: LevelName,
        from_: Annotated[str, Field(alias="from", description=End)],
        to: Annotated[str, Field(description=End)],
        rel: Label,
        notes: Given = None,
        session_id: SessionName = "",
    ) -> str:
        """Link two nodes, a node and a file, or two files in the knowledge graph, or update that edge's
        notes. The label 'supersedes' removes the target from the graph."""
        mine, unknown = known(session_id)
        edge_level = Level(level)
        application.consent(context, opened.store()).before_replacing(from_, to, rel, level=edge_level)
        outcome = kg.put_edge(
            opened.store().in_session(mine), edge_level, from_, to, rel, notes=_notes(notes)
        )
        application.judged(id_of(outcome.source))
        edge = f"{one_line(outcome.source, 200)} --{outcome.rel}--> {one_line(outcome.target, 200)}"
        note = links.note(outcome.source, outcome.became)
        return f"{edge}: {_became(outcome.added)} ({level} level). {note}".rstrip() + unknown

    @tool(destroys=True)
    def kg_delete_node(context: Context[Any, Any], level: LevelName, id: str) -> str:
        """Delete a node of the knowledge graph and its edges; restore_memory brings the node back. Ask the
        person first, unless you put the node in this session."""
        application.consent(context, at_level(opened.store(), Level(level))).before_forgetting(id)
        outcome = kg.delete_node(opened.store(), Level(level), id)
        edges = [f"{node_id} --{one_line(rel, 60)}--> {outcome.id}" for node_id, rel in outcome.edges]
        removed = f" Removed with it: {'; '.join(edges[:20])}{' …' if edges[20:] else ''}." if edges else ""
        back = "restore_memory brings the node back" + (", not those edges" if edges else "")
        return f"{outcome.id}: deleted; {back}.{removed}"

    @tool(destroys=True)
    def kg_delete_edge(
        context: Context[Any, Any],
        level: LevelName,
        from_: Annotated[str, Field(alias="from", description=End)],
        to: str,
        rel: str,
    ) -> str:
        """Delete an edge of the knowledge graph; the nodes at its ends stay."""
        edge_level = Level(level)
        application.consent(context, opened.store()).before_unlinking(from_, to, rel, level=edge_level)
        deleted = kg.delete_edge(opened.store(), edge_level, from_, to, rel)
        edge = f"{one_line(from_, 200)} --{one_line(rel, 60)}--> {one_line(to, 200)}"
        return f"{edge}: deleted." if deleted else f"{edge}: no such edge; nothing was deleted."

    @tool()
    def kg_recall(context: Context[Any, Any], level: LevelName, id: str, session_id: SessionName = "") -> str:
        """Bring an archived node back into the knowledge graph; kg_read shows a trace of each one."""
        mine, unknown = known(session_id)
        application.consent(context, opened.store()).before_restoring(id, level=Level(level))
        file = kg.recall_node(opened.store().in_session(mine), Level(level), id)
        store = opened.store()
        around = graph.read_graph(store, level=Level(level), around=file.memory.id)
        return (
            f"{file.memory.id}: back in the graph.{unknown}\n{_graphs(around, store.settings.kg_max_tokens)}"
        )

    @tool(reads=True)
    def kg_ping() -> str:
        """Show whether the knowledge graph works, how large it is, and how many sessions are registered."""
        health = graph.ping(opened.store())
        sizes = [
            f"{level.value} level: {counted(nodes, 'node')}, {counted(edges, 'edge')},"
            f" {counted(traces, 'memory trace')}"
            for level, nodes, edges, traces in health.levels
        ]
        broken = (
            f"{counted(health.unreadable, 'file')} not taken in: see daybook status"
            if health.unreadable
            else "ok"
        )
        return "\n".join([broken, *sizes, f"active sessions: {health.sessions}"])


def _graphs(graphs: Sequence[Graph], most_tokens: int) -> str:
    if not any(level_graph.nodes or level_graph.edges for level_graph in graphs):
        return "The graph is empty. Add to it with kg_put_node and kg_put_edge."
    texts: list[str] = []
    for level_graph in graphs:
        texts.append(rendered(level_graph, level_limits(most_tokens, texts)))
    return "\n\n".join(texts)


def _put(outcome: Put, level: str) -> str:
    lines = [f"{outcome.id}: {_became(outcome.added)} ({level} level)."]
    if outcome.came_back:
        lines.append("It came back from the archive.")
    if outcome.ordinary:
        lines.append("It is an ordinary memory: its title is now the gist, and its text did not change.")
    if len(outcome.gist) > LONG_GIST:
        lines.append(
            f"The gist has {len(outcome.gist)} characters; at most {LONG_GIST} are easier to read:"
            " split it into nodes and edges."
        )
    if old := outcome.overwritten:
        by = f"session {old.by}" if old.by not in ("", "tidy") else old.by or "somebody"
        lines.append(f"{by} had changed it at {old.at:%Y-%m-%d %H:%M} UTC, and you had not seen that:")
        lines.append(f"was: {one_line(redact(old.gist), 1000)}")
        lines.append(f"now: {one_line(redact(outcome.gist), 1000)}")
    return "\n".join(lines)


def _became(added: bool) -> str:
    return "added" if added else "updated"


def _news(news: Sequence[News]) -> str:
    if not news:
        return "No other session changed anything."
    lines, left_out = within([_one_news(change) for change in news], LIMIT - 600)
    unlisted = one_line(", ".join(change.id for change in news[len(lines) :]), 400)
    more = [f"({left_out} more did not fit; read_memory shows them: {unlisted})"] if left_out else []
    return "\n".join([f"{counted(len(news), 'change')} by others:", *lines, *more])


def _one_news(change: News) -> str:
    by = change.by if change.by in ("hand", "tidy") else f"session {change.by}" if change.by else "somebody"
    head = f"[{change.level.value}, by {by}, {change.when:%Y-%m-%d %H:%M} UTC]"
    if change.node is None:
        return f"- {change.id}: deleted {head}"
    if change.superseded_by:
        return f"- {change.id}: superseded by {one_line(change.superseded_by, 80)} {head}"
    first, *others = (node_block(change.node) or f"- {one_line(change.node.name, 200)}").split("\n")
    lines = [f"{first} {head}", *others, *(f"  {edge_line(edge)}" for edge in change.edges[:20])]
    return "\n".join(lines)


def _notes(notes: list[str] | str | None) -> list[str] | None:
    """Return notes as a list; one text is one note, commas and all."""
    if isinstance(notes, str):
        return [notes] if notes.strip() else []
    return notes
