"""What was taken in is taken in once, and what was changed here stays."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.exchange.imports.formats import import_from
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.actions.imports.imported import index_rows, items, mem, memories, outcomes, state, tree


@pytest.mark.feature("A-48")
def test_importing_twice_changes_nothing(store: Store, project: Path) -> None:
    state(project / ".memory/state.json", mem(1, "The API speaks JSON."), mem(2, "Ports start at 8000."))
    import_from(store, "memory-mcp")
    before = tree(store.home)

    again = import_from(store, "memory-mcp")

    assert set(outcomes(again).values()) == {Outcome.UNCHANGED}
    assert tree(store.home) == before


@pytest.mark.feature("B-50")
def test_what_is_new_or_changed_there_is_taken_in(store: Store, project: Path) -> None:
    path = state(project / ".memory/state.json", mem(1, "Ports start at 8000."), mem(2, "Logs are JSON."))
    first = items(import_from(store, "memory-mcp"))
    state(path, mem(1, "Ports start at 9000."), mem(2, "Logs are JSON."), mem(3, "Tests run in Docker."))

    again = items(import_from(store, "memory-mcp"))

    key = str(mem(1, "")["id"])
    assert [item.outcome for item in again.values()] == [Outcome.REVISED, Outcome.UNCHANGED, Outcome.TAKEN]
    assert again[key].id == first[key].id
    assert read(store, again[key].id).memory.text == "Ports start at 9000."
    assert set(outcomes(import_from(store, "memory-mcp")).values()) == {Outcome.UNCHANGED}


def test_an_edit_made_here_is_never_overwritten(store: Store, project: Path) -> None:
    path = state(project / ".memory/state.json", mem(1, "Ports start at 8000."))
    (taken,) = items(import_from(store, "memory-mcp")).values()
    revise(store, taken.id, Revision(text="Ports start at 8100, says ops."))

    unchanged = outcomes(import_from(store, "memory-mcp"))
    state(path, mem(1, "Ports start at 9000."))
    (again,) = items(import_from(store, "memory-mcp")).values()

    assert set(unchanged.values()) == {Outcome.UNCHANGED}
    assert again.outcome is Outcome.LEFT
    assert "here too" in again.why
    assert read(store, taken.id).memory.text == "Ports start at 8100, says ops."


def test_a_pin_made_here_survives_a_change_there(store: Store, project: Path) -> None:
    path = state(project / ".memory/state.json", mem(1, "Ports start at 8000."))
    (taken,) = items(import_from(store, "memory-mcp")).values()
    revise(store, taken.id, Revision(pinned=True))
    state(path, mem(1, "Ports start at 9000."))

    (again,) = items(import_from(store, "memory-mcp")).values()

    memory = read(store, taken.id).memory
    assert again.outcome is Outcome.REVISED
    assert (memory.text, memory.pinned) == ("Ports start at 9000.", True)


@pytest.mark.feature("B-46")
@pytest.mark.parametrize("forever", [False, True])
def test_what_was_forgotten_here_is_not_brought_back(store: Store, project: Path, forever: bool) -> None:
    path = state(project / ".memory/state.json", mem(1, "Ports start at 8000."))
    (taken,) = items(import_from(store, "memory-mcp")).values()
    forget(store, taken.id, forever=forever)
    state(path, mem(1, "Ports start at 9000."))

    (again,) = items(import_from(store, "memory-mcp")).values()

    assert (again.outcome, memories(store)) == (Outcome.LEFT, {})
    assert "forgotten" in again.why


def test_what_is_known_here_already_is_merged_and_later_changes_are_new(store: Store, project: Path) -> None:
    own = remember(store, Draft("Ports start at 8000", "Ports start at 8000.", tags=("net",))).memory
    path = state(project / ".memory/state.json", mem(1, "Ports start at 8000."))

    (first,) = items(import_from(store, "memory-mcp")).values()
    (second,) = items(import_from(store, "memory-mcp")).values()
    state(path, mem(1, "Ports start at 9000."))
    (third,) = items(import_from(store, "memory-mcp")).values()
    (fourth,) = items(import_from(store, "memory-mcp")).values()

    assert (first.outcome, first.id) == (Outcome.MERGED, own.id)
    assert read(store, own.id).memory.tags == ("net", "billing")
    assert read(store, own.id).memory.text == "Ports start at 8000."
    assert second.outcome is Outcome.UNCHANGED
    assert (third.outcome, third.id != own.id) == (Outcome.TAKEN, True)
    assert fourth.outcome is Outcome.UNCHANGED


def test_a_dry_run_tells_the_same_and_writes_nothing(store: Store, project: Path) -> None:
    remember(store, Draft("Known", "Known."))
    state(
        project / ".memory/state.json",
        mem(1, "Ports start at 8000."),
        mem(2, "Token is ghp_" + "a1B2" * 9),
        mem(3, " "),
        mem(4, "Known."),
    )
    before, index = tree(store.home), index_rows(store)

    would = outcomes(import_from(store, "memory-mcp", dry_run=True))

    assert (tree(store.home), index_rows(store)) == (before, index)
    assert would == outcomes(import_from(store, "memory-mcp"))
    assert len(set(would.values())) == 3


def test_the_index_made_anew_knows_what_was_imported(
    store: Store, project: Path, open_here: Callable[..., Opened]
) -> None:
    state(project / ".memory/state.json", mem(1, "Ports start at 8000."))
    import_from(store, "memory-mcp")
    store.database.close()
    for path in store.home.glob("memory.db*"):
        path.unlink()

    again = import_from(open_here().store(), "memory-mcp")

    assert set(outcomes(again).values()) == {Outcome.UNCHANGED}


def test_an_import_that_lost_its_ledger_line_recognises_its_own_files(store: Store, project: Path) -> None:
    path = state(
        project / ".memory/state.json", mem(1, "Ports start at 8000."), mem(2, "Old.", tags=["archived"])
    )
    import_from(store, "memory-mcp")
    for ledger in store.ledger.paths():
        kept = [line for line in ledger.read_bytes().splitlines(True) if b'"imported"' not in line]
        ledger.write_bytes(b"".join(kept))
    with store.database.write() as db:
        db.execute("DELETE FROM imported")

    again = outcomes(import_from(store, "memory-mcp"))
    state(path, mem(1, "Ports start at 9000."), mem(2, "Old.", tags=["archived"]))
    later = outcomes(import_from(store, "memory-mcp"))

    assert set(again.values()) == {Outcome.MERGED}
    assert list(later.values()) == [Outcome.REVISED, Outcome.UNCHANGED]
    assert len(memories(store)) == 2
