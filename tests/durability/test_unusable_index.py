"""An index that cannot be opened, a ledger that cannot be written: what is saved is, who asks is answered."""

from functools import partial
from pathlib import Path

import pytest

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.claude_md import current_block
from mcp_server.actions.context.inject import inject
from mcp_server.actions.files import unindexed
from mcp_server.actions.files.read import is_shown, read
from mcp_server.actions.files.sync import LOCK, sync
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.trust import validate
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters.files import lock
from mcp_server.core.errors import IndexUnavailable, NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.remarks import FromFiles, NotRecorded
from mcp_server.core.search.query import Filter, Query
from tests.conftest import Open


@pytest.fixture
def memory_id(open_here: Open, memory_dir: Path) -> str:
    """The id of a memory whose index is gone; where it was is a folder now."""
    opened = open_here()
    memory_id = remember(opened.store(), Draft("Known", "herons are grey", level=Level.USER)).memory.id
    opened.database.close()
    for path in memory_dir.glob("memory.db*"):
        path.unlink()
    (memory_dir / "memory.db").mkdir()
    return memory_id


def test_every_kind_of_verb_works_without_an_index(open_here: Open, memory_dir: Path, memory_id: str) -> None:
    opened = open_here()

    (hit,) = recall(opened.store(), Query("herons")).hits
    assert hit.id == memory_id
    assert [row.id for row in list_memories(opened.store(), Filter()).rows] == [memory_id]
    revise(opened.store(), memory_id, Revision(text="herons are blue"))
    assert read(opened.store(), memory_id).memory.text == "herons are blue"
    change_level(opened.store(), memory_id, Level.PROJECT)
    assert read(opened.store(), memory_id).vault.level is Level.PROJECT
    other = remember(opened.store(), Draft("Other", "quokkas smile", level=Level.USER)).memory.id
    forget(opened.store(), memory_id)
    with pytest.raises(NotFound):
        read(opened.store(), memory_id)
    assert [hit.id for hit in recall(opened.store(), Query("quokkas")).hits] == [other]
    assert "cannot be opened" in opened.remarks()[0].reason
    opened.remarks()

    (memory_dir / "memory.db").rmdir()

    assert [hit.id for hit in recall(opened.store(), Query("quokkas")).hits] == [other]
    assert recall(opened.store(), Query("herons")).hits == ()
    assert opened.remarks() == []
    assert (memory_dir / "memory.db").is_file()


def test_what_was_done_is_known_and_undone_without_an_index(open_here: Open, memory_id: str) -> None:
    store = open_here().store()
    validate(store.in_session("s"), memory_id)

    assert [titled.deed.event for titled in list_deeds(store, memory_id)] == ["trusted", "remembered"]
    forget(store, memory_id)
    undo(store, last_change(store))
    assert read(open_here().store(), memory_id).memory.text == "herons are grey"


def test_what_the_person_accepted_is_theirs_without_an_index_too(
    open_here: Open, memory_dir: Path, memory_id: str
) -> None:
    claudes = Draft("Known", "herons wade", level=Level.USER, source=ASSISTANT)
    accepted_id = remember(open_here().store(), claudes).memory.id
    remember(open_here().store(), Draft("Known", "herons wade", level=Level.USER))  # the person says the same

    (hit,) = [hit for hit in recall(open_here().store(), Query("wade")).hits if hit.id == accepted_id]
    assert hit.pushable

    link(open_here().store(), accepted_id, memory_id)

    (memory_dir / "memory.db").rmdir()
    store = open_here().store()
    assert is_shown(store, read(store, accepted_id))


def test_each_answer_reads_more_files_while_another_process_makes_the_index(
    open_here: Open, memory_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unindexed, "FILLING", 0.0)
    opened = open_here()
    for number in range(2 * unindexed.BATCH + 1):
        path = opened.store().user_vault.root / "knowledge" / f"m-{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"Heron {number} is grey.\n", encoding="utf-8")

    with lock(memory_dir / LOCK):
        for unread in (unindexed.BATCH + 1, 1, 0):
            assert recall(opened.store(), Query("heron")).hits
            (remark,) = opened.remarks()
            assert isinstance(remark, FromFiles) and remark.unsearched == unread


def test_what_lasts_or_is_told_unasked_does_not_rest_on_what_stands_in(
    open_here: Open, memory_id: str
) -> None:
    prompted = partial(inject, prompt="what colour are herons?")
    for lasting in (sync, tidy, brief, current_block, prompted):
        with pytest.raises(IndexUnavailable) as refused:
            lasting(open_here().store().in_session("s"))
        assert "rebuild" not in refused.value.hint


def test_a_ledger_that_cannot_be_written_is_told_and_loses_no_memory(
    open_here: Open, memory_dir: Path
) -> None:
    opened = open_here()
    (memory_dir / "ledger").write_text("no folder", encoding="utf-8")

    memory = remember(opened.store(), Draft("New", "quokkas smile", level=Level.USER))

    assert memory.path.exists()
    (remark,) = opened.remarks()
    assert isinstance(remark, NotRecorded) and remark.event == "remembered"
    assert [hit.id for hit in recall(opened.store(), Query("quokkas")).hits] == [memory.memory.id]
