"""What is put away because nobody uses it."""

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.runs import new_run, perform
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.memory.forget import restore
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.consolidate import put_away
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters.index.events.tidying import DROPS
from mcp_server.core.errors import NotFound
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.search.query import Filter, Query
from mcp_server.doors.shown.runs import line
from mcp_server.store import Store
from tests.actions.tidy.knowledge import put
from tests.conftest import Clock, Open
from tests.memories import status

EVERYTHING = Filter(statuses=tuple(Status))


@pytest.mark.feature("D-19", "3.4-archive-moves")
def test_what_nobody_uses_goes_to_the_archive_and_comes_back(store: Store, clock: Clock) -> None:
    note = put(store, "A passing thought about the logo", type="note")
    place = read(store, note).path
    talk = put(store, "user: hello\n\nclaude: hello", title="Talk", kind=Kind.CONVERSATION)
    clock.pass_days(80)
    fresh = put(store, "Another thought about the header", type="note")
    clock.pass_days(11)

    report = tidy(store)

    assert report.counts == {"ageing": 2}
    assert status(store, fresh) is Status.ACTIVE
    archived = read(store, note)
    assert (archived.memory.status, archived.memory.archived_reason) == (Status.ARCHIVED, "aged")
    assert (archived.path.parent.name, place.exists()) == ("archive", False)
    assert read(store, talk).memory.kind is Kind.CONVERSATION
    assert restore(store, talk).path.parent.name == "conversations"
    assert restore(store, note).memory.status is Status.ACTIVE
    assert tidy(store).counts == {}  # that it was restored is activity
    assert status(store, note) is Status.ACTIVE


def test_nothing_ages_when_the_person_says_so(open_here: Open, clock: Clock) -> None:
    store = open_here(AUTO_ARCHIVE_DAYS="0").store()
    put(store, "A passing thought", type="note")
    clock.pass_days(2000)

    assert tidy(store).counts == {}


def test_what_was_archived_for_its_age_stays_in_the_archive(store: Store, clock: Clock) -> None:
    lonely = put(store, "A passing thought about the logo", type="note")
    clock.pass_days(91)
    assert tidy(store).counts == {"ageing": 1}
    clock.pass_days(400)
    rebuild(store)

    assert tidy(store).counts == {}
    assert status(store, lonely) is Status.ARCHIVED
    assert [hit.id for hit in recall(store, Query("logo", filter=EVERYTHING)).hits] == [lonely]


def test_what_an_earlier_version_called_an_orphan_is_none(store: Store, clock: Clock) -> None:
    lonely = put(store, "A passing thought about the logo", type="note")
    clock.pass_days(91)
    tidy(store)
    path = read(store, lonely).path
    path.write_bytes(path.read_bytes().replace(b"status: archived", b"status: orphaned"))
    clock.pass_days(400)

    assert tidy(store).counts == {"orphans": 1}
    assert status(store, lonely) is Status.ARCHIVED


def test_what_an_aged_memory_had_replaced_is_named(store: Store, clock: Clock) -> None:
    old = put(store, "The logo may become green", type="note")
    put(store, "The logo may become blue", type="note", supersedes=(old,))
    clock.pass_days(91)

    (entry,) = tidy(store).entries

    assert line(entry).endswith(f"what it had replaced: [{old}]")


@pytest.mark.feature("A-22", "A-41")
def test_what_was_dropped_ends_in_the_trash_and_comes_back_in_one_step(store: Store, clock: Clock) -> None:
    banner = put(store, "The beta banner is shown until 2026-11-01", type="context")
    perform(store, put_away(store, read(store, banner), DROPS, "dropped", "drop"), new_run(store))
    clock.pass_days(13.9)
    assert tidy(store).counts == {}
    clock.pass_days(0.2)
    assert tidy(store).counts == {"trash": 1}
    with pytest.raises(NotFound):
        read(store, banner)

    back = restore(store, banner)

    assert (back.memory.status, back.memory.archived_reason) == (Status.ACTIVE, "")
    assert back.path.parent.name == "knowledge"
    assert b"archived" not in back.data
    assert [hit.id for hit in recall(store, Query("beta banner")).hits] == [banner]
