"""commit: the one road from an intention to a file, and what it keeps of what was there."""

import os
import stat

import pytest

from mcp_server.actions.files.commit import Accept
from mcp_server.actions.files.read import is_accepted, read
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, mark, revise
from mcp_server.adapters import files, history, places
from mcp_server.core.errors import Conflict
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.provenance.provenance import ASSISTANT, TRANSCRIPT
from mcp_server.store import Store


def versions_of(store: Store, memory_id: str) -> list[bytes]:
    ref = read(store, memory_id).ref
    return [version.path.read_bytes() for version in history.versions(store.home, ref)]


def test_what_a_change_replaces_is_kept_for_its_owner_alone(store: Store, retry_rule: str) -> None:
    texts = [read(store, retry_rule).data]
    for text in ("Wait a minute.", "Wait an hour."):
        texts.append(revise(store, retry_rule, Revision(text=text)).data)

    assert versions_of(store, retry_rule) == texts[:-1]
    folder = places.history_folder(store.home, f"user/{retry_rule}")
    for path in (folder, folder.parent, folder.parent.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_version_tells_when_it_went_by_whom_and_between_which_bytes(store: Store, retry_rule: str) -> None:
    before = read(store, retry_rule)
    after = revise(store, retry_rule, Revision(text="Wait a minute."))

    (version,) = history.versions(store.home, before.ref)

    assert (version.was, version.now) == (before.digest, after.digest)
    assert (version.at, version.by, version.verb) == (store.clock(), "person", "revised")
    assert version.ref == before.ref


def test_a_change_that_is_refused_keeps_nothing(store: Store, retry_rule: str) -> None:
    file = read(store, retry_rule)
    file.path.write_text(file.path.read_text("utf-8").replace("thirty", "forty"), "utf-8")

    with pytest.raises(Conflict):
        files.replace(file.path, b"x", expected=file.digest, former=(file.path.with_name("kept"), b"y"))

    assert not file.path.with_name("kept").exists()
    assert versions_of(store, retry_rule) == []


def test_a_disk_that_cannot_keep_the_words_does_not_let_them_go(store: Store, retry_rule: str) -> None:
    """A folder stands where the history is to be written."""
    before = read(store, retry_rule)
    (store.home / places.HISTORY).write_text("no folder")

    with pytest.raises(OSError):
        revise(store, retry_rule, Revision(text="Wait a minute."))

    assert before.path.read_bytes() == before.data
    assert not list(before.path.parent.glob(".daybook-*"))


def test_a_conversation_that_goes_on_is_not_kept_once_for_each_piece(store: Store) -> None:
    draft = Draft("Talk", "Hello.", kind=Kind.CONVERSATION, level=Level.USER, source=TRANSCRIPT)
    talk = remember(store, draft).memory.id
    revise(store, talk, Revision(text="Hello.\n\nHow are you?"))
    assert versions_of(store, talk) == []

    whole = read(store, talk).data
    revise(store, talk, Revision(text="Something else."))
    assert versions_of(store, talk) == [whole]


def test_other_programs_that_write_the_old_file_do_not_write_into_the_history(
    store: Store, retry_rule: str
) -> None:
    """A second name of the file, as a backup by links has it."""
    file = read(store, retry_rule)
    other = store.home / "backup.md"
    os.link(file.path, other)
    revise(store, retry_rule, Revision(text="Wait a minute."))

    other.write_bytes(b"overwritten")

    assert versions_of(store, retry_rule) == [file.data]


@pytest.mark.parametrize("accepted", [True, False])
def test_what_only_says_how_memories_stand_carries_acceptance_on(store: Store, accepted: bool) -> None:
    source = "manual" if accepted else ASSISTANT
    memory_id = remember(store, Draft("Retry rule", "Wait thirty seconds.", source=source)).memory.id

    for change in (
        lambda: revise(store, memory_id, Revision(tags=("net",))),
        lambda: mark(store, memory_id, event="pinned", pinned=True),
        lambda: revise(store, memory_id, Revision(text="Wait a minute.")),
    ):
        assert is_accepted(store, change()) is accepted


def test_acceptance_is_given_or_withheld_only_by_a_word(store: Store, retry_rule: str) -> None:
    assert not is_accepted(store, revise(store, retry_rule, Revision(text="One."), accept=Accept.NO))
    assert not is_accepted(store, revise(store, retry_rule, Revision(text="Two.")))
    assert is_accepted(store, revise(store, retry_rule, Revision(text="Three."), source="manual"))


def test_moving_a_file_keeps_nothing_as_nothing_is_replaced(store: Store, retry_rule: str) -> None:
    before = read(store, retry_rule).data
    forget(store, retry_rule)
    restore(store, retry_rule)
    assert versions_of(store, retry_rule) == []
    assert read(store, retry_rule).data == before
