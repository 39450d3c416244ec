"""Past conversations leave only where that is wanted, and come only to machines that want them."""

from pathlib import Path

from mcp_server.actions.files.sync import sync
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.set_up import look_ahead
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.actions.remote.conftest import Machines

TEXT = "---\nid: talk\ntitle: About deploys\n---\nDeploys start from the release branch.\n"


def talked(store: Store) -> Path:
    """Let the machine of *store* have kept a conversation; return its file."""
    file = store.home / "conversations" / "talk.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(TEXT, encoding="utf-8")
    sync(store)
    return file


def has_conversation(store: Store) -> bool:
    return (store.home / "conversations" / "talk.md").exists()


def test_without_a_word_they_stay_where_they_are(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop", conversations=True)
    talked(desk)

    machines.meet(desk, laptop)

    assert (has_conversation(desk), has_conversation(laptop)) == (True, False)
    assert "conversations" not in look_ahead(machines.open("desk-2"), str(machines.remote)).files


def test_with_it_they_are_told_of_first_and_found_on_the_other_machine(machines: Machines) -> None:
    desk = machines.open("desk")
    talked(desk)
    assert look_ahead(desk, str(machines.remote), conversations=True).files == {"conversations": 1}

    machines.joined("desk", conversations=True)
    laptop = machines.joined("laptop", conversations=True)

    assert has_conversation(laptop)
    hits = recall(laptop, Query("deploys release branch")).hits
    assert [hit.id for hit in hits] == ["talk"]


def test_a_machine_that_wants_none_takes_none_and_deletes_none(machines: Machines) -> None:
    desk, laptop = machines.joined("desk", conversations=True), machines.joined("laptop")
    talked(desk)

    machines.meet(desk, laptop, desk)

    assert (has_conversation(desk), has_conversation(laptop)) == (True, False)
    assert has_conversation(machines.joined("tablet", conversations=True))


def test_one_that_was_deleted_goes_on_the_other_machine_too(machines: Machines) -> None:
    desk, laptop = (machines.joined(name, conversations=True) for name in ("desk", "laptop"))
    file = talked(desk)
    machines.meet(desk, laptop)
    assert has_conversation(laptop)

    file.unlink()
    exchange(desk)
    exchange(laptop)

    assert not has_conversation(laptop)
    assert list((laptop.home / "trash").rglob("talk.md"))
