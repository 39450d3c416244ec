"""One call changes a memory's words, its level and how it stands to others, in one order."""

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.change_memory import Changed, Wanted, change_memory, check_change
from mcp_server.actions.memory.revise import Revision
from mcp_server.core.errors import Conflict, Rejected
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL
from mcp_server.store import Store
from tests.actions.tidy.knowledge import files_of
from tests.memories import stored

LONGER = "The gateway ends large uploads after 60 seconds."


def uploads(store: Store, title: str = "Uploads", text: str = "The gateway ends large uploads.") -> str:
    return stored(store, title, text, type="decision", level=Level.PROJECT)


def changed(store: Store, memory_id: str, wanted: Wanted, source: str = MANUAL) -> tuple[Changed, list[str]]:
    """Return what became of the memory, and (id, level) of what was judged, when it was."""
    judged: list[str] = []

    def judge(changed_id: str) -> str:
        judged.append(f"{changed_id} at {read(store, changed_id).vault.level}")
        return "it waits"

    report = change_memory(
        store, memory_id, wanted, source=source, replacing=source, turns=tuple, judged=judge
    )
    return report, judged


def test_the_words_are_judged_before_the_memory_moves_and_it_replaces_at_its_new_level(store: Store) -> None:
    old, beside = (
        stored(store, title, f"{title} ends large uploads after 30 seconds.", level=Level.USER)
        for title in ("The proxy", "The balancer")
    )
    memory_id = uploads(store)
    wanted = Wanted(Revision(text=LONGER), {"asked by": "Ada"}, Level.USER, (old,), (beside,))

    report, judged = changed(store, memory_id, wanted)

    assert judged == [f"{memory_id} at project"]
    file = read(store, memory_id)
    assert report.file == file
    assert (file.vault.level, file.memory.text, file.memory.notes) == (Level.USER, LONGER, ("asked by: Ada",))
    assert read(store, old).memory.status is Status.SUPERSEDED
    assert (report.waits, report.apart, report.beside) == ("it waits", (beside,), None)
    assert report.replaced and report.replaced.superseded == (old,)


def test_words_and_notes_are_one_change_that_is_taken_back(store: Store) -> None:
    memory_id = uploads(store)
    before = read(store, memory_id)

    changed(store, memory_id, Wanted(Revision(text=LONGER), {"asked by": "Ada"}))
    undo(store, last_change(store))

    assert read(store, memory_id).data == before.data


def test_all_that_one_call_changes_is_taken_back_and_done_again_as_one(store: Store) -> None:
    old, beside = (
        stored(store, title, f"{title} ends large uploads after 30 seconds.", level=Level.USER)
        for title in ("The proxy", "The balancer")
    )
    memory_id = uploads(store)
    before = files_of(store)
    changed(
        store, memory_id, Wanted(Revision(text=LONGER), {"asked by": "Ada"}, Level.USER, (old,), (beside,))
    )
    after = files_of(store)

    for expected in (before, after, before):
        undo(store, last_change(store))
        assert files_of(store) == expected


def test_words_that_are_stored_beside_the_persons_change_nothing_else(store: Store) -> None:
    memory_id = uploads(store)
    before = read(store, memory_id)
    old = uploads(store, "Proxy", "It ends.")
    wanted = Wanted(Revision(text=LONGER), level=Level.USER, supersedes=(old,))

    report, judged = changed(store, memory_id, wanted, source=ASSISTANT)

    assert report.beside and judged == [f"{report.beside.id} at project"]
    assert (report.file.memory.id, report.file.memory.text) == (report.beside.id, LONGER)
    assert (report.unmoved, report.moved, report.replaced) == (True, None, None)
    assert read(store, memory_id) == before
    assert read(store, old).memory.status is Status.ACTIVE


def test_what_can_be_known_before_is_refused_before(store: Store) -> None:
    memory_id = uploads(store)
    stored(store, "Uploads", "The gateway ends large uploads.", type="decision", level=Level.USER)

    with pytest.raises(Rejected, match="already says the same at user level"):
        check_change(store, memory_id, Wanted(level=Level.USER))
    with pytest.raises(Conflict):
        check_change(store, memory_id, Wanted(level=Level.PROJECT), version="0" * 12)
