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
from mcp_server.core.memory import Draft, Kind, Level
from mcp_server.core.provenance.provenance import ASSISTANT, TRANSCRIPT
from mcp_server.store import Store


@pytest.fixture
def known(store: Store) -> str:
    return remember(store, Draft("Retry rule", "Wait thirty seconds.", level=Level.USER)).memory.id


def kept(store: Store, memory_id: str) -> list[bytes]:
    ref = read(store, memory_id).ref
    return [each.path.read_bytes() for each in history.versions(store.home, ref)]


def test_what_a_change_replaces_is_kept_for_its_owner_alone(store: Store, known: str) -> None:
    said = [read(store, known).data]
    for text in ("Wait a minute.", "Wait an hour."):
        said.append(revise(store, known, Revision(text=text)).data)

    assert kept(store, known) == said[:-1]
    folder = places.history_folder(store.home, f"user/{known}")
    for path in (folder, folder.parent, folder.parent.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_version_tells_when_it_went_by_whom_and_between_which_bytes(store: Store, known: str) -> None:
    before = read(store, known)
    after = revise(store, known, Revision(text="Wait a minute."))

    (version,) = history.versions(store.home, before.ref)

    assert (version.was, version.now) == (before.digest, after.digest)
    assert (version.at, version.by, version.verb) == (store.clock(), "person", "revised")
    assert version.ref == before.ref


def test_a_change_that_is_refused_keeps_nothing(store: Store, known: str) -> None:
    found = read(store, known)
    found.path.write_text(found.path.read_text("utf-8").replace("thirty", "forty"), "utf-8")

    with pytest.raises(Conflict):
        files.replace(found.path, b"x", expected=found.digest, former=(found.path.with_name("kept"), b"y"))

    assert not found.path.with_name("kept").exists()
    assert kept(store, known) == []


def test_a_disk_that_cannot_keep_the_words_does_not_let_them_go(store: Store, known: str) -> None:
    """A folder stands where the history is to be written."""
    before = read(store, known)
    (store.home / places.HISTORY).write_text("no folder")

    with pytest.raises(OSError):
        revise(store, known, Revision(text="Wait a minute."))

    assert before.path.read_bytes() == before.data
    assert not list(before.path.parent.glob(".daybook-*"))


def test_a_conversation_that_goes_on_is_not_kept_once_for_each_piece(store: Store) -> None:
    draft = Draft("Talk", "Hello.", kind=Kind.CONVERSATION, level=Level.USER, source=TRANSCRIPT)
    told = remember(store, draft).memory.id
    revise(store, told, Revision(text="Hello.\n\nHow are you?"))
    assert kept(store, told) == []

    whole = read(store, told).data
    revise(store, told, Revision(text="Something else."))
    assert kept(store, told) == [whole]


def test_other_programs_that_write_the_old_file_do_not_write_into_the_history(
    store: Store, known: str
) -> None:
    """A second name of the file, as a backup by links has it."""
    found = read(store, known)
    other = store.home / "backup.md"
    os.link(found.path, other)
    revise(store, known, Revision(text="Wait a minute."))

    other.write_bytes(b"overwritten")

    assert kept(store, known) == [found.data]


@pytest.mark.parametrize("accepted", [True, False])
def test_what_only_says_how_memories_stand_carries_acceptance_on(store: Store, accepted: bool) -> None:
    source = "manual" if accepted else ASSISTANT
    known = remember(store, Draft("Retry rule", "Wait thirty seconds.", source=source)).memory.id

    for change in (
        lambda: revise(store, known, Revision(tags=("net",))),
        lambda: mark(store, known, event="pinned", pinned=True),
        lambda: revise(store, known, Revision(text="Wait a minute.")),
    ):
        assert is_accepted(store, change()) is accepted


def test_acceptance_is_given_or_withheld_only_by_a_word(store: Store, known: str) -> None:
    assert not is_accepted(store, revise(store, known, Revision(text="One."), accept=Accept.NO))
    assert not is_accepted(store, revise(store, known, Revision(text="Two.")))
    assert is_accepted(store, revise(store, known, Revision(text="Three."), source="manual"))


def test_moving_a_file_keeps_nothing_as_nothing_is_replaced(store: Store, known: str) -> None:
    before = read(store, known).data
    forget(store, known)
    restore(store, known)
    assert kept(store, known) == []
    assert read(store, known).data == before
