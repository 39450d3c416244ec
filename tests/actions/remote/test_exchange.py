"""Two machines of one person exchange their memories through a repository between them."""

from pathlib import Path

import pytest

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.contradiction import resolve_contradiction
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.review.review import QUESTION, review
from mcp_server.core.errors import Conflict
from mcp_server.core.search.query import Query
from mcp_server.doors.shown.deeds import words
from mcp_server.doors.shown.history import undone
from mcp_server.store import Store
from tests.actions.remote.conftest import Machines
from tests.memories import stored


def says(store: Store) -> dict[str, bytes]:
    """Return what the files of memories say, by their places."""
    folders = ("knowledge", "sessions", "archive", "candidates", "projects")
    files = [path for name in folders for path in (store.home / name).rglob("*.md")]
    return {path.relative_to(store.home).as_posix(): path.read_bytes() for path in files}


@pytest.mark.feature("B-49", "D-40")
def test_what_one_machine_learns_the_other_finds(machines: Machines) -> None:
    desk = machines.joined("desk")
    laptop = machines.joined("laptop")
    memory_id = stored(desk, "Deploys start from the release branch.")

    exchange(desk)
    report = exchange(laptop)

    assert report.added == (memory_id,)
    assert [hit.id for hit in recall(laptop, Query("deploys release branch")).hits] == [memory_id]
    assert says(laptop) == says(desk)


def test_both_edit_other_words_of_one_memory(machines: Machines) -> None:
    desk = machines.joined("desk")
    memory_id = stored(desk, "The port is 8080.\n\nThe host is alpha.", tags=("net",))
    exchange(desk)
    laptop = machines.joined("laptop")
    revise(desk, memory_id, Revision(text="The port is 9090.\n\nThe host is alpha.", tags=("net", "port")))
    revise(laptop, memory_id, Revision(text="The port is 8080.\n\nThe host is beta.", tags=("net", "host")))

    machines.meet(desk, laptop)

    memory = read(desk, memory_id).memory
    assert memory.text == "The port is 9090.\n\nThe host is beta."
    assert set(memory.tags) == {"net", "port", "host"}
    assert says(laptop) == says(desk)


def test_both_add_occasions_and_more_than_may_be_given_stay(machines: Machines) -> None:
    desk = machines.joined("desk")
    memory_id = stored(desk, "The port is 8080.")
    exchange(desk)
    laptop = machines.joined("laptop")
    of_desk, of_laptop = ([f"{name} of {machine}" for name in "abcdefgh"] for machine in ("desk", "laptop"))
    revise(desk, memory_id, Revision(use_when=tuple(of_desk)))
    revise(laptop, memory_id, Revision(use_when=tuple(of_laptop)))

    machines.meet(desk, laptop)

    assert says(laptop) == says(desk)
    for store in (desk, laptop):
        assert sorted(read(store, memory_id).memory.use_when) == sorted([*of_desk, *of_laptop])
    assert stored(desk, "The port is 8080.", tags=("net",)) == memory_id
    revise(laptop, memory_id, Revision(use_when=tuple(of_laptop)))
    machines.meet(desk, laptop)
    memory = read(desk, memory_id).memory
    assert (memory.tags, memory.use_when) == (("net",), tuple(of_laptop))


def test_both_change_the_same_words_and_the_person_is_asked_once(machines: Machines) -> None:
    desk = machines.joined("desk")
    memory_id = stored(desk, "The port is 8080.", type="decision")
    exchange(desk)
    laptop = machines.joined("laptop")
    revise(desk, memory_id, Revision(text="The port is 9090."))
    revise(laptop, memory_id, Revision(text="The port is 7070."))

    machines.meet(desk, laptop)

    for store in (desk, laptop):
        texts = [path.read_text() for path in (store.home / "knowledge").iterdir() if path.suffix == ".md"]
        assert sum("9090" in text for text in texts) == sum("7070" in text for text in texts) == 1
        assert not any("<<<<" in text for text in texts)
        assert review(store).counts == {QUESTION: 1}
    assert says(laptop) == says(desk)


def test_what_is_settled_on_one_machine_is_not_asked_on_the_other(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    memory_id = stored(desk, "The port is 8080.", type="decision")
    machines.meet(desk, laptop)
    revise(desk, memory_id, Revision(text="The port is 9090."))
    revise(laptop, memory_id, Revision(text="The port is 7070."))
    (beside_id,) = [beside for report in machines.meet(desk, laptop) for beside in report.clashes.values()]

    resolve_contradiction(laptop, beside_id, memory_id, "keep_both")
    machines.meet(laptop, desk)

    assert review(laptop).counts == review(desk).counts == {}


def test_forgetting_on_one_machine_is_forgetting_on_the_other(machines: Machines) -> None:
    desk = machines.joined("desk")
    memory_id = stored(desk, "Old hosts are called after trees.")
    exchange(desk)
    laptop = machines.joined("laptop")
    forget(laptop, memory_id)

    machines.meet(laptop, desk)

    assert says(desk) == says(laptop) == {}
    assert list((desk.home / "trash").rglob(f"{memory_id}.md"))
    restore(desk, memory_id)
    machines.meet(desk, laptop)
    assert read(laptop, memory_id).memory.text == "Old hosts are called after trees."


def test_a_memory_that_was_edited_meanwhile_is_not_forgotten(machines: Machines) -> None:
    desk = machines.joined("desk")
    memory_id = stored(desk, "Old hosts are called after trees.")
    exchange(desk)
    laptop = machines.joined("laptop")
    forget(laptop, memory_id)
    revise(desk, memory_id, Revision(text="Old hosts are called after rivers."))

    machines.meet(laptop, desk)

    assert read(laptop, memory_id).memory.text == "Old hosts are called after rivers."
    assert says(laptop) == says(desk)


def test_an_unreachable_remote_is_no_error_and_nothing_is_lost(machines: Machines, tmp_path: Path) -> None:
    desk = machines.joined("desk")
    laptop = machines.joined("laptop")
    machines.remote.rename(tmp_path / "away")
    memory_id = stored(desk, "Deploys start from the release branch.")

    report = exchange(desk)

    assert "could not be reached" in report.trouble
    (tmp_path / "away").rename(machines.remote)
    machines.meet(desk, laptop)
    assert read(laptop, memory_id).memory.text == "Deploys start from the release branch."


def test_an_undo_of_what_another_machine_did_names_that_machine(machines: Machines) -> None:
    desk = machines.joined("desk")
    memory_id = stored(desk, "The port is 80.")
    exchange(desk)
    laptop = machines.joined("laptop")

    change = last_change(laptop)

    (deed,) = list_deeds(laptop, memory_id)
    assert change.machine and words(deed.deed) == f"remembered, on {change.machine}"
    head = undone(undo(laptop, change), change).head
    assert f"The change was: remembered on your machine {change.machine}, 2026-11-20" in head
    assert last_change(laptop).machine == "", "the undo was made here"


def test_the_last_of_several_changes_between_two_exchanges_is_undone_where_it_was_made(
    machines: Machines,
) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    memory_id = stored(desk, "The port is 80.")
    machines.meet(desk, laptop)
    for port in (81, 82):
        revise(desk, memory_id, Revision(text=f"The port is {port}."))
    machines.meet(desk, laptop)

    with pytest.raises(Conflict, match="its earlier version is not kept on this machine"):
        undo(laptop, last_change(laptop))

    undo(desk, last_change(desk))
    assert read(desk, memory_id).memory.text == "The port is 81."
