"""Upkeep: the index is kept whole and small, what is of no use goes, and what is large is said."""

import os
import sqlite3
from pathlib import Path

import pytest

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.context.notice import notice
from mcp_server.actions.files import trash
from mcp_server.actions.files.runs import undo
from mcp_server.actions.files.size_limit import MEGABYTE, Size, index_size, measure
from mcp_server.actions.files.sync import catch_up
from mcp_server.actions.judge.candidate import propose, review_candidates
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.stats import metrics
from mcp_server.actions.status.status import status as state_of
from mcp_server.actions.upkeep.maintain import Checked, Rebuilt, clean_up, maintain
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.bootstrap import open_for_reading
from mcp_server.core.errors import Conflict, NotFound, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.provenance.provenance import TRANSCRIPT
from mcp_server.core.search.query import Query
from mcp_server.doors.shown import needs as shown
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.doors.shown.runs import because, line
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.store import Store
from tests.conftest import Clock, Open
from tests.memories import status, stored

pytestmark = pytest.mark.usefixtures("steady_use")


# The index


@pytest.mark.feature("B-22")
def test_a_whole_index_is_said_to_be_whole_and_its_free_pages_are_given_back(store: Store) -> None:
    gone = [stored(store, f"Note {n}", f"word{n} " * 4000) for n in range(20)]
    for memory_id in gone:
        forget(store, memory_id)
    port = stored(store, "Port", "Staging listens on 8080.")

    steps = maintain(store, "all")

    assert [(step.action, step.result) for step in steps] == [
        ("check", Checked(sound=True)),
        ("vacuum", None),
    ]
    assert steps[1].after < steps[1].before / 2
    assert steps[1].after == index_size(store)
    assert [hit.id for hit in recall(store, Query("staging port")).hits] == [port]


@pytest.mark.feature("B-30")
def test_a_damaged_index_is_made_anew_by_all(store: Store) -> None:
    port = stored(store, "Port", "Staging listens on 8080.")
    with store.database.write() as db:
        db.execute("UPDATE memories SET kind = 'wonder'")
    assert maintain(store, "check")[0].result == Checked(sound=False)

    steps = maintain(store, "all")

    assert [step.action for step in steps] == ["check", "rebuild", "vacuum"]
    assert steps[1].result == Rebuilt(memories=1, unreadable=0)
    assert [hit.id for hit in recall(store, Query("staging port")).hits] == [port]
    assert not list(store.home.glob("memory.db.old*"))


def test_while_somebody_writes_nothing_is_made_small(store: Store) -> None:
    stored(store, "Port", "Staging listens on 8080.")
    store.database.connection().execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(store.database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(Conflict, match="Another process is writing"):
            maintain(store, "vacuum")
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert [step.action for step in maintain(store, "vacuum")] == ["vacuum"]


# Cleaning up


@pytest.mark.feature("B-46")
def test_a_plan_changes_nothing_and_then_all_of_it_is_done(store: Store, clock: Clock) -> None:
    thrown = stored(store, "Forgotten long ago")
    path = forget(store, thrown).path
    aged = stored(store, "Aged", source="mined")
    propose(store, Draft("Maybe", "A candidate.", source="mined"), key="abc", confidence=0.5, why="waits")
    litter = store.home / "work" / ".daybook-0123456789abcdef"
    litter.parent.mkdir(exist_ok=True)
    litter.write_bytes(b"half")
    os.utime(litter, (0, 0))
    clock.pass_days(91)
    fresh = stored(store, "Fresh")
    lately = forget(store, stored(store, "Forgotten just now")).path

    plan = clean_up(store, dry_run=True)

    assert [because(entry) for entry in plan.tidied.entries] == [
        f"archive: [{aged}] showed no sign of life for 90 days",
        "trash: [abc] was proposed and not seen for 30 days",
    ]
    assert ([trashed.id for trashed in plan.trash], plan.litter) == ([thrown], [litter])
    assert plan.freed > 0
    assert path and path.exists() and litter.exists() and status(store, aged) is Status.ACTIVE

    report = clean_up(store, dry_run=False)

    assert [line(entry) for entry in report.tidied.entries] == [line(entry) for entry in plan.tidied.entries]
    assert (report.trash, report.litter) == (plan.trash, plan.litter)
    assert not path.exists() and not litter.exists()
    assert review_candidates(store) == []
    assert (status(store, aged), status(store, fresh)) == (Status.ARCHIVED, Status.ACTIVE)
    assert list_deeds(store, thrown)[0].deed.event == "emptied"
    undo(store, report.tidied.run)
    assert status(store, aged) is Status.ACTIVE
    assert lately
    assert status(store, restore(store, lately.stem).memory.id) is Status.ACTIVE


def test_tidying_leaves_the_trash_alone_while_there_is_room(store: Store, clock: Clock) -> None:
    path = forget(store, stored(store, "Forgotten long ago")).path
    clock.pass_days(400)

    tidy(store)

    assert path and path.exists()


# The size


def test_the_size_counts_every_project_the_index_the_trash_and_the_ledger(
    store: Store, elsewhere: Store
) -> None:
    before = measure(store)
    stored = remember(elsewhere, Draft("Big", "x" * 5000))
    file = len(stored.path.read_bytes())

    after = measure(store)
    assert after.memories - before.memories == file
    assert after.ledger > before.ledger
    assert after.index == index_size(store)

    forget(elsewhere, stored.memory.id)
    assert (measure(store).memories, measure(store).trash) == (before.memories, file)


@pytest.mark.feature("D-44")
@pytest.mark.parametrize(
    ("total", "limit", "wording"),
    [
        (79, 100, ""),
        (80, 100, "takes 80.0 of 100 MB"),
        (101, 100, "more than its limit of 100"),
        (999, 0, ""),
    ],
)
def test_it_is_said_from_four_fifths_of_the_limit_on(total: int, limit: int, wording: str) -> None:
    size_shown = shown.size(
        Size(memories=total * MEGABYTE, index=0, trash=0, history=0, ledger=0, limit=limit * MEGABYTE)
    )

    assert wording in size_shown
    assert bool(wording) == bool(size_shown)


def over(open_here: Open, **more: str) -> Store:
    """Return a store with a limit of one megabyte that holds more."""
    store = open_here(MAX_MEMORY_SIZE_MB="1", **more).store()
    for part in range(3):
        text = f"part{part}{'x' * 1000} " * 360
        remember(store, Draft(f"Long {part}", text, kind=Kind.CONVERSATION, source=TRANSCRIPT))
    assert measure(store).is_over
    return store


def test_above_the_limit_nothing_is_refused_and_status_and_a_session_say_so_once_a_day(
    open_here: Open, clock: Clock
) -> None:
    store = over(open_here)

    stored(store, "Port", "Staging listens on 8080.")

    needs = [need for need in needs_of(state_of(store, has_key=False)) if "MAX_MEMORY_SIZE_MB" in need]
    assert len(needs) == 1
    assert sentence(notice(store, identity="")).startswith("Daybook: The memory takes")
    assert sentence(notice(store, identity="")) == ""
    clock.pass_days(1)
    assert sentence(notice(store, identity="")) != ""
    assert len(list((store.home / "work").glob("size-told-*"))) == 1


def test_a_hook_looks_at_no_file_while_the_index_is_small(store: Store, project: Path) -> None:
    stored(store, "Port", "Staging listens on 8080.")
    environment = {"MEMORY_DIR": str(store.home), "EMBEDDING_MODEL": "none"}

    assert sentence(notice(open_for_reading(environment, project), identity="")) == ""
    assert not (store.home / "work").exists()


@pytest.mark.feature("D-24")
def test_above_the_limit_unused_conversations_age_sooner_and_the_old_trash_is_emptied(
    open_here: Open, clock: Clock
) -> None:
    store = over(open_here)
    used = remember(
        store, Draft("Used", "zirconium lighthouse", kind=Kind.CONVERSATION, source=TRANSCRIPT)
    ).memory.id
    decision = stored(store, "Port", "Staging listens on 8080.", type="decision")
    old = forget(store, stored(store, "Forgotten long ago")).path
    clock.pass_days(1)
    recall(store, Query("zirconium lighthouse"), given_to="s")
    clock.pass_days(45)

    report = tidy(store)

    assert len(report.entries) == 3
    assert all("space is short" in because(entry) for entry in report.entries)
    assert (status(store, used), status(store, decision)) == (Status.ACTIVE, Status.ACTIVE)
    assert old and old.exists()
    clock.pass_days(60)
    dry = tidy(store, dry_run=True)
    assert old.exists()
    assert (dry.emptied, tidy(store).emptied) == (1, 1)
    assert not old.exists()


def test_with_room_unused_conversations_wait_their_time(store: Store, clock: Clock) -> None:
    remember(store, Draft("Long", "words", kind=Kind.CONVERSATION))
    clock.pass_days(46)

    assert tidy(store).entries == []


# History and figures


@pytest.mark.feature("B-26")
def test_the_history_tells_what_was_done_and_by_which_session(store: Store, clock: Clock) -> None:
    gone = stored(store, "Port", "Staging listens on 8080.", session="one")
    clock.pass_days(0.1)
    revise(store.in_session("two"), gone, Revision(tags=("net",)))
    clock.pass_days(0.1)
    forget(store.in_session("two"), gone)
    memory_id = stored(store, "Branch", "Deploys run from main.")

    rows = list_deeds(store, gone)

    assert [(row.deed.event, row.deed.session, row.title) for row in rows] == [
        ("forgotten", "two", ""),
        ("revised", "two", ""),
        ("remembered", "one", ""),
    ]
    assert [row.deed.id for row in list_deeds(store, session="two")] == [gone, gone]
    assert [row.deed.id for row in list_deeds(store, limit=1)] == [memory_id]
    for limit in (0, 501):
        with pytest.raises(Rejected):
            list_deeds(store, limit=limit)
    with pytest.raises(NotFound):
        list_deeds(store, "never-was")


def test_the_history_of_other_projects_is_told_when_asked_for(store: Store, elsewhere: Store) -> None:
    of_other = stored(elsewhere, "Theirs")
    of_this = stored(store, "Ours")

    assert [row.deed.id for row in list_deeds(store)] == [of_this]
    assert {row.deed.id for row in list_deeds(store, all_projects=True)} == {of_this, of_other}


def test_the_figures_count_the_month_and_all_time(store: Store, clock: Clock) -> None:
    stored(store, "Port", "Staging listens on 8080.")
    clock.pass_days(20)
    stored(store, "Branch", "Deploys run from main.")
    recall(store, Query("staging port"), given_to="s")
    catch_up(store)

    figures = metrics(store)

    assert figures.since == "2026-12-01"
    assert (figures.month["remembered"], figures.ever["remembered"], figures.month["recalled"]) == (1, 2, 1)
    assert figures.stats.memories == 2
    assert figures.size.total == measure(store).total


def test_the_trash_of_a_store_without_one_is_empty(store: Store) -> None:
    assert (trash.late(store), trash.size(store)) == ([], 0)


def test_what_was_done_is_listed_page_by_page_and_by_one_author(store: Store) -> None:
    ids = [stored(store, f"Number {number}") for number in range(3)]
    forget(store, ids[0])

    listed = [row.deed.id for row in list_deeds(store)]

    assert [row.deed.id for row in list_deeds(store, limit=2, offset=1)] == listed[1:3]
    assert list_deeds(store, by="claude") == []
