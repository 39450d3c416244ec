"""Graphs: those of knowledge-graph, and the reference server's file of entities and relations."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.files.read import read
from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.graph.kg import put_node
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.adapters.foreign import knowledge_graph
from mcp_server.core.memory import Draft, Link
from mcp_server.core.memory_parts import Level, Status
from mcp_server.store import Store
from tests.actions.imports.imported import items, memories, only_import, outcomes
from tests.importing import import_from

# knowledge-graph


def graph(path: Path, *, gist: str = "Sessions are kept in Redis. TTL is a day.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    graph_json = {
        "nodes": {
            "session-store": {
                "id": "session-store",
                "gist": gist,
                "touches": ["src/session.ts:12"],
                "notes": ["was Memcached once"],
            },
            "redis-setup": {"id": "redis-setup", "gist": "Redis runs in the cluster", "_archived": True},
            "Bad Id!": {"id": "Bad Id!", "gist": "A node whose name is no id"},
            "empty": {"id": "empty", "gist": ""},
        },
        "edges": {
            "session-store->redis-setup:depends_on": {
                "from": "session-store",
                "to": "redis-setup",
                "rel": "depends_on",
                "notes": ["needs 6.2"],
            },
            "session-store->src/app.ts:used-by": {
                "from": "session-store",
                "to": "src/app.ts",
                "rel": "used-by",
            },
            "a.ts->b.ts:must-load-before": {"from": "a.ts", "to": "b.ts", "rel": "must-load-before"},
            "gone->b.ts:x": {"from": "gone", "to": "b.ts", "rel": "x"},
            "session-store->empty:x": {"from": "session-store", "to": "empty", "rel": "x"},
        },
        "_meta": {"versions": {"node:session-store": {"v": 2, "ts": 1767323045.5, "session": "ab"}}},
    }
    path.write_text(json.dumps(graph_json), encoding="utf-8")
    return path


def test_a_node_of_a_long_name_keeps_its_edges(tmp_path: Path) -> None:
    long = "n" * 150
    edges = [{"from": long, "to": "short", "rel": "needs"}, {"from": "short", "to": long, "rel": "needs"}]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({"nodes": [{"id": long}, {"id": "short"}], "edges": edges}), encoding="utf-8")

    reading = knowledge_graph.read(path)

    assert {record.key: record.links for record in reading.records} == {
        long: (Link("needs", "short"),),
        "short": (Link("needs", long),),
    }
    assert not reading.remarks


@pytest.mark.feature("C-08")
def test_a_graph_becomes_memories_that_link_to_each_other(store: Store, project: Path) -> None:
    graph(project / ".knowledge/graph.json")

    imports = import_from(store, "knowledge-graph")

    node = read(store, "session-store").memory
    assert (node.title, node.text) == (
        "Sessions are kept in Redis",
        "Sessions are kept in Redis. TTL is a day.",
    )
    assert node.touches == ("src/session.ts:12",)
    assert node.notes == ("was Memcached once",)
    assert set(node.links) == {
        Link("depends-on", "redis-setup", ("needs 6.2",)),
        Link("used-by", "src/app.ts"),
    }
    assert node.updated == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert read(store, "redis-setup").memory.status is Status.ARCHIVED
    assert read(store, "redis-setup").memory.archived_reason == "archived before the import"
    assert memories(store)["A node whose name is no id"].id.startswith("a-node-whose")
    assert outcomes(imports)["empty"] is Outcome.REFUSED
    assert "without its link to empty" in items(imports)["session-store"].why
    assert only_import(imports).remarks == (
        "The edge gone -> b.ts (x) was left: gone is neither a node nor a file.",
    )
    assert set(outcomes(import_from(store, "knowledge-graph")).values()) == {
        Outcome.UNCHANGED,
        Outcome.REFUSED,
    }


def test_an_imported_graph_is_the_graph_that_is_read(store: Store, project: Path) -> None:
    graph(project / ".knowledge/graph.json")

    import_from(store, "knowledge-graph")

    drawn = next(level_graph for level_graph in read_graph(store, level=Level.PROJECT))
    assert {"session-store"} < {node.name for node in drawn.nodes}
    assert "A node whose name is no id" in {node.gist for node in drawn.nodes}  # though nothing leads to it
    edges = {(edge.start, edge.rel, edge.end): edge.notes for edge in drawn.edges}
    assert edges[("session-store", "depends-on", "redis-setup")] == ("needs 6.2",)
    assert ("a.ts", "must-load-before", "b.ts") in edges
    assert not put_node(store, Level.PROJECT, "session-store", "Sessions are kept in Valkey.").ordinary


@pytest.mark.feature("C-11")
def test_the_persons_graph_goes_to_the_person(store: Store, scratch_home: Path, project: Path) -> None:
    graph(scratch_home / ".claude/knowledge/user.json")

    import_from(store, "knowledge-graph")

    assert read(store, "session-store").vault.level is Level.USER


def test_a_node_whose_id_is_taken_gets_another(store: Store, project: Path) -> None:
    remember(store, Draft("Mine", "Something else.", id="session-store"))
    graph(project / ".knowledge/graph.json")

    items_by_key = items(import_from(store, "knowledge-graph"))

    assert read(store, "session-store").memory.title == "Mine"
    assert items_by_key["session-store"].id != "session-store"
    assert memories(store)["Sessions are kept in Redis"].id == items_by_key["session-store"].id


def test_an_older_graph_holds_lists(store: Store, project: Path) -> None:
    path = project / "graph.json"
    nodes = [
        {"id": "a", "gist": "First thing"},
        {"id": "b", "gist": "Second thing"},
        {"id": "a", "gist": "x"},
    ]
    path.write_text(json.dumps({"nodes": nodes, "edges": [{"from": "a", "to": "b", "rel": "r"}]}))

    imports = import_from(store, "knowledge-graph", path)

    assert read(store, "a").memory.links == (Link("r", "b"),)
    assert [item.why for item in only_import(imports).items if item.outcome is Outcome.REFUSED] == [
        "is there twice; the first was used"
    ]


def test_a_link_to_a_node_that_was_forgotten_here_is_no_change(store: Store, project: Path) -> None:
    graph(project / ".knowledge/graph.json")
    import_from(store, "knowledge-graph")
    forget(store, "redis-setup")

    again = outcomes(import_from(store, "knowledge-graph"))

    assert again["session-store"] is Outcome.UNCHANGED
    assert again["redis-setup"] is Outcome.LEFT


def test_a_node_archived_there_later_is_archived_here(store: Store, project: Path) -> None:
    path = graph(project / ".knowledge/graph.json")
    import_from(store, "knowledge-graph")
    graph_json = json.loads(path.read_text())
    graph_json["nodes"]["session-store"]["_archived"] = True
    path.write_text(json.dumps(graph_json))

    again = outcomes(import_from(store, "knowledge-graph"))

    file = read(store, "session-store")
    assert again["session-store"] is Outcome.REVISED
    assert (file.memory.status, file.path.parent.name) == (Status.ARCHIVED, "archive")


# memory-jsonl


def test_entities_and_relations_of_the_reference_server(store: Store, tmp_path: Path) -> None:
    lines = [
        {"type": "entity", "name": "Ada_L", "entityType": "person", "observations": ["Likes tea", "Owns CI"]},
        {"type": "entity", "name": "CI", "entityType": "workflow", "observations": ["Runs on GitHub"]},
        {"type": "entity", "name": "Bare", "entityType": "thing", "observations": []},
        {"type": "relation", "from": "Ada_L", "to": "CI", "relationType": "isResponsible for"},
        {"type": "relation", "from": "Ada_L", "to": "Nobody", "relationType": "knows"},
        {"type": "gossip"},
    ]
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n{broken\n", encoding="utf-8")

    imports = import_from(store, "memory-jsonl", path)

    by_title = memories(store)
    ada, ci = by_title["Ada L"], by_title["CI"]
    assert (ada.text, ada.category) == ("- Likes tea\n- Owns CI", "person")
    assert ada.links == (Link("isresponsible-for", ci.id),)
    assert ci.type == "pattern"
    assert "Bare" in by_title
    assert {key: item.why for key, item in items(imports).items() if item.outcome is Outcome.REFUSED} == {
        "line 5": "links Ada_L to Nobody, one is missing",
        "line 6": "is neither an entity with a name nor a relation",
        "line 7": "is broken JSON",
    }
    assert read(store, ada.id).vault.level is Level.USER
