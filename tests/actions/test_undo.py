"""undo: the last change is taken back, whoever made it, and nothing that came later is lost."""

import os
import re
from pathlib import Path

import pytest

from mcp_server.actions.changes.history import ByOthers, history_of, version_of
from mcp_server.actions.changes.undo import is_persons, last_change, undo
from mcp_server.actions.exchange.imports.take import BATCH
from mcp_server.actions.exchange.seed import bootstrap_project
from mcp_server.actions.files.commit import move, one_change
from mcp_server.actions.files.read import is_accepted, read
from mcp_server.actions.files.runs import Undone
from mcp_server.actions.files.sync import sync
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.judge.origins import judge
from mcp_server.actions.memory.conversation import save_conversation
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import accept, from_documents
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.trust import trust_history
from mcp_server.actions.review.review import review
from mcp_server.core.errors import Conflict, NotFound, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level, Status
from mcp_server.core.provenance.provenance import ASSISTANT, TRANSCRIPT
from mcp_server.store import Store
from tests.actions.tidy.knowledge import files_of
from tests.conftest import Clock
from tests.importing import import_from
from tests.recorded import Recorded

README = "# Shop\n\nThe shop sells maps of the moon.\n\n## Queue\n\nOrders wait in Redis until paid.\n"


def take_back(store: Store, memory_id: str = "", *, anyway: bool = False) -> Undone:
    return undo(store, last_change(store, memory_id), anyway=anyway)


def test_taking_back_and_taking_that_back_go_to_and_fro(store: Store, retry_rule: str) -> None:
    before = read(store, retry_rule).data
    after = revise(store, retry_rule, Revision(title="Retry", text="Wait a minute.")).data

    for expected in (before, after, before, after):
        assert take_back(store, retry_rule).restored == [retry_rule]
        assert read(store, retry_rule).data == expected
        assert is_accepted(store, read(store, retry_rule))


def test_what_is_replaced_comes_back_with_the_replacement_undone(store: Store, retry_rule: str) -> None:
    before = files_of(store)
    new = compare_and_store(
        store, Draft("Retry rule", "Wait an hour.", level=Level.USER), supersedes=retry_rule
    )
    assert read(store, retry_rule).memory.status is Status.SUPERSEDED

    undone = take_back(store)

    assert set(undone.restored) == {new.id, retry_rule}
    assert {name: data for name, data in files_of(store).items() if not name.startswith("trash/")} == before
    take_back(store)
    assert read(store, retry_rule).memory.superseded_by == new.id


def test_a_later_edit_is_not_taken_back_but_named_with_both_texts(store: Store, retry_rule: str) -> None:
    revise(store, retry_rule, Revision(text="Wait a minute."))
    path = read(store, retry_rule).path
    path.write_text(path.read_text("utf-8").replace("a minute", "two minutes"), "utf-8")
    edited = path.read_bytes()

    with pytest.raises(Conflict) as refused:
        take_back(store, retry_rule)

    (version,) = history_of(store, retry_rule).versions
    assert str(path) in str(refused.value)
    assert str(version.path) in str(refused.value)
    assert "--anyway" in refused.value.hint
    assert path.read_bytes() == edited

    take_back(store, retry_rule, anyway=True)
    assert read(store, retry_rule).memory.text == "Wait thirty seconds."
    take_back(store, retry_rule)
    assert path.read_bytes() == edited


def test_of_a_change_of_many_files_what_was_not_edited_since_goes_back(store: Store) -> None:
    one = remember(store, Draft("One", "text", level=Level.USER)).memory.id
    other = remember(store, Draft("Other", "text two", level=Level.USER)).memory.id
    link(store, one, other, "supersedes")
    path = read(store, one).path
    path.write_text(path.read_text("utf-8") + "\nand more\n", "utf-8")
    sync(store)

    undone = take_back(store)

    assert undone.restored == [other]
    assert [memory_id for memory_id, _ in undone.skipped] == [one]
    assert read(store, other).memory.status is Status.ACTIVE


def test_the_first_change_of_a_memory_is_that_it_was_remembered(store: Store, retry_rule: str) -> None:
    data = read(store, retry_rule).data
    take_back(store, retry_rule)
    with pytest.raises(NotFound):
        read(store, retry_rule)
    take_back(store, retry_rule)
    assert read(store, retry_rule).data == data


def test_saving_a_conversation_is_a_change_and_writing_down_a_session_is_none(
    store: Store, retry_rule: str
) -> None:
    remember(store, Draft("Night", "Hello.", kind=Kind.CONVERSATION, source=TRANSCRIPT))
    assert last_change(store).ids == (retry_rule,)
    saved = save_conversation(store, "Talk", [{"role": "user", "content": "Hello."}])

    assert undo(store, last_change(store)).restored == [saved.memory.id]

    assert not saved.path.exists()


def test_nothing_to_take_back_is_said(store: Store, retry_rule: str) -> None:
    for unknown in ("nothing-there", "Retry rules", "*"):
        with pytest.raises(NotFound, match=f"No memory has the id '{re.escape(unknown)}'"):
            last_change(store, unknown)
    with pytest.raises(NotFound) as near:
        last_change(store, "Retry rule")
    assert retry_rule in near.value.hint
    with pytest.raises(Rejected, match="in this session"):
        last_change(store, of_session="another")


@pytest.mark.parametrize("from_trash", [False, True])
def test_what_was_deleted_for_good_is_said_and_nothing_before_it_goes_instead(
    store: Store, retry_rule: str, from_trash: bool
) -> None:
    gone = remember(store, Draft("Key rotation", "In June.", level=Level.USER)).memory.id
    if from_trash:
        forget(store, gone)
    forget(store, gone, forever=True)

    with pytest.raises(Rejected, match=f"deleted '{gone}' for good"):
        last_change(store)
    with pytest.raises(Rejected, match=f"deleted '{gone}' for good"):
        last_change(store, gone)
    assert take_back(store, retry_rule).restored == [retry_rule]


def test_that_it_can_be_taken_back_anyway_is_said_only_where_that_helps(
    store: Store, retry_rule: str
) -> None:
    change = last_change(store)
    read(store, retry_rule).path.unlink()
    with pytest.raises(Conflict, match="its file is gone") as gone:
        undo(store, change)
    assert not gone.value.hint


def test_claude_may_take_back_its_own_and_the_person_theirs(store: Store, retry_rule: str) -> None:
    claude = store._replace(by=lambda: "claude")
    assert is_persons(store, last_change(store, retry_rule))

    revise(claude, retry_rule, Revision(tags=("net",)))
    assert not is_persons(store, last_change(store, retry_rule))
    revise(store, retry_rule, Revision(tags=("net", "http")))
    assert is_persons(store, last_change(store, retry_rule)), "no word of it, but the person did it"
    revise(claude, retry_rule, Revision(text="Wait a minute."), source=ASSISTANT)
    assert not is_persons(store, last_change(store, retry_rule))
    of_person = remember(claude, Draft("Language", "Answer in German.", source="manual")).memory.id
    assert is_persons(store, last_change(store, of_person))
    own = remember(claude, Draft("Guess", "It may be the cache.", source=ASSISTANT)).memory.id
    assert not is_persons(store, last_change(store, own))


def test_the_history_tells_when_by_whom_and_what(store: Store, retry_rule: str, clock: Clock) -> None:
    clock.pass_days(1)
    revise(store, retry_rule, Revision(text="Wait sixty seconds.", tags=("net",)))

    history = history_of(store, retry_rule)

    (version,) = history.versions
    assert (version.number, version.by, version.verb, version.at) == (1, "person", "revised", clock.now)
    assert version.differs == 'text "Wait thirty seconds." -> "Wait sixty seconds."; tags +net'
    assert "Wait thirty seconds." in version_of(store, retry_rule, 1)[1]
    with pytest.raises(Rejected, match="no version 7"):
        version_of(store, retry_rule, 7)


def test_the_history_of_what_lies_in_the_trash_is_told(store: Store, retry_rule: str) -> None:
    revise(store, retry_rule, Revision(text="Wait a minute."))
    forget(store, retry_rule)
    assert [version.number for version in history_of(store, retry_rule).versions] == [1]


def test_an_edit_by_hand_between_two_changes_is_told(store: Store, retry_rule: str) -> None:
    path = revise(store, retry_rule, Revision(text="Wait a minute.")).path
    path.write_text(path.read_text("utf-8").replace("a minute", "two minutes"), "utf-8")
    sync(store)
    revise(store, retry_rule, Revision(pinned=True))

    later, earlier = history_of(store, retry_rule).versions
    assert earlier.others is ByOthers.BY_HAND
    assert later.differs == "pinned"


def waits_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that is as long as the disk was often waited for from now on."""
    waits, wait = list[int](), os.fsync

    def counted(handle: int) -> None:
        waits.append(handle)
        wait(handle)

    monkeypatch.setattr(os, "fsync", counted)
    return waits


def test_an_import_in_several_batches_is_taken_back_as_one_and_one_of_it_alone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(BATCH + 5):
        (notes / f"n{number}.md").write_text(f"# Note {number}\n\nPort {number}.\n", encoding="utf-8")
    import_from(store, "notes", notes)
    paths = [path for path in files_of(store) if not path.startswith("trash/")]
    assert len(paths) == BATCH + 5

    imported_id = Path(paths[0]).stem
    change = last_change(store)
    assert len(change.ids) == BATCH + 5

    assert take_back(store, imported_id).restored == [imported_id]
    waits = waits_for_the_disk(monkeypatch)
    undone = undo(store, change)

    assert len(waits) < 20
    assert len(undone.restored) == BATCH + 5 - 1
    assert [memory_id for memory_id, _ in undone.skipped] == [imported_id]
    assert [path for path in files_of(store) if not path.startswith("trash/")] == []


def test_files_that_took_each_others_place_in_one_change_go_back(store: Store, retry_rule: str) -> None:
    other = remember(store, Draft("Port rule", "Use 8081.", level=Level.USER)).memory.id
    first, second = read(store, retry_rule), read(store, other)
    before = files_of(store)
    with one_change():
        move(store, first.vault, first.ref, first.path, first.path.with_name("aside.md"), "revised")
        move(store, second.vault, second.ref, second.path, first.path, "revised")

    assert take_back(store).restored == [other, retry_rule]
    assert files_of(store) == before


def test_what_documents_say_is_accepted_and_taken_back_in_one_step(store: Store, project: Path) -> None:
    (project / "README.md").write_text(README, encoding="utf-8")
    bootstrap_project(store)
    accept(store, from_documents(store))
    assert from_documents(store) == []

    take_back(store)
    assert len(from_documents(store)) == 2
    take_back(store)
    assert from_documents(store) == []


def test_what_claude_stored_is_taken_back_with_the_replacement_that_came_of_a_look_at_its_session(
    store: Store, recorded: Recorded
) -> None:
    claude, session = store._replace(by=lambda: "claude"), recorded.session
    recorded.user("The port was 5433, and the port is 5434 from now on.")
    old = compare_and_store(claude, Draft("Port", "The port is 5433.", source=ASSISTANT, session=session)).id
    assert judge(claude, old, recorded.path) is None
    before = read(store, old).data
    draft = Draft("Port", "The port is 5434.", source=ASSISTANT, session=session, supersedes=(old,))
    new = compare_and_store(claude, draft).id
    assert judge(claude, new, recorded.path) is None
    assert read(store, old).memory.superseded_by == new

    take_back(claude)

    assert read(store, old).data == before
    with pytest.raises(NotFound):
        read(store, new)
    assert review(store).entries == ()
    take_back(claude)
    assert read(store, old).memory.superseded_by == new


def test_undoing_a_replacement_leaves_no_doubt_about_what_was_replaced(store: Store, retry_rule: str) -> None:
    before = trust_history(store, retry_rule)
    compare_and_store(store, Draft("Retry rule", "Wait an hour.", level=Level.USER), supersedes=retry_rule)
    assert [event.reason for event in trust_history(store, retry_rule).events] == ["superseded"]

    take_back(store)

    assert trust_history(store, retry_rule) == before


def test_saying_the_same_again_is_taken_back_alone(store: Store, retry_rule: str) -> None:
    before = read(store, retry_rule).data
    compare_and_store(store, Draft("Retry rule", "Wait thirty seconds.", level=Level.USER, session="s2"))
    assert [event.reason for event in trust_history(store, retry_rule).events] == ["confirmed"]

    assert take_back(store).restored == [retry_rule]

    assert trust_history(store, retry_rule).events == ()
    assert read(store, retry_rule).data == before
