"""All links of a store as one network."""

import random

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.graph.kg import put_edge
from mcp_server.actions.graph.picture import draw, find_in, read_network
from mcp_server.actions.memory.link import link
from mcp_server.core.errors import NotFound
from mcp_server.core.graph.graph import artifact_id
from mcp_server.core.graph.network import FILE, Network
from mcp_server.core.memory_parts import Status
from mcp_server.store import Store
from tests.actions.graph.nodes import PROJECT, USER, accepted, archive, node
from tests.actions.link.linked import remembered
from tests.core.made_secrets import ALNUM, any_of


def links(network: Network) -> set[tuple[str, str, str]]:
    name = {network_node.key: network_node.title for network_node in network.nodes}
    return {
        (name[network_link.start], network_link.rel, name[network_link.end]) for network_link in network.links
    }


def test_links_of_every_kind_are_in_it_once(store: Store) -> None:
    deploys = remembered(store, "Deploys")
    pipeline = remembered(store, "Pipeline", "It runs before [[deploys]], see [[Deploys]].")
    link(store, pipeline, deploys, "depends-on", notes=["each push"])
    node(store, "old", "Old way"), node(store, "new", "New way")
    accepted(store, "new")
    put_edge(store, PROJECT, "new", "old", "supersedes")
    put_edge(store, PROJECT, "new", deploys, "contradicts")
    put_edge(store, PROJECT, "new", "src/a.ts:3", "explains")
    put_edge(store, PROJECT, "src/a.ts:3", "src/b.ts", "must-load-before")

    network = read_network(store)

    assert links(network) == {
        ("Pipeline", "relates-to", "Deploys"),
        ("Pipeline", "depends-on", "Deploys"),
        ("New way", "supersedes", "Old way"),
        ("New way", "contradicts", "Deploys"),
        ("New way", "explains", "src/a.ts:3"),
        ("src/a.ts:3", "must-load-before", "src/b.ts"),
    }
    assert len(network.links) == 6
    assert {network_node.title: network_node.status for network_node in network.nodes}[
        "Old way"
    ] is Status.SUPERSEDED
    assert {network_node.id: network_node.type for network_node in network.nodes}[
        artifact_id("src/a.ts:3")
    ] == FILE
    assert {network_link.notes for network_link in network.links} == {(), ("each push",)}
    assert len(draw(network).lines) == 5


def test_what_is_put_away_is_in_it_and_what_does_not_exist_is_not(store: Store) -> None:
    node(store, "a"), node(store, "b")
    put_edge(store, PROJECT, "a", "b", "uses")
    remembered(store, "Nowhere", "It says [[no such memory]].")
    archive(store, "a"), archive(store, "b")

    network = read_network(store)

    assert {network_node.status for network_node in network.nodes} == {Status.ARCHIVED}
    assert len(network.links) == 1
    assert network.unlinked == 1


def test_the_same_id_at_both_levels_is_two_nodes(store: Store) -> None:
    for level in (USER, PROJECT):
        node(store, "port", f"the port of the {level.value}", level=level)
        node(store, f"{level.value}-proxy", level=level)
        put_edge(store, level, f"{level.value}-proxy", "port", "uses")

    network = read_network(store)

    assert sorted(network_node.id for network_node in network.nodes) == [
        "port",
        "port",
        "project-proxy",
        "user-proxy",
    ]
    assert len(find_in(network, store, "port")) == 2
    assert {network_node.level for network_node in network.nodes} == {USER, PROJECT}


def test_all_projects_are_one_network_in_which_links_mean_the_same(store: Store, elsewhere: Store) -> None:
    remembered(store, "Here", "See [[Deploys]].")
    remembered(elsewhere, "Deploys")
    remembered(elsewhere, "There", "See [[deploys]].")
    put_edge(elsewhere, PROJECT, "Deploys", "src/a.ts", "explains")
    node(store, "n"), put_edge(store, PROJECT, "n", "src/a.ts", "explains")
    for opened in (store, elsewhere):
        sync(opened)

    wide = read_network(store, all_projects=True)

    assert ("Here", "relates-to", "Deploys") not in links(wide)
    assert {end for _, rel, end in links(wide) if rel == "relates-to"} == {"Deploys"}
    assert sum(network_node.type == FILE for network_node in wide.nodes) == 2, "a file of each project"
    assert links(read_network(store)) == {("what n says", "explains", "src/a.ts")}


def test_secrets_and_what_cannot_be_seen_are_not_in_a_picture(store: Store) -> None:
    vault = store.vaults[-1].root / "knowledge"
    vault.mkdir(parents=True, exist_ok=True)
    key = any_of(ALNUM, 36, "gh", "p_")(random.Random(1))
    (vault / "k.md").write_text(
        f'---\nid: k\ntitle: "Key {key} \\u202e\\u0007x"\ntype: note\n---\nSee [[l]].\n'
    )
    (vault / "l.md").write_text("---\nid: l\ntitle: Other\ntype: note\n---\nOther.\n")
    sync(store)

    (title,) = (network_node.title for network_node in read_network(store).nodes if network_node.id == "k")

    assert title.startswith("Key ")
    assert key not in title
    assert title.isprintable()


def test_a_memory_is_found_by_its_alias_and_what_has_no_links_says_so(store: Store) -> None:
    remembered(store, "Alone")
    memory_id = remembered(store, "Deploys")
    link(store, remembered(store, "Pipeline"), memory_id)
    network = read_network(store)

    assert find_in(network, store, memory_id) == find_in(network, store, "deploys")
    with pytest.raises(NotFound, match="'Alone' has no links"):
        find_in(network, store, "Alone")
    with pytest.raises(NotFound, match="No memory has the id 'nobody'"):
        find_in(network, store, "nobody")
