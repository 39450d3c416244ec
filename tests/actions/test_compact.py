"""Tidying the graph: what is worth least goes to the archive, what nobody links with to the trash."""

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.runs import new_run, perform, undo
from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.graph.kg import put_edge, put_node, recall_node
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.upkeep.consolidate import put_away
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters.index.events.tidying import COMPACTION
from mcp_server.core.graph.graph import Graph
from mcp_server.core.graph.text import TOKEN, measured, rendered
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.doors.shown.runs import line
from mcp_server.store import Store
from tests.conftest import Clock, Open
from tests.memories import status

pytestmark = pytest.mark.usefixtures("steady_use")

PROJECT = Level.PROJECT
TOKENS = 1000


@pytest.fixture
def small(open_here: Open) -> Store:
    """A store whose graph may have a thousand tokens."""
    return open_here(KG_MAX_TOKENS=str(TOKENS)).store()


def put_nodes(store: Store, count: int, *, first: int = 0, clock: Clock | None = None) -> list[str]:
    """Put nodes of about 300 characters, each named unlike the others."""
    names = [f"node-{at:03}" for at in range(first, first + count)]
    for at, name in enumerate(names):
        words = " ".join(f"w{at * 40 + n}" for n in range(50))
        put_node(store.in_session("one-session"), PROJECT, name, f"{name}: {words}")
        if clock:
            clock.pass_days(0.01)
    return names


def graph(store: Store) -> Graph:
    return next(level_graph for level_graph in read_graph(store) if level_graph.level is PROJECT)


@pytest.mark.feature("C-17")
def test_a_graph_that_is_too_long_loses_the_least_valuable_down_to_nine_tenths(
    small: Store, clock: Clock
) -> None:
    names = put_nodes(small, 20, clock=clock)
    put_edge(small, PROJECT, names[0], names[19], "uses")
    put_edge(small, PROJECT, names[1], names[19], "uses")
    clock.pass_days(8)
    put_node(small, PROJECT, names[5], "as good as new")

    report = tidy(small)

    gone = [name for name in names if status(small, name) is Status.ARCHIVED]
    assert report.counts["compaction"] == len(gone) > 0
    assert names[5] not in gone
    assert names[19] not in gone
    assert {read(small, name).memory.archived_reason for name in gone} == {"compacted"}
    assert {read(small, name).path.parent.name for name in gone} == {"archive"}
    tokens = measured(graph(small))
    assert 0.85 * TOKENS * TOKEN < tokens <= 0.9 * TOKENS * TOKEN
    assert "did not fit" not in rendered(graph(small), TOKENS * TOKEN)
    assert "compaction" not in tidy(small).counts


def test_what_was_compacted_can_be_taken_back_and_recalled_and_stays(small: Store, clock: Clock) -> None:
    names = put_nodes(small, 20)
    clock.pass_days(8)
    report = tidy(small)
    gone = {entry.changes[0].id for entry in report.entries}
    name = min(gone)

    recall_node(small, PROJECT, name)
    assert status(small, name) is Status.ACTIVE
    undo(small, report.run)

    assert {status(small, name) for name in names} == {Status.ACTIVE}
    again = {entry.changes[0].id for entry in tidy(small).entries}
    assert not again & gone, "what the person wanted back went away at once"


def test_a_dry_run_tells_and_leaves_everything(small: Store, clock: Clock) -> None:
    names = put_nodes(small, 20)
    clock.pass_days(8)

    report = tidy(small, dry_run=True)

    assert report.counts["compaction"] > 0
    assert "was worth least in a graph over 1,000 tokens" in line(report.entries[0])
    assert {status(small, name) for name in names} == {Status.ACTIVE}


@pytest.mark.feature("C-19")
def test_what_was_changed_within_a_week_is_never_archived_and_the_answer_still_fits(
    small: Store, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    names = put_nodes(small, 30)
    clock.pass_days(6.9)

    report = tidy(small)

    assert "compaction" not in report.counts
    assert [record.getMessage()[:31] for record in caplog.records] == ["The graph of level project has "]
    text = rendered(graph(small), TOKENS * TOKEN)
    assert len(text) <= TOKENS * TOKEN
    assert "more did not fit" in text
    assert {status(small, name) for name in names} == {Status.ACTIVE}

    clock.pass_days(0.2)
    assert "compaction" in tidy(small).counts


def test_a_pinned_node_stays(small: Store, clock: Clock) -> None:
    names = put_nodes(small, 20, clock=clock)
    revise(small, names[0], Revision(pinned=True))
    clock.pass_days(8)

    tidy(small)

    assert status(small, names[0]) is Status.ACTIVE
    assert status(small, names[1]) is Status.ARCHIVED


def test_a_persons_own_memories_never_go_because_there_are_many(small: Store, clock: Clock) -> None:
    ids = []
    for at in range(40):
        words = " ".join(f"m{at * 40 + n}" for n in range(40))
        ids.append(
            remember(small, Draft(f"Own {at} {words}"[:190], f"{at} {words}", type="decision")).memory.id
        )
    node = put_nodes(small, 1)[0]
    for memory_id in ids:
        put_edge(small, PROJECT, node, memory_id, "uses")
    clock.pass_days(8)

    tidy(small)

    assert {status(small, memory_id) for memory_id in ids} == {Status.ACTIVE}


def test_nothing_goes_when_the_person_set_no_limit(open_here: Open, clock: Clock) -> None:
    store = open_here(KG_MAX_TOKENS="0").store()
    put_nodes(store, 80)
    clock.pass_days(30)

    assert "compaction" not in tidy(store).counts


def test_nodes_do_not_age(store: Store, clock: Clock) -> None:
    """Every session reads the whole graph, and that counts as no use."""
    put_node(store, PROJECT, "node", "what is worth connecting")
    plain = remember(store, Draft("Plain", "a note of the usual kind", source="extracted")).memory.id
    clock.pass_days(91)

    tidy(store)

    assert status(store, "node") is Status.ACTIVE
    assert status(store, plain) is Status.ARCHIVED


@pytest.mark.feature("C-02")
def test_an_archived_node_without_links_is_an_orphan_and_goes_to_the_trash_after_its_grace(
    open_here: Open, clock: Clock
) -> None:
    store = open_here(KG_MAX_TOKENS=str(TOKENS), KG_ORPHAN_GRACE_DAYS="20").store()
    names = put_nodes(store, 20, clock=clock)
    put_edge(store, PROJECT, names[19], names[0], "uses")
    put_edge(store, PROJECT, names[18], names[0], "uses")
    clock.pass_days(8)
    tidy(store)
    put_away = [name for name in names if status(store, name) is Status.ARCHIVED]
    linked, lone = names[1], names[2]
    assert {linked, lone} <= set(put_away)
    tidy(store)
    assert status(store, linked) is status(store, lone) is Status.ORPHANED

    put_edge(store, PROJECT, names[19], linked, "uses")
    clock.pass_days(15)
    report = tidy(store)
    assert status(store, linked) is Status.ARCHIVED
    assert f"no orphan: [{linked}]" in "\n".join(line(entry) for entry in report.entries)

    clock.pass_days(6)
    tidy(store)
    trash = {path.stem for path in (store.home / "trash").rglob("*.md")}
    assert lone in trash
    assert linked not in trash


@pytest.mark.feature("3.3-orphan-reset")
def test_an_orphan_that_was_linked_in_between_waits_its_whole_grace_again(
    open_here: Open, clock: Clock
) -> None:
    store = open_here(KG_ORPHAN_GRACE_DAYS="20").store()
    put_node(store, PROJECT, "stays", "stays"), put_node(store, PROJECT, "goes", "goes")
    perform(store, put_away(store, read(store, "goes"), COMPACTION, "compacted", "too long"), new_run(store))
    tidy(store)
    assert status(store, "goes") is Status.ORPHANED
    clock.pass_days(15)
    put_edge(store, PROJECT, "stays", "goes", "uses")
    tidy(store)
    revise(store, "stays", Revision(links=()))
    clock.pass_days(15)
    tidy(store)

    assert status(store, "goes") is Status.ORPHANED
    clock.pass_days(21)
    tidy(store)
    assert not any(path.stem == "goes" for path in store.vaults[-1].root.rglob("*.md"))
