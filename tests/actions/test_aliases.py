"""Links by name: a title, an alias, a former title, in whatever case."""

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.judge.contradiction import get_contradictions
from mcp_server.actions.memory.link import unlink
from mcp_server.actions.memory.related import get_related
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory import Link
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.actions.link.linked import add_by_hand, remembered


def linked(store: Store, memory_id: str) -> list[str]:
    return [edge.other.id if edge.other else "nothing" for edge in get_related(store, memory_id).edges]


def test_links_by_title_survive_another_title(store: Store) -> None:
    deploys = remembered(store, "Deploys")
    other = remembered(store, "Pipeline", "See [[Deploys]].")

    revise(store, deploys, Revision(title="How we release"))

    assert read(store, deploys).memory.aliases == ("Deploys",)
    assert (linked(store, other), linked(store, deploys)) == ([deploys], [other])
    hits = recall(store, Query("pipeline", limit=1, expand=True)).hits
    assert [hit.id for hit in hits] == [other, deploys]

    rebuild(store)

    assert (linked(store, other), linked(store, deploys)) == ([deploys], [other])


def test_a_title_that_nothing_links_to_leaves_no_alias(store: Store) -> None:
    deploys = remembered(store, "Deploys", "This is [[Deploys]] itself.")
    remembered(store, "Pipeline", f"See [[{deploys}]].")

    revise(store, deploys, Revision(title="How we release"))

    assert "aliases" not in read(store, deploys).data.decode()


def test_who_gets_an_old_title_back_needs_no_alias(store: Store) -> None:
    deploys = remembered(store, "Deploys")
    other = remembered(store, "Pipeline", "See [[deploys]].")

    for title in ("How we release", "Releases", "DEPLOYS"):
        revise(store, deploys, Revision(title=title))

    assert read(store, deploys).memory.aliases == ()
    assert linked(store, other) == [deploys]


@pytest.mark.parametrize("first", ["Deploys", "Deploys until March"])
def test_who_bears_a_title_goes_before_who_bore_it(store: Store, first: str) -> None:
    ids = {
        title: remembered(store, title) for title in (first, *{"Deploys", "Deploys until March"} - {first})
    }
    add_by_hand(store, ids["Deploys until March"], "aliases: [Deploys]")
    other = remembered(store, "Pipeline", "See [[Deploys]].")

    assert linked(store, other) == [ids["Deploys"]]
    drawn = [edge.end for graph in read_graph(store, around=other) for edge in graph.edges]
    assert drawn == [ids["Deploys"]]


def test_an_alias_written_by_hand_is_a_name_for_every_link(store: Store) -> None:
    cache = remembered(store, "Cache in the database", "Caches live in Postgres.")
    other = remembered(store, "Cache in memory")
    add_by_hand(store, cache, "aliases: [Café, 'Cache, old']")
    add_by_hand(store, other, "links:\n  - {rel: contradicts, to: CAFÉ}")

    assert linked(store, other) == [cache]
    assert len(get_contradictions(store)) == 1
    assert [edge.end for graph in read_graph(store, around=cache) for edge in graph.edges] == [cache]
    assert unlink(store, other, cache).changed
    assert get_contradictions(store) == []
    assert read(store, other).memory.links == ()


@pytest.mark.parametrize("name", ["Überblick", "ÜBERBLICK", "U\u0308berblick"])
def test_letters_of_any_script_are_compared_in_any_case(store: Store, name: str) -> None:
    overview = remembered(store, "Überblick")
    other = remembered(store, "Start", f"See [[{name}]].")

    assert linked(store, overview) == [other]
    assert linked(store, other) == [overview]


def test_a_rewrite_keeps_the_aliases_of_others(store: Store) -> None:
    webhook = remembered(store, "Webhook")
    add_by_hand(store, webhook, "aliases: [ 'hook' ]   # Obsidian")

    revise(store, webhook, Revision(links=(Link("refines", "billing"),)))

    assert b"\naliases: [ 'hook' ]   # Obsidian\n" in read(store, webhook).data
