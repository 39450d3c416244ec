"""Edges are links, and what is shown of both."""

from dataclasses import replace

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.graph.edge import delete_edge, put_edge
from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.graph.sync import register, sync_graph
from mcp_server.actions.memory.remember import reinstate, remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import frontmatter_lines
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.graph.graph import Edge, artifact_id
from mcp_server.core.graph.text import rendered
from mcp_server.core.memory import Draft, Link, Status
from mcp_server.store import Store
from tests.actions.graph.nodes import PROJECT, USER, A, B, accepted, node, shown
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
    assert Edge("a", "depends-on", "b", ("other",)) in shown(store).edges


def test_an_unknown_end_is_refused_with_what_looks_like_it(store: Store) -> None:
    node(store, "auth-flow"), node(store, "session-store")

    with pytest.raises(NotFound) as refused:
        put_edge(store, PROJECT, "auth-flow", "sesion-store", "uses")
    assert "session-store" in refused.value.hint
    with pytest.raises(NotFound):
        put_edge(store, PROJECT, "nobody", "src/a.ts", "uses")
    with pytest.raises(Rejected, match="itself"):
        put_edge(store, PROJECT, "auth-flow", "auth-flow", "uses")


@pytest.mark.feature("C-09")
def test_ends_may_be_files_on_either_side(store: Store) -> None:
    node(store, "n")
    put_edge(store, PROJECT, "n", "src/a.ts:3", "explains")
    put_edge(store, PROJECT, "src/a.ts", "src/b.ts", "must-load-before", notes=["order"])
    put_edge(store, PROJECT, "src/a.ts", "n", "shows")

    graph = shown(store)

    assert set(graph.edges) == {
        Edge("n", "explains", "src/a.ts:3"),
        Edge("src/a.ts", "must-load-before", "src/b.ts", ("order",)),
        Edge("src/a.ts", "shows", "n"),
    }
    stands = read(store, artifact_id("src/a.ts")).memory
    assert (stands.type, stands.title, stands.touches) == ("reference", "src/a.ts", ("src/a.ts",))
    assert "project level: 1 node, 3 edges" in rendered(graph, 9000)
    for end, rel in (("src/b.ts", "must-load-before"), ("n", "shows")):
        assert delete_edge(store, PROJECT, "src/a.ts", end, rel)
    with pytest.raises(NotFound):
        read(store, stands.id)


def test_supersedes_takes_the_road_of_remember(store: Store, clock: Clock) -> None:
    node(store, "old"), node(store, "new")
    accepted(store, "new")
    clock.pass_days(2)

    put_edge(store, PROJECT, "new", "old", "supersedes", notes=["measured"])

    old, new = read(store, "old").memory, read(store, "new").memory
    assert (old.status, old.superseded_by, old.valid_to) == (Status.SUPERSEDED, "new", clock())
    assert new.supersedes == ("old",)
    assert [each.id for each in shown(store).nodes] == ["new"]
    assert "new --supersedes--> old (superseded): measured" in rendered(shown(store), 9000)
    assert put_edge(store, PROJECT, "new", "old", "supersedes").added is False
    assert delete_edge(store, PROJECT, "new", "old", "supersedes")
    assert read(store, "new").memory.supersedes == read(store, "new").memory.links == ()
    assert read(store, "old").memory.status is Status.ACTIVE


def test_what_was_active_again_stays_so_when_more_is_superseded(store: Store) -> None:
    for name in ("first", "second", "new"):
        node(store, name)
    accepted(store, "new")
    put_edge(store, PROJECT, "new", "first", "supersedes")
    reinstate(store, "first", by="new")

    put_edge(store, PROJECT, "new", "second", "supersedes")

    assert [read(store, name).memory.status for name in ("first", "second")] == [
        Status.ACTIVE,
        Status.SUPERSEDED,
    ]


def test_two_do_not_supersede_each_other_nor_a_file(store: Store) -> None:
    node(store, "old"), node(store, "new")
    put_edge(store, PROJECT, "new", "old", "supersedes")

    with pytest.raises(Rejected, match="supersedes 'old' already"):
        put_edge(store, PROJECT, "old", "new", "supersedes")
    with pytest.raises(Rejected, match="A file cannot"):
        put_edge(store, PROJECT, "new", "src/a.ts", "supersedes")

    assert read(store, "new").memory.status is Status.ACTIVE
    assert read(store, "new").memory.supersedes == ("old",)


def fill(store: Store, name: str, left: int) -> None:
    """Let the frontmatter of a node come to all that can be read but *left* bytes."""
    found = read(store, name)
    line = b"tags: []"
    size = found.data.index(b"---", 4) - 4
    comment = b"# " + b"x" * (frontmatter_lines.MAX_BYTES - left - size - 3) + b"\n"
    found.path.write_bytes(found.data.replace(line, comment + line, 1))
    sync(store)
    assert read(store, name).memory == found.memory


def test_a_hub_has_room_for_hundreds_of_edges_and_is_archived_all_the_same(store: Store) -> None:
    hub = node(store, "hub")
    ends = [node(store, f"a-node-with-quite-a-long-name-{number:03}") for number in range(300)]
    for end in ends:
        put_edge(store, PROJECT, hub, end, "depends-on")

    assert len(read(store, hub).memory.links) == 300
    assert revise(store, hub, Revision(superseded_by=ends[0])).memory.superseded_by == ends[0]


def test_a_full_hub_refuses_an_edge_before_anything_is_done(store: Store) -> None:
    node(store, A), node(store, B)
    fill(store, A, 2_000)
    before = read(store, A).data

    with pytest.raises(Rejected, match=rf"'{A}' has no room for one more link\."):
        put_edge(store, PROJECT, A, B, "depends-on")
    with pytest.raises(Rejected, match="no room for one more link"):
        put_edge(store, PROJECT, A, B, "supersedes")

    assert read(store, A).data == before
    assert read(store, B).memory.status is Status.ACTIVE
    put_away = Revision(status=Status.SUPERSEDED, superseded_by=B, archived_reason="compacted", pinned=True)
    assert revise(store, A, put_away).memory.status is Status.SUPERSEDED


def test_what_cannot_be_superseded_is_refused_before_anything_is_done(store: Store) -> None:
    node(store, A), node(store, B)
    fill(store, B, 20)
    files = {path: path.read_bytes() for path in store.home.rglob("*.md")}

    with pytest.raises(Rejected, match="cannot be written"):
        put_edge(store, PROJECT, A, B, "supersedes")
    with pytest.raises(Rejected, match="cannot be written"):
        remember(store, Draft("Instead", "of that.", supersedes=(B,)))

    assert {path: path.read_bytes() for path in store.home.rglob("*.md")} == files
    assert read(store, B).memory.status is Status.ACTIVE


@pytest.mark.feature("C-12")
def test_an_edge_may_lead_from_the_project_to_the_person(store: Store) -> None:
    node(store, "measure-first", level=USER)
    node(store, "bench")

    put_edge(store, PROJECT, "bench", "measure-first", "follows")

    assert "- bench --follows--> measure-first" in rendered(shown(store), 9000)
    assert shown(store, USER).edges == ()


@pytest.mark.feature("C-28")
def test_deleting_an_edge_that_is_not_there_deletes_nothing(store: Store) -> None:
    node(store, "a"), node(store, "b")
    put_edge(store, PROJECT, "a", "b", "uses")

    assert not delete_edge(store, PROJECT, "a", "b", "other")
    assert not delete_edge(store, PROJECT, "b", "a", "uses")
    assert not delete_edge(store, PROJECT, "nobody", "a", "uses")
    assert delete_edge(store, PROJECT, "a", "b", "uses")
    assert shown(store).edges == ()


def test_a_change_of_links_leaves_what_others_wrote_meanwhile(store: Store) -> None:
    node(store, "a"), node(store, "b")
    found = read(store, "a")
    revise(store, "a", Revision(text="changed by hand of another tool"))

    put_edge(store, PROJECT, "a", "b", "uses")

    assert read(store, "a").memory == replace(
        found.memory,
        text="changed by hand of another tool",
        links=(Link("uses", "b"),),
        updated=read(store, "a").memory.updated,
    )


# What is shown


@pytest.mark.feature("C-10")
def test_ordinary_memories_are_shown_where_they_are_linked(store: Store) -> None:
    def ordinary(title: str, **more: object) -> str:
        return remember(store, Draft(title, f"{title} and more", **more)).memory.id  # type: ignore[arg-type]

    alone = ordinary("Nobody links this")
    near = ordinary("A node links this")
    automatic = ordinary("Daybook links this", links=(Link("relates-to", alone),))
    one = ordinary("One of two", links=(Link("depends-on", alone),))
    node(store, "n")
    put_edge(store, PROJECT, "n", near, "relates-to")

    found = {each.id: each.own for each in shown(store).nodes}

    assert found == {"n": True, near: False, one: False, alone: False}
    assert automatic not in found
    assert {each.id for each in shown(store, around="n").nodes} == {"n", near}
    assert f"- {near} (note): A node links this" in rendered(shown(store), 9000)


def test_ten_thousand_ordinary_memories_make_no_graph(store: Store) -> None:
    remember(store, Draft("Plain", "A fact of the usual kind."))

    assert [graph.nodes for graph in read_graph(store)] == [(), ()]


def test_around_an_unknown_memory_is_an_error(store: Store) -> None:
    with pytest.raises(NotFound):
        read_graph(store, around="nobody")


def test_an_index_made_anew_shows_the_same_graph_and_the_same_sessions(store: Store, clock: Clock) -> None:
    register(store, A, folder="/a")
    node(store, "a", notes=["x"], session=B), node(store, "b", session=B)
    put_edge(store, PROJECT, "a", "b", "uses", notes=["y"], session=B)
    before = read_graph(store)
    rebuild(store)

    assert read_graph(store) == before
    assert {one.id for one in sync_graph(store, A[:8])} == {"a", "b"}
    clock.pass_days(0.1)
    rebuild(store)
    assert sync_graph(store, A[:8]) == []
