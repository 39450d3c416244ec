"""Edges are links, and what is shown of both."""

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.graph.kg import delete_edge, put_edge
from mcp_server.actions.graph.sync import register, sync_graph
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.related import get_related
from mcp_server.actions.memory.remember import remember
from mcp_server.core.errors import NotFound
from mcp_server.core.graph.graph import GraphEdge, artifact_id
from mcp_server.core.graph.mermaid import as_mermaid
from mcp_server.core.graph.text import rendered
from mcp_server.core.memory import Draft, Link
from mcp_server.store import Store
from tests.actions.graph.nodes import PROJECT, USER, A, B, accepted, graph_shown, node
from tests.conftest import Clock

# Edges


@pytest.mark.feature("C-01", "C-26")
def test_an_edge_is_a_link_with_notes_and_putting_again_updates_it(store: Store) -> None:
    node(store, "a"), node(store, "b")

    first = put_edge(store, PROJECT, "a", "b", "depends-on", notes=["why, so"])
    again = put_edge(store, PROJECT, "a", "b", "Depends On")
    other = put_edge(store, PROJECT, "a", "b", "refines")

    assert (first.added, again.added, other.added) == (True, False, True)
    assert read(store, "a").memory.links == (Link("depends-on", "b", ("why, so",)), Link("refines", "b"))
    put_edge(store, PROJECT, "a", "b", "depends-on", notes=["other"])
    assert GraphEdge("a", "depends-on", "b", ("other",)) in graph_shown(store).edges


@pytest.mark.feature("C-09")
def test_ends_may_be_files_on_either_side(store: Store) -> None:
    node(store, "n")
    put_edge(store, PROJECT, "n", "src/a.ts:3", "explains")
    put_edge(store, PROJECT, "src/a.ts", "src/b.ts", "must-load-before", notes=["order"])
    put_edge(store, PROJECT, "src/a.ts", "n", "shows")

    graph = graph_shown(store)

    assert set(graph.edges) == {
        GraphEdge("n", "explains", "src/a.ts:3"),
        GraphEdge("src/a.ts", "must-load-before", "src/b.ts", ("order",)),
        GraphEdge("src/a.ts", "shows", "n"),
    }
    stands = read(store, artifact_id("src/a.ts")).memory
    assert (stands.type, stands.title, stands.touches) == ("reference", "src/a.ts", ("src/a.ts",))
    assert "project level: 1 node, 3 edges" in rendered(graph, 9000)
    for end, rel in (("src/b.ts", "must-load-before"), ("n", "shows")):
        assert delete_edge(store, PROJECT, "src/a.ts", end, rel)
    with pytest.raises(NotFound):
        read(store, stands.id)


@pytest.mark.feature("C-12")
def test_an_edge_may_lead_from_the_project_to_the_person(store: Store) -> None:
    node(store, "measure-first", level=USER)
    node(store, "bench")

    put_edge(store, PROJECT, "bench", "measure-first", "follows")

    assert "- bench --follows--> measure-first" in rendered(graph_shown(store), 9000)
    assert graph_shown(store, USER).edges == ()


@pytest.mark.feature("C-28")
def test_deleting_an_edge_that_is_not_there_deletes_nothing(store: Store) -> None:
    node(store, "a"), node(store, "b")
    put_edge(store, PROJECT, "a", "b", "uses")

    assert not delete_edge(store, PROJECT, "a", "b", "other")
    assert not delete_edge(store, PROJECT, "b", "a", "uses")
    assert not delete_edge(store, PROJECT, "nobody", "a", "uses")
    assert delete_edge(store, PROJECT, "a", "b", "uses")
    assert graph_shown(store).edges == ()


# What is shown


@pytest.mark.feature("C-10")
def test_every_link_is_shown_whoever_made_it_and_wherever_it_is_written(store: Store) -> None:
    def ordinary(title: str, text: str = "", **more: object) -> str:
        return remember(store, Draft(title, text or f"About {title}.", **more)).memory.id  # type: ignore[arg-type]

    ordinary("Nobody links this")
    deploys, pipeline = ordinary("Deploys"), ordinary("Pipeline", "It runs before [[deploys]].")
    rollback = ordinary("Rollback", links=(Link("refines", "gone"),))
    assert {graph_node.id for graph_node in graph_shown(store).nodes} == {deploys, pipeline}

    link(store, rollback, deploys)
    node(store, "n")
    put_edge(store, PROJECT, "n", "Pipeline", "relates-to")

    assert {graph_node.id: graph_node.own for graph_node in graph_shown(store).nodes} == {
        "n": True, deploys: False, pipeline: False, rollback: False
    }  # fmt: skip
    assert set(graph_shown(store).edges) == {
        GraphEdge(pipeline, "relates-to", deploys),
        GraphEdge(rollback, "relates-to", deploys),
        GraphEdge("n", "relates-to", pipeline),
    }
    assert {graph_node.id for graph_node in graph_shown(store, around="Pipeline").nodes} == {
        "n",
        pipeline,
        deploys,
    }
    assert f"- {pipeline} (note): Pipeline" in rendered(graph_shown(store), 9000)
    assert f'{pipeline}: Pipeline"]' in as_mermaid([graph_shown(store)])


def test_what_took_the_place_of_another_has_a_trace_of_it(store: Store) -> None:
    node(store, "old"), node(store, "new")
    accepted(store, "new")

    put_edge(store, PROJECT, "new", "old", "supersedes", notes=["measured"])

    assert [graph_node.id for graph_node in graph_shown(store).nodes] == ["new"]
    assert "new --supersedes--> old (superseded): measured" in rendered(graph_shown(store), 9000)
    assert put_edge(store, PROJECT, "new", "old", "supersedes").added is False
    assert delete_edge(store, PROJECT, "new", "old", "supersedes")
    assert read(store, "new").memory.supersedes == read(store, "new").memory.links == ()


def test_a_link_leads_first_to_what_lies_beside_it(store: Store) -> None:
    for level in (USER, PROJECT):
        node(store, "port", f"the port of the {level.value}", level=level)
        node(store, f"{level.value}-proxy", level=level)
        put_edge(store, level, f"{level.value}-proxy", "port", "uses")

    for level in (USER, PROJECT):
        assert graph_shown(store, level).edges == (GraphEdge(f"{level.value}-proxy", "uses", "port"),)
    assert [edge.near.id for edge in get_related(store, "project-proxy").edges] == ["project-proxy"]
    edge, *more = get_related(store, "port").edges
    assert (edge.other and edge.other.id, more) == ("project-proxy", [])


def test_a_memory_goes_before_a_file_of_its_name(store: Store) -> None:
    pipeline = remember(store, Draft("CI/CD", "It runs on each push.")).memory.id
    node(store, "n")

    put_edge(store, PROJECT, "n", "CI/CD", "uses")
    put_edge(store, PROJECT, "n", "ci/other", "uses")

    assert {edge.end for edge in graph_shown(store).edges} == {pipeline, "ci/other"}


def test_around_an_unknown_memory_is_an_error(store: Store) -> None:
    with pytest.raises(NotFound):
        read_graph(store, around="nobody")


def test_an_index_made_anew_shows_the_same_graph_and_the_same_sessions(store: Store, clock: Clock) -> None:
    register(store.in_session(A), folder="/a")
    node(store.in_session(B), "a", notes=["x"]), node(store.in_session(B), "b")
    put_edge(store.in_session(B), PROJECT, "a", "b", "uses", notes=["y"])
    before = read_graph(store)
    rebuild(store)

    assert read_graph(store) == before
    assert {news.id for news in sync_graph(store, A[:8])} == {"a", "b"}
    clock.pass_days(0.1)
    rebuild(store)
    assert sync_graph(store, A[:8]) == []
