"""What travels with a memory: whose word it is, what was done to it; and what never leaves."""

import shutil
from datetime import timedelta

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.changes.history import history_of
from mcp_server.actions.files.read import is_shown, read
from mcp_server.actions.memory.repository import accept
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.remote.set_up import state_of
from mcp_server.actions.status.status import status
from mcp_server.adapters.index.events import transcripts
from mcp_server.adapters.index.memories import selections
from mcp_server.core.memory_parts import Level
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.doors.shown.deeds import history as shown_deeds
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.store import Store
from tests.actions.remote.conftest import Machines
from tests.actions.remote.histories import says
from tests.memories import stored

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def accepted(store: Store, memory_id: str) -> None:
    with store.database.read() as db:
        row = selections.with_ref(db, f"user/{memory_id}")
    assert row
    accept(store, [row])


def test_what_was_accepted_here_is_accepted_there_and_what_waits_waits(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    yes = stored(desk, "Deploys start from release.", source=ASSISTANT, level=Level.USER)
    waits = stored(desk, "The staging host is birch.", source=ASSISTANT, level=Level.USER)
    accepted(desk, yes)

    machines.meet(desk, laptop)

    assert is_shown(laptop, read(laptop, yes))
    assert not is_shown(laptop, read(laptop, waits))


def test_what_both_changed_is_accepted_when_both_states_were(machines: Machines) -> None:
    desk = machines.joined("desk")
    text = "The host is alpha.\n\nThe port is 80."
    changed_twice, changed_once = (
        stored(desk, f"{name} is up", text, source=ASSISTANT) for name in ("Web", "Mail")
    )
    for memory_id in (changed_twice, changed_once):
        accepted(desk, memory_id)
    exchange(desk)
    laptop = machines.joined("laptop")
    for memory_id in (changed_twice, changed_once):
        revise(desk, memory_id, Revision(text=text.replace("alpha", "beta")))
        revise(laptop, memory_id, Revision(text=text.replace("80", "90")))
    file = read(laptop, changed_once).path
    file.write_text(file.read_text().replace("90", "7070"))  # by hand: nobody accepted that

    machines.meet(desk, laptop, desk)

    for store in (desk, laptop):
        assert (
            "beta" in read(store, changed_twice).memory.text
            and "90" in read(store, changed_twice).memory.text
        )
        assert is_shown(store, read(store, changed_twice))
        assert "7070" in read(store, changed_once).memory.text
        assert not is_shown(store, read(store, changed_once))


def test_the_history_has_what_was_done_on_both_machines(machines: Machines) -> None:
    desk = machines.joined("desk")
    memory_id = stored(desk, "The port is 80.")
    exchange(desk)
    laptop = machines.joined("laptop")
    machines.clock.now += timedelta(minutes=1)
    revise(desk, memory_id, Revision(text="The port is 90."))
    machines.meet(desk, laptop)
    machines.clock.now += timedelta(minutes=1)
    revise(laptop, memory_id, Revision(text="The port is 7070."))

    rows = [str(row) for row in shown_deeds(list_deeds(laptop, memory_id=memory_id)).rows]
    versions = history_of(laptop, memory_id).versions

    assert ["remembered, on" in row or "revised" in row for row in rows] == [True, True, True]
    assert ["on " in row for row in rows] == [False, True, True]
    texts = [version.memory.text for version in versions if version.memory]
    assert texts == ["The port is 90.", "The port is 80."]


def test_a_file_that_seems_to_hold_a_secret_stays_here_and_is_told(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    file = desk.home / "knowledge" / "note.md"
    file.parent.mkdir()
    file.write_text(f"---\nid: note\ntitle: Note\n---\nThe token is {KEY}\n")

    report = exchange(desk)

    assert list(report.held) == ["knowledge/note.md"]
    assert any(
        "Not sent to your other machines: 1 file" in need for need in needs_of(status(desk, has_key=False))
    )
    machines.meet(laptop)
    assert says(laptop) == {}
    file.write_text("---\nid: note\ntitle: Note\n---\nThe token is in the vault.\n")
    machines.meet(desk, laptop)
    assert [*says(laptop)] == ["knowledge/note.md"]


def test_a_folder_that_vanished_is_brought_back_and_forgotten_nowhere(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    for number in range(8):
        stored(desk, f"Fact number {number} about a thing called {'x' * number}y.")
    machines.meet(desk, laptop)
    before = says(laptop)
    shutil.rmtree(desk.home / "knowledge")

    machines.meet(desk, laptop)

    assert says(desk) == says(laptop) == before


def test_what_only_concerns_one_machine_stays_there(machines: Machines) -> None:
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    now = machines.clock.now
    desk.ledger.append(
        "transcript_seen", now, path="/home/me/t.jsonl", session="s", end=10, folder="/home/me"
    )
    desk.ledger.append("consented", now, model_calls=True)
    stored(desk, "Deploys start from release.")

    machines.meet(desk, laptop)

    texts = "".join(path.read_text() for path in (laptop.home / "ledger").iterdir())
    assert "remembered" in texts and "transcript_seen" not in texts and "consented" not in texts
    with laptop.database.read() as db:
        assert not transcripts.agreed(db) and not transcripts.unkept(db)


def test_without_a_remote_nothing_is_there(machines: Machines) -> None:
    alone = machines.open("alone")
    stored(alone, "Deploys start from release.")

    assert state_of(alone.home) is None and status(alone, has_key=False).remote is None
    assert not (alone.home / "remote").exists()
