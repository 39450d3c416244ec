"""A remote whose history was taken out, met by machines that were away, or took out a part of theirs."""

import shutil

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.remote.exchange import exchange, repository_of
from mcp_server.actions.remote.rewrite import rewrite_history
from mcp_server.store import Store
from tests.actions.remote.conftest import Machines
from tests.actions.remote.histories import says
from tests.actions.remote.test_deleted_for_good import WORD, holds
from tests.memories import stored


def rewrite(store: Store) -> None:
    rewrite_history(store, timeout=60, patience=0)


def test_a_machine_that_was_away_meets_what_came_after_the_rewriting(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    port, gone, forgotten, deleted = (
        stored(desk, title, text)
        for title, text in (
            ("Port", "The port is 80."),
            ("Vault", f"It is in {WORD}."),
            ("Trees", "Old hosts are called after trees."),
            ("Rivers", "Old hosts are called after rivers."),
        )
    )
    machines.meet(desk, laptop)
    forget(laptop, forgotten)
    new = stored(laptop, "The laptop knows this.")
    forget(desk, gone, forever=True)
    forget(desk, deleted)
    rewrite(desk)
    revise(desk, port, Revision(text="The port is 90."))
    exchange(desk)  # so the commit that stands for the history is no longer the last one
    rewrite(desk)
    after = stored(desk, "The desk learned this afterwards.")
    exchange(desk)

    reports = machines.meet(laptop, desk)

    assert not any(report.trouble or report.clashes for report in reports)
    assert says(desk) == says(laptop)
    assert {path.rpartition("/")[2] for path in says(desk)} == {
        f"{memory_id}.md" for memory_id in (port, new, after)
    }
    for repository in (machines.remote, *(repository_of(store).folder for store in (desk, laptop))):
        assert not holds(repository, WORD), repository


def test_a_machine_that_cut_its_history_follows_another_that_rewrote(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    port = stored(desk, "The port is 80.")
    machines.meet(desk, laptop)
    forget(desk, stored(desk, "The vault", f"It is in {WORD}."), forever=True)
    exchange(desk)
    revise(desk, port, Revision(text="The port is 90."))
    exchange(desk)
    rewrite(laptop)
    stored(laptop, "The laptop knows this.")
    exchange(laptop)
    stored(desk, "The desk knows this.")

    reports = machines.meet(desk, laptop)

    assert [report.trouble for report in reports] == [""] * 4
    assert says(desk) == says(laptop) and len(says(desk)) == 3


def test_what_was_cut_does_not_come_back_with_what_another_machine_made_of_it(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    gone = stored(desk, "The vault", f"It is in {WORD}.")
    machines.meet(desk, laptop)
    exchange(laptop)
    stored(laptop, "The laptop knows this.")
    forget(desk, gone, forever=True)
    exchange(desk)
    assert not holds(repository_of(desk).folder, WORD)

    machines.meet(laptop, desk)

    assert says(desk) == says(laptop)
    assert not holds(repository_of(desk).folder, WORD)


def test_an_empty_remote_gets_what_a_machine_with_a_cut_history_has(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    forget(desk, stored(desk, "The vault", f"It is in {WORD}."), forever=True)
    machines.meet(desk, laptop)
    memory_id = stored(desk, "Deploys start from release.")
    for path in (machines.remote / "refs" / "heads", machines.remote / "objects"):
        shutil.rmtree(path)
        path.mkdir()
    (machines.remote / "packed-refs").unlink(missing_ok=True)

    reports = machines.meet(desk, laptop)

    assert [report.trouble for report in reports] == [""] * 4
    assert read(laptop, memory_id).memory.text == "Deploys start from release."


def test_an_exchange_that_ended_before_it_had_merged_does_not_undo_what_the_remote_says(
    machines: Machines,
) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    machines.meet(desk, laptop)
    of_desk = stored(desk, "The desk knows this.")
    exchange(desk)
    rewrite(desk)
    own = stored(laptop, "The laptop knows this.")
    _fetched_only(laptop, machines)

    machines.meet(laptop, desk)

    assert says(desk) == says(laptop)
    assert {read(desk, memory_id).memory.id for memory_id in (of_desk, own)} == {of_desk, own}


def _fetched_only(store: Store, machines: Machines) -> None:
    """Take in what the remote has, as an exchange does that is killed right afterwards."""
    repository_of(store).fetch(str(machines.remote), timeout=60)


def test_an_earlier_history_that_is_there_again_takes_nothing_away(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    port = stored(desk, "The port is 80.")
    machines.meet(desk, laptop)
    rewrite(desk)
    exchange(laptop)
    shutil.copytree(machines.remote, machines.folder / "backup.git")
    stored(desk, "The desk learned this afterwards.")
    revise(desk, port, Revision(text="The port is 90."))
    machines.meet(desk, laptop)
    rewrite(desk)
    machines.meet(laptop, desk)
    shutil.rmtree(machines.remote)
    (machines.folder / "backup.git").rename(machines.remote)

    reports = machines.meet(desk, laptop)

    assert not any(report.forgotten or report.trouble for report in reports)
    assert says(desk) == says(laptop) and len(says(desk)) == 3
    words = "\n".join(str(text) for text in says(desk).values())
    assert "learned this afterwards" in words and "port is 90" in words
