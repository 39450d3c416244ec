"""Sessions that put into the same graph hear of each other."""

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.graph.graph import ping, read_graph
from mcp_server.actions.graph.kg import delete_node, put_edge, put_node
from mcp_server.actions.graph.sync import register, session_called, sync_graph
from mcp_server.actions.memory.forget import forget
from mcp_server.core.errors import Rejected
from mcp_server.core.graph.graph import GraphEdge
from mcp_server.store import Store
from tests.actions.graph.nodes import PROJECT, A, B, accepted, archive, node
from tests.conftest import Clock, Open


@pytest.mark.feature("C-23")
def test_a_session_has_one_short_id_whoever_asks(store: Store, open_here: Open) -> None:
    first = register(store.in_session("3f2a9c11-aaaa-bbbb-cccc-000000000000"), folder="/a")
    other_process = open_here().store()
    again = register(other_process.in_session("3f2a9c11-aaaa-bbbb-cccc-000000000000"), folder="/a")
    unnamed = register(store, folder="/a")

    assert first == again == "3f2a9c11"
    assert len(unnamed) == 8 != first
    assert len(register(store.in_session("not a uuid"), folder="/a")) == 8
    assert session_called(store, first, "") == ("3f2a9c11-aaaa-bbbb-cccc-000000000000", True)
    assert ping(store).sessions == 3


@pytest.mark.feature("C-16")
def test_changes_by_others_are_told_once_and_ones_own_never(store: Store, clock: Clock) -> None:
    a, b = register(store.in_session(A), folder="/a"), register(store.in_session(B), folder="/b")
    node(store.in_session(A), "of-a"), node(store.in_session(B), "of-b")
    put_edge(store.in_session(A), PROJECT, "of-a", "of-b", "uses", notes=["n"])

    (news,) = sync_graph(store, b)

    assert (news.id, news.by, news.when, news.level) == ("of-a", a, clock(), PROJECT)
    assert news.edges == (GraphEdge("of-a", "uses", "of-b", ("n",)),)
    assert sync_graph(store, b) == []
    assert [news.id for news in sync_graph(store, a)] == ["of-b"]


@pytest.mark.feature("C-24", "3.3-sync-since-start")
def test_told_is_what_changed_since_the_last_sync_not_since_the_start(store: Store) -> None:
    register(store.in_session(A), folder="/a")
    b = register(store.in_session(B), folder="/b")
    node(store.in_session(A), "first")
    assert [news.id for news in sync_graph(store, b)] == ["first"]
    node(store.in_session(A), "second")
    assert [news.id for news in sync_graph(store, b)] == ["second"]


def test_what_was_there_before_a_session_registered_is_not_news(store: Store, clock: Clock) -> None:
    node(store.in_session(A), "n")
    b = register(store.in_session(B), folder="/b")
    clock.pass_days(0.01)

    assert sync_graph(store, b) == []


def test_deletions_are_told_and_what_was_put_away_is_hidden(store: Store) -> None:
    for name in ("gone", "away", "old", "new"):
        node(store.in_session(A), name)
    b = register(store.in_session(B), folder="/b")
    delete_node(store.in_session(A), PROJECT, "gone")
    node(store.in_session(A), "away", "changed")
    archive(store, "away")
    accepted(store, "new")
    put_edge(store.in_session(A), PROJECT, "new", "old", "supersedes")

    news = {change.id: change for change in sync_graph(store, b)}

    assert news.keys() == {"gone", "new", "old"}
    assert news["gone"].node is None
    assert news["old"].superseded_by == "new"


@pytest.mark.parametrize("days", [0.01, 0], ids=["later", "in the second of a tool's write"])
def test_an_edit_by_hand_is_told_once_and_ones_own_write_is_not(
    store: Store, clock: Clock, days: float
) -> None:
    b = register(store.in_session(B), folder="/b")
    for name in ("edited", "removed", "kept"):
        node(store.in_session(B), name)
    clock.pass_days(days)
    path = read(store, "edited").path
    path.write_bytes(path.read_bytes().replace(b"what edited says", b"what a person says"))
    read(store, "removed").path.unlink()
    sync(store)
    clock.pass_days(0.001)

    news = {change.id: (change.by, change.node and change.node.gist) for change in sync_graph(store, b)}

    assert news == {"edited": ("hand", "what a person says"), "removed": ("hand", None)}
    clock.pass_days(0.001)
    assert sync_graph(store, b) == []


def test_what_tools_put_away_or_wrote_is_nobodys_edit(store: Store, clock: Clock) -> None:
    for name in ("gone", "erased", "linked", "revised"):
        node(store.in_session(B), name)
    b = register(store.in_session(B), folder="/b")
    clock.pass_days(0.001)
    delete_node(store.in_session(B), PROJECT, "gone")
    forget(store.in_session(B), "erased", forever=True)
    put_edge(store.in_session(B), PROJECT, "linked", "revised", "uses")
    node(store.in_session(B), "revised", "what it says now")
    clock.pass_days(0.001)

    assert sync_graph(store, b) == []


def test_a_session_lives_a_day_and_is_not_told_less_after_it_registers_again(
    store: Store, clock: Clock
) -> None:
    a = register(store.in_session(A), folder="/a")
    clock.pass_days(0.9)
    assert sync_graph(store, a) == []
    clock.pass_days(0.9)
    sync_graph(store, a)
    node(store.in_session(B), "n")
    clock.pass_days(1.1)

    with pytest.raises(Rejected, match="more than a day"):
        sync_graph(store, a)
    assert ping(store).sessions == 0
    assert register(store.in_session(A), folder="/a") == a
    assert [news.id for news in sync_graph(store, a)] == ["n"]


def test_an_unknown_session_is_told_what_to_do(store: Store) -> None:
    with pytest.raises(Rejected) as refused:
        sync_graph(store, "nobody00")

    assert "kg_register_session" in refused.value.hint
    assert session_called(store, "nobody00", A) == ("nobody00", False)
    assert session_called(store, "", A) == (A, True)


def test_who_overwrites_what_another_wrote_is_told_both(store: Store, clock: Clock) -> None:
    a, _ = register(store.in_session(A), folder="/a"), register(store.in_session(B), folder="/b")
    node(store.in_session(A), "n", "first")
    clock.pass_days(0.5)

    overwritten = put_node(store.in_session(B), PROJECT, "n", "second").overwritten

    assert overwritten
    assert (overwritten.gist, overwritten.by) == ("first", a)
    assert (clock() - overwritten.at).total_seconds() == 43_200
    assert put_node(store.in_session(B), PROJECT, "n", "third").overwritten is None


@pytest.mark.parametrize("look", ["read", "sync"])
def test_who_has_seen_what_another_wrote_is_not_told(store: Store, look: str) -> None:
    b = register(store.in_session(B), folder="/b")
    node(store.in_session(A), "n", "first")
    if look == "read":
        read_graph(store, read_by=B)
    else:
        sync_graph(store, b)

    assert put_node(store.in_session(B), PROJECT, "n", "second").overwritten is None
    overwritten = put_node(store.in_session(A), PROJECT, "n", "third").overwritten
    assert overwritten
    assert overwritten.gist == "second"


def test_a_session_that_only_a_hook_told_of_has_to_register_before_it_is_told(store: Store) -> None:
    node(store.in_session("other"), "before")
    store.ledger.append("session_started", store.clock(), session="mine", short="mine0000")
    catch_up(store)

    with pytest.raises(Rejected, match="No session is registered"):
        sync_graph(store, "mine0000")

    assert register(store.in_session("mine"), folder="") == "mine0000"
    assert sync_graph(store, "mine0000") == []
