"""What a link leaves alone, and the room that a file has for links."""

from dataclasses import replace

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.remember import reinstate, remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import frontmatter_lines
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft, Link
from mcp_server.core.memory_parts import Status
from mcp_server.store import Store
from tests.actions.graph.nodes import A, B, accepted, node


def test_what_was_active_again_stays_so_when_more_is_superseded(store: Store) -> None:
    for name in ("first", "second", "new"):
        node(store, name)
    accepted(store, "new")
    link(store, "new", "first", "supersedes")
    reinstate(store, "first", by="new")

    link(store, "new", "second", "supersedes")

    assert [read(store, name).memory.status for name in ("first", "second")] == [
        Status.ACTIVE,
        Status.SUPERSEDED,
    ]


def fill(store: Store, name: str, bytes_left: int) -> None:
    """Let the frontmatter of a node come to all that can be read but *left* bytes."""
    file = read(store, name)
    line = b"tags: []"
    size = file.data.index(b"---", 4) - 4
    comment = b"# " + b"x" * (frontmatter_lines.MAX_BYTES - bytes_left - size - 3) + b"\n"
    file.path.write_bytes(file.data.replace(line, comment + line, 1))
    sync(store)
    assert read(store, name).memory == file.memory


def test_a_hub_has_room_for_hundreds_of_edges_and_is_archived_all_the_same(store: Store) -> None:
    links = tuple(Link("depends-on", f"a-node-with-quite-a-long-name-{number:03}") for number in range(299))
    hub = remember(store, Draft("Hub", "what many depend on", links=links)).memory.id
    last = node(store, "a-node-with-quite-a-long-name-299")

    link(store, hub, last, "depends-on")

    assert read(store, hub).memory.links == (*links, Link("depends-on", last))
    assert revise(store, hub, Revision(superseded_by=last)).memory.superseded_by == last


def test_a_full_hub_refuses_an_edge_before_anything_is_done(store: Store) -> None:
    node(store, A), node(store, B)
    fill(store, A, 2_000)
    before = read(store, A).data

    with pytest.raises(Rejected, match=rf"'{A}' has no room for another link\."):
        link(store, A, B, "depends-on")
    with pytest.raises(Rejected, match="no room for another link"):
        link(store, A, B, "supersedes")

    assert read(store, A).data == before
    assert read(store, B).memory.status is Status.ACTIVE
    put_away = Revision(status=Status.SUPERSEDED, superseded_by=B, archived_reason="compacted", pinned=True)
    assert revise(store, A, put_away).memory.status is Status.SUPERSEDED


def test_what_cannot_be_superseded_is_refused_before_anything_is_done(store: Store) -> None:
    node(store, A), node(store, B)
    fill(store, B, 20)
    files = {path: path.read_bytes() for path in store.home.rglob("*.md")}

    with pytest.raises(Rejected, match="cannot be written"):
        link(store, A, B, "supersedes")
    with pytest.raises(Rejected, match="cannot be written"):
        remember(store, Draft("Instead", "of that.", supersedes=(B,)))

    assert {path: path.read_bytes() for path in store.home.rglob("*.md")} == files
    assert read(store, B).memory.status is Status.ACTIVE


def test_a_change_of_links_leaves_what_others_wrote_meanwhile(store: Store) -> None:
    node(store, "a"), node(store, "b")
    file = read(store, "a")
    revise(store, "a", Revision(text="changed by hand of another tool"))

    link(store, "a", "b", "uses")

    assert read(store, "a").memory == replace(
        file.memory,
        text="changed by hand of another tool",
        links=(Link("uses", "b"),),
        updated=read(store, "a").memory.updated,
    )
