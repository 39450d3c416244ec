"""What is put away because nobody uses it."""

from collections.abc import Callable

import pytest

from mcp_server.actions.forget import restore
from mcp_server.actions.read import read
from mcp_server.actions.recall import recall
from mcp_server.actions.revise import Revision, revise
from mcp_server.actions.sync import rebuild
from mcp_server.actions.tidy import tidy, undo
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Kind, Link, Status
from mcp_server.core.query import Query
from mcp_server.store import Store
from tests.actions.tidy.knowledge import in_trash, put, status
from tests.conftest import Clock


def test_what_nobody_uses_goes_to_the_archive_and_comes_back(store: Store, clock: Clock) -> None:
    note = put(store, "A passing thought about the logo", type="note")
    talk = put(store, "user: hello\n\nclaude: hello", title="Talk", kind=Kind.CONVERSATION)
    clock.pass_days(80)
    fresh = put(store, "Another thought about the header", type="note")
    clock.pass_days(11)

    done = tidy(store)

    assert done.counts == {"ageing": 2}
    assert status(store, fresh) is Status.ACTIVE
    archived = read(store, note)
    assert (archived.memory.status, archived.memory.archived_reason) == (Status.ARCHIVED, "aged")
    assert archived.path.parent.name == "archive"
    assert read(store, talk).memory.kind is Kind.CONVERSATION
    assert restore(store, talk).path.parent.name == "conversations"
    assert restore(store, note).memory.status is Status.ACTIVE
    assert tidy(store).counts == {}  # that it was restored is activity
    assert status(store, note) is Status.ACTIVE


@pytest.mark.parametrize("reason", ["pinned", "recalled", "revised", "lasting and used once"])
def test_what_was_looked_after_does_not_age(store: Store, clock: Clock, reason: str) -> None:
    lasting = reason.startswith("lasting")
    kept = put(store, "The gateway speaks gRPC", type="architecture" if lasting else "reference")
    if lasting:
        recall(store, Query("gateway"), session="s1")
    clock.pass_days(85)
    if reason == "pinned":
        revise(store, kept, Revision(pinned=True))
    elif reason == "recalled":
        recall(store, Query("gateway"), session="s1")
    elif reason == "revised":
        revise(store, kept, Revision(tags=("grpc",)))
    clock.pass_days(300 if reason == "pinned" or lasting else 10)

    assert tidy(store).counts == {}
    assert status(store, kept) is Status.ACTIVE


def test_nothing_ages_when_the_person_says_so(open_here: Callable[..., Opened], clock: Clock) -> None:
    store = open_here(AUTO_ARCHIVE_DAYS="0").store()
    put(store, "A passing thought", type="note")
    clock.pass_days(2000)

    assert tidy(store).counts == {}


def test_an_archived_memory_without_links_ends_in_the_trash(store: Store, clock: Clock) -> None:
    lonely = put(store, "A passing thought about the logo", type="note")
    linked = put(store, "The palette of the shop", type="note")
    clock.pass_days(91)
    put(store, "The header follows the palette", links=(Link("depends-on", linked),))
    assert tidy(store).counts == {"ageing": 2}

    assert tidy(store).counts == {"orphans": 1}
    assert status(store, lonely) is Status.ORPHANED
    assert status(store, linked) is Status.ARCHIVED
    clock.pass_days(89)
    rebuild(store)
    assert "trash" not in tidy(store).counts
    clock.pass_days(2)
    done = tidy(store)

    assert done.counts["trash"] == 1
    assert in_trash(store) == [lonely]
    with pytest.raises(NotFound):
        read(store, lonely)
    undo(store)
    assert status(store, lonely) is Status.ORPHANED


def test_what_links_to_an_active_memory_is_no_orphan(store: Store, clock: Clock) -> None:
    active = put(store, "The palette of the shop has nine colours", type="decision")
    revise(store, active, Revision(pinned=True))
    put(store, "The footer follows the palette", type="note", links=(Link("refines", active),))
    clock.pass_days(91)
    assert tidy(store).counts == {"ageing": 1}

    assert tidy(store).counts == {}
