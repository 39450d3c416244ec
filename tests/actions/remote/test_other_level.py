"""A memory that one machine moves to another level is at that level on the other, which can take it back."""

from pathlib import Path

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.changes.history import history_of
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import is_accepted, read
from mcp_server.actions.files.sync import catch_up, rebuild
from mcp_server.actions.graph.kg import put_node
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.remote.exchange import exchange
from mcp_server.adapters.index.events import usage
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.actions.remote.conftest import Machines
from tests.actions.test_change_level import LONGER, level, of_project
from tests.adapters.project.repositories import git


def cloned(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://git.example/shop.git")
    return folder


def accesses(store: Store, memory_id: str) -> int:
    ref = read(store, memory_id).ref
    with store.database.read() as db:
        return usage.usage_of(db, [ref])[ref].accesses


def test_a_move_travels_and_goes_back_from_the_other_machine(machines: Machines, tmp_path: Path) -> None:
    desk = machines.joined("desk", cloned(tmp_path / "here" / "shop"))
    memory_id = of_project(desk)
    revise(desk, memory_id, Revision(text=LONGER))
    recall(desk, Query("gateway uploads seconds"), given_to="s")
    exchange(desk)
    laptop = machines.joined("laptop", cloned(tmp_path / "there" / "shop"))
    revise(laptop, memory_id, Revision(tags=("uploads",)))
    machines.meet(desk, laptop)

    machines.clock.pass_days(1)
    change_level(desk, memory_id, Level.USER)
    machines.meet(desk, laptop)

    for store in (desk, laptop):
        assert level(store, memory_id) is Level.USER
        assert (accesses(store, memory_id), is_accepted(store, read(store, memory_id))) == (1, True)
        assert len(history_of(store, memory_id).versions) >= 1
        assert len(list(store.home.rglob(f"{memory_id}.md"))) == 1
    machines.clock.pass_days(1)
    undone = undo(laptop, last_change(laptop, memory_id))
    assert undone.restored == [memory_id]
    machines.meet(laptop, desk)
    for store in (desk, laptop):
        assert level(store, memory_id) is Level.PROJECT
        assert accesses(store, memory_id) == 1
        rebuild(store)
        assert accesses(store, memory_id) == 1
        assert last_change(store, memory_id).verb == "undone"


def test_a_use_that_a_machine_noted_before_it_heard_of_the_move_counts(
    machines: Machines, tmp_path: Path
) -> None:
    desk = machines.joined("desk", cloned(tmp_path / "here" / "shop"))
    memory_id = of_project(desk)
    exchange(desk)
    laptop = machines.joined("laptop", cloned(tmp_path / "there" / "shop"))
    for store in (desk, laptop):
        recall(store, Query("gateway uploads seconds"), given_to=f"before at {store.home.name}")
    machines.clock.pass_days(1)
    change_level(desk, memory_id, Level.USER)
    machines.clock.pass_days(1)
    recall(laptop, Query("gateway uploads seconds"), given_to="after")
    revise(laptop, memory_id, Revision(tags=("uploads",)))

    machines.meet(laptop, desk)

    for store in (desk, laptop):
        assert level(store, memory_id) is Level.USER
        assert accesses(store, memory_id) == 3
        assert "revised" in [row.deed.event for row in list_deeds(store, memory_id)]
        rebuild(store)
        assert accesses(store, memory_id) == 3
        assert "revised" in [row.deed.event for row in list_deeds(store, memory_id)]
    machines.clock.pass_days(1)
    change_level(desk, memory_id, Level.PROJECT)
    recall(laptop, Query("gateway uploads seconds"), given_to="later")
    machines.meet(desk, laptop)
    for store in (desk, laptop):
        assert (level(store, memory_id), accesses(store, memory_id)) == (Level.PROJECT, 4)
        rebuild(store)
        assert accesses(store, memory_id) == 4


def test_what_is_put_at_a_name_anew_has_the_uses_of_that_name(machines: Machines, tmp_path: Path) -> None:
    desk = machines.joined("desk", cloned(tmp_path / "here" / "shop"))
    put_node(desk, Level.PROJECT, "gateway", "The gateway drops uploads after 30 seconds.")
    old = read(desk, "gateway").ref
    change_level(desk, "gateway", Level.USER)
    laptop = machines.joined("laptop", cloned(tmp_path / "there" / "shop"))
    machines.clock.pass_days(1)

    put_node(desk, Level.PROJECT, "gateway", "The gateway of this shop takes uploads.")
    desk.ledger.append("used", desk.clock(), refs=[old], session="s")

    machines.meet(desk, laptop)
    for store in (desk, laptop):
        catch_up(store)
        with store.database.read() as db:
            counted = usage.usage_of(db, [old, "user/gateway"])
        assert counted[old].used == 1 and "user/gateway" not in counted
