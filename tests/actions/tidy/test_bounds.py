"""One run puts little away, and whatever it put away is told once, with the command that takes it back."""

from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.context.notice import notice
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.review.entries import Verdict
from mcp_server.actions.review.review import AGED, Became, review, settle
from mcp_server.actions.status.status import status as standing
from mcp_server.actions.upkeep.tidy import tidy, tidy_when_due
from mcp_server.actions.upkeep.work import work
from mcp_server.bootstrap import open_for_reading
from mcp_server.core.errors import Rejected
from mcp_server.core.judge.ageing import within_bounds
from mcp_server.core.memory_parts import Kind, Level, Status
from mcp_server.core.provenance.provenance import TRANSCRIPT
from mcp_server.core.remarks import NotArchived
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.store import Store
from tests.actions.tidy.knowledge import put
from tests.conftest import Clock, Open
from tests.memories import status

pytestmark = pytest.mark.usefixtures("steady_use")

NEEDS = "Since you were last told, upkeep put"


def notes(
    store: Store, number: int, *, level: Level = Level.PROJECT, clock: Clock | None = None
) -> list[str]:
    ids = []
    for index in range(number):
        ids.append(
            put(store, f"Passing thought {level} {index:04} of {index * 7919}", type="note", level=level)
        )
        if clock:
            clock.pass_days(0.001)
    return ids


@pytest.mark.parametrize(
    ("aged", "lasting", "gone"), [(12, 0, 5), (30, 0, 6), (5, 0, 5), (20, 230, 20), (80, 400, 50)]
)
def test_a_run_takes_fifty_and_a_fifth_of_a_level_at_most(aged: int, lasting: int, gone: int) -> None:
    rows = [("project", number) for number in range(aged)]

    assert within_bounds(rows, {"project": aged + lasting}) == list(range(gone))


def test_levels_are_counted_apart_and_the_oldest_go_first() -> None:
    rows = [("user" if number % 2 else "project", number) for number in range(40)]

    assert within_bounds(rows, {"user": 100, "project": 10}) == sorted([*range(1, 40, 2), 0, 2, 4, 6, 8])


def test_the_oldest_go_first_the_rest_stays_and_is_one_entry_that_is_kept_or_archived(
    store: Store, clock: Clock
) -> None:
    ids = notes(store, 30, clock=clock)
    talks = [
        put(store, f"user: hello {n}", title=f"Talk {n}", kind=Kind.CONVERSATION, source=TRANSCRIPT)
        for n in range(9)
    ]
    assert AGED not in [entry.kind for entry in review(store).entries]
    clock.pass_days(91)

    report = tidy(store)

    assert (report.counts, report.left) == ({"ageing": 15}, 24)
    assert [memory_id for memory_id in ids if status(store, memory_id) is Status.ARCHIVED] == ids[:6]
    assert {status(store, talk) for talk in talks} == {Status.ARCHIVED}
    (entry,) = review(store).entries
    assert (entry.kind, entry.title) == (AGED, "24 memories without a sign of life")
    assert f"[{ids[6]}]" in entry.text
    rebuild(store)
    assert review(store).entries[0].digest == entry.digest

    put(store, "Passing thought in between", type="note")
    assert settle(store, entry, Verdict.REJECT) is Became.REJECTED
    assert review(store).entries == ()
    clock.pass_days(2000)
    assert tidy(store).counts == {"ageing": 1}
    assert [memory_id for memory_id in ids if status(store, memory_id) is Status.ACTIVE] == ids[6:]


def test_the_rest_can_be_archived_at_once_and_taken_back(store: Store, clock: Clock) -> None:
    ids = notes(store, 30)
    clock.pass_days(91)
    tidy(store)
    (entry,) = review(store).entries

    assert settle(store, entry, Verdict.ACCEPT) is Became.ACCEPTED

    assert {status(store, memory_id) for memory_id in ids} == {Status.ARCHIVED}
    undo(store, last_change(store))
    assert sum(status(store, memory_id) is Status.ACTIVE for memory_id in ids) == 24


def test_what_cannot_be_archived_is_named_and_the_rest_is_archived(store: Store, clock: Clock) -> None:
    ids = notes(store, 30)
    clock.pass_days(91)
    tidy(store)
    (entry,) = review(store).entries
    aged = [memory_id for memory_id in ids if status(store, memory_id) is Status.ACTIVE]
    in_the_way = read(store, aged[0]).path.parents[1] / "archive" / f"{aged[0]}.md"
    in_the_way.mkdir()
    store.database.trouble.remarks()

    assert settle(store, entry, Verdict.ACCEPT) is Became.ACCEPTED

    (remark,) = store.database.trouble.remarks()
    assert isinstance(remark, NotArchived)
    assert [name for name, _ in remark.failures] == [aged[0]]
    assert str(in_the_way) in dict(remark.failures)[aged[0]]
    assert [name for name in aged if status(store, name) is Status.ACTIVE] == [aged[0]]


def test_a_folder_that_takes_no_file_keeps_nothing_else_from_being_archived(
    store: Store, clock: Clock
) -> None:
    (stuck,), (free,) = notes(store, 1), notes(store, 1, level=Level.USER)
    archive = read(store, stuck).path.parents[1] / "archive"
    archive.rmdir()
    archive.write_text("A file of another program.")
    clock.pass_days(91)

    report = tidy(store)

    assert [status(store, memory_id) for memory_id in (stuck, free)] == [Status.ACTIVE, Status.ARCHIVED]
    assert [failure.entry.reason.ids for failure in report.failed] == [(stuck,)]


def test_what_aged_after_it_was_shown_is_not_settled_with_it(store: Store, clock: Clock) -> None:
    notes(store, 30)
    clock.pass_days(50)
    put(store, "A later passing thought", type="note")
    clock.pass_days(41)
    tidy(store)
    (entry,) = review(store).entries
    clock.pass_days(50)

    assert settle(store, entry, Verdict.ACCEPT) is Became.CHANGED


def test_conversations_are_bounded_apart(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_server.actions.upkeep.age.MOST_APART", 3)
    for n in range(5):
        put(store, f"user: hello {n}", title=f"Talk {n}", kind=Kind.CONVERSATION, source=TRANSCRIPT)
    clock.pass_days(91)

    assert (tidy(store).counts, tidy(store).counts, tidy(store).counts) == ({"ageing": 3}, {"ageing": 2}, {})


def hooked(store: Store, project: Path) -> Store:
    """Return the store as the hook of a new session sees it: its index is only read."""
    return open_for_reading({"MEMORY_DIR": str(store.home), "EMBEDDING_MODEL": "none"}, project)


def test_what_upkeep_put_away_by_itself_is_told_once_with_the_way_back(
    store: Store, clock: Clock, project: Path
) -> None:
    ids = notes(store, 3)
    clock.pass_days(91)
    report = tidy_when_due(store)
    assert report and report.counts == {"ageing": 3}
    line = (
        f"upkeep put 3 memories away on {clock.now:%Y-%m-%d}, as aged or unused; "
        f"'daybook undo {report.run}' reverses it."
    )
    assert f"Since you were last told, {line}" in needs_of(standing(store, has_key=False))

    notices = [sentence(notice(hooked(store, project), identity="")) for _ in range(2)]

    assert notices == [f"Daybook: {line}", ""]
    rebuild(store)
    (store.home / "work").rename(store.home / "lost")
    assert sentence(notice(hooked(store, project), identity="")) == ""
    assert not [need for need in needs_of(standing(store, has_key=False)) if NEEDS in need]
    undo(store, last_change(store, report.run))
    assert {status(store, memory_id) for memory_id in ids} == {Status.ACTIVE}


def test_several_runs_are_told_in_one_line_and_taken_back_by_their_names(
    store: Store, clock: Clock, project: Path
) -> None:
    first = notes(store, 2, level=Level.USER)
    clock.pass_days(20)
    second = notes(store, 2)
    clock.pass_days(71)
    begun = clock.now
    reports = [tidy_when_due(store)]
    clock.pass_days(20)
    reports.append(tidy_when_due(store))
    runs = [report.run for report in reports if report]

    notice_text = sentence(notice(hooked(store, project), identity=""))

    assert notice_text.endswith(f"'daybook undo' with each of {runs[0]}, {runs[1]} reverses it.")
    assert f"upkeep put 4 memories away since {begun:%Y-%m-%d}" in notice_text
    for run in runs:
        undo(store, last_change(store, run))
    assert {status(store, memory_id) for memory_id in (*first, *second)} == {Status.ACTIVE}
    with pytest.raises(Rejected, match="was undone already"):
        last_change(store, runs[0])


def test_what_was_put_away_before_a_folder_was_renamed_is_told_where_it_is_now(
    store: Store, clock: Clock, project: Path, open_here: Open
) -> None:
    ids = notes(store, 3)
    clock.pass_days(91)
    report = tidy_when_due(store)
    assert report and store.project
    moved = project.rename(project.with_name("store"))
    moved_store = open_here(moved).store()
    assert moved_store.project
    (store.home / "projects" / store.project.key).rename(store.home / "projects" / moved_store.project.key)
    elsewhere = open_here(project.parent).store()
    sync(moved_store)
    sync(elsewhere)

    assert sentence(notice(elsewhere, identity="")) == ""
    assert f"'daybook undo {report.run}'" in sentence(notice(moved_store, identity=""))
    undo(moved_store, last_change(moved_store, report.run))
    assert {status(moved_store, memory_id) for memory_id in ids} == {Status.ACTIVE}


def test_who_tidies_by_hand_reads_the_report_and_is_told_nothing_more(
    store: Store, clock: Clock, project: Path
) -> None:
    notes(store, 3)
    clock.pass_days(91)
    assert tidy(store).counts == {"ageing": 3}

    assert sentence(notice(hooked(store, project), identity="")) == ""


def test_upkeep_runs_when_nothing_is_captured(open_here: Open, clock: Clock) -> None:
    store = open_here(DAYBOOK_CAPTURE="manual").store()
    ids = notes(store, 3)
    clock.pass_days(91)

    work(lambda _: store)

    assert {status(store, memory_id) for memory_id in ids} == {Status.ARCHIVED}


def test_upkeep_runs_once_a_week_when_nothing_is_learned(store: Store, clock: Clock) -> None:
    ids = notes(store, 3)
    clock.pass_days(6)
    assert tidy_when_due(store) is None
    clock.pass_days(85)

    work(lambda _: store)

    assert {status(store, memory_id) for memory_id in ids} == {Status.ARCHIVED}
    clock.pass_days(6)
    assert tidy_when_due(store) is None
    clock.pass_days(1)
    assert tidy_when_due(store) is not None
