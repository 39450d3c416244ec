"""Everything learned in one session goes, and comes back in one command."""

from pathlib import Path

import pytest

from mcp_server.actions.capture.learn import next_piece
from mcp_server.actions.changes.undo import change_named, last_change
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up, rebuild
from mcp_server.actions.judge.candidate import review_candidates
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.sessions.forget_session import forget_session, undo_forget_session
from mcp_server.actions.sessions.session_history import find_session
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters.index.events import candidates
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Filter
from mcp_server.doors.shown.runs import because
from mcp_server.doors.shown.sessions import forgotten
from mcp_server.store import Store
from tests.actions.tidy.knowledge import plan_of
from tests.conftest import Clock, Open
from tests.memories import status
from tests.recorded import Recorded, kept
from tests.scripted_model import ScriptedModel, agreed

DECIDED = "We decided to keep invoices in Postgres because the reports need window functions."


def remembered(store: Store, title: str, text: str, *, session: str = "bad", **more: object) -> str:
    return remember(store, Draft(title, text, session=session, **more)).memory.id  # type: ignore[arg-type]


def active(store: Store) -> set[str]:
    return {row.id for row in list_memories(store, Filter(), limit=50).rows}


def files_of(store: Store) -> dict[str, bytes]:
    """Return every memory and candidate outside the trash."""
    data_by_name = {str(path.relative_to(store.home)): path.read_bytes() for path in store.home.rglob("*.md")}
    return {name: data for name, data in data_by_name.items() if not name.startswith("trash/")}


@pytest.fixture
def recorded(tmp_path: Path, project: Path) -> Recorded:
    recorded = Recorded(tmp_path / "transcripts", cwd=project, session="bad")
    recorded.user(DECIDED)
    recorded.claude("Noted.")
    return recorded


def test_what_a_session_learned_goes_and_comes_back_to_the_byte(store: Store, recorded: Recorded) -> None:
    before = remembered(store, "Port", "Staging listens on 8080.", session="good")
    kept(store, recorded)
    learned = remembered(store, "Proxy", "Staging sits behind the proxy of evil.example.")
    mine = remembered(store, "Short commits", "Below 60 characters.", level=Level.USER)
    files = files_of(store)
    assert len(review_candidates(store)) == 1

    plan = forget_session(store, "bad", dry_run=True)

    assert files_of(store) == files
    assert len(plan.entries) == 4

    report = forget_session(store, "bad", dry_run=False)

    assert [because(entry) for entry in report.entries] == [because(entry) for entry in plan.entries]
    assert not report.failed and not report.left
    assert active(store) == {before}
    assert review_candidates(store) == []
    with pytest.raises(NotFound):
        read(store, learned)
    with pytest.raises(NotFound):
        read(store, mine)
    assert find_session(store, "bad").forgotten == store.now()

    back = undo_forget_session(store, "bad")

    assert sorted(back.restored) == sorted(entry.changes[-1].id for entry in report.entries)
    assert back.skipped == []
    assert files_of(store) == files
    assert active(store) == {before, learned, mine, "bad"}
    assert len(review_candidates(store)) == 1
    assert find_session(store, "bad").forgotten == 0


def test_a_run_that_is_named_tells_who_made_it_when_and_in_which_session(store: Store) -> None:
    remembered(store, "Proxy", "Staging sits behind the proxy of evil.example.")
    report = forget_session(store.in_session("good"), "bad", dry_run=False)

    change = change_named(store, report.run)

    assert (change.by, change.at, change.session) == (PERSON, store.now(), "good")
    assert change == last_change(store)


def test_what_stood_in_the_way_of_the_undo_can_be_cleared_and_the_rest_undone(store: Store) -> None:
    bad = remembered(store, "Queue", "Jobs run on SQS.")
    place = read(store, bad).path
    before = files_of(store)
    forget_session(store, "bad", dry_run=False)
    place.write_text("Mine.")

    assert [memory_id for memory_id, _ in undo_forget_session(store, "bad").skipped] == [bad]

    place.unlink()
    assert undo_forget_session(store, "bad").restored == [bad]
    assert files_of(store) == before
    with pytest.raises(Rejected, match="Nothing of that session was forgotten"):
        undo_forget_session(store, "bad")


def test_what_it_superseded_is_active_again_or_superseded_by_what_came_later(store: Store) -> None:
    old = remembered(store, "Queue", "Jobs run on Redis.", session="good")
    older = remembered(store, "Cache", "The cache is warmed nightly.", session="good")
    bad = remembered(store, "Queue now", "Jobs run on SQS.", supersedes=(old,))
    revise(store.in_session("bad"), older, Revision(tags=("cache",)))
    middle = remembered(store, "Cache now", "The cache is warmed never.", supersedes=(older,))
    last = remembered(
        store, "Cache today", "The cache is warmed hourly.", session="later", supersedes=(middle,)
    )

    report = forget_session(store, "bad", dry_run=False)

    memory = read(store, old).memory
    assert (memory.status, memory.superseded_by, memory.valid_to) == (Status.ACTIVE, "", None)
    assert (status(store, older), read(store, older).memory.superseded_by) == (Status.SUPERSEDED, last)
    assert any(f"[{old}] is active again" in because(entry) for entry in report.entries)
    assert any(f"[{older}] is superseded by [{last}] then" in because(entry) for entry in report.entries)
    assert report.left == {older: ("revised",)}

    undo_forget_session(store, "bad")

    assert (status(store, old), read(store, old).memory.superseded_by) == (Status.SUPERSEDED, bad)
    assert read(store, older).memory.superseded_by == middle


def test_what_is_no_longer_there_is_not_said_to_be_left(store: Store) -> None:
    deleted = remembered(store, "Queue", "Jobs run on Redis.")
    learned = remembered(store, "Cache", "The cache is warmed nightly.")
    for name in (deleted, learned):
        revise(store.in_session("bad"), name, Revision(tags=("ops",)))
    Path(read(store, deleted).path).unlink()

    first = forget_session(store, "bad", dry_run=False)
    second = forget_session(store, "bad", dry_run=False)

    assert (len(first.entries), first.left) == (1, {})
    assert (second.entries, second.left) == ([], {})
    assert (forgotten(first).head[:4], forgotten(second).head[:7]) == ("Done", "Nothing")


def test_a_memory_that_a_merge_made_of_its_words_goes_and_the_other_source_returns(
    open_here: Open, clock: Clock
) -> None:
    words = "Backups of the shop are made each night; restores are tried each month by hand."
    merged = {"from": [2, 3], "title": "Backups and restores", "text": words}
    with ScriptedModel([plan_of(keep=[1, 4, 5], merge=[merged])]) as api:
        store = open_here(**agreed(api)).store()
        ids = []
        for session, text in (
            ("good", "Invoices leave through the billing worker."),
            ("bad", "Backups of the shop are made each night."),
            ("good", "Restores are tried each month by hand."),
            ("good", "Indexes are rebuilt on Sundays by the loader."),
            ("good", "Translations live in the folder locales."),
        ):
            ids.append(remembered(store, text, text, session=session, type="decision", source="extracted"))
            clock.pass_days(0.01)
        clock.pass_days(2)
        (entry,) = tidy(store).entries
        merged_id = entry.changes[0].id

        gone = forget_session(store, "bad", dry_run=False)

    assert {entry.changes[-1].id for entry in gone.entries} == {merged_id, ids[1]}
    assert status(store, ids[2]) is Status.ACTIVE
    with pytest.raises(NotFound):
        read(store, merged_id)
    undo_forget_session(store, "bad")
    assert (status(store, merged_id), status(store, ids[2])) == (Status.ACTIVE, Status.SUPERSEDED)


def test_a_forgotten_session_is_not_learned_from_again_until_it_says_something_new(
    store: Store, recorded: Recorded
) -> None:
    kept(store, recorded)
    recorded.user("And the totals are rounded per line, which nobody has read yet.")
    assert next_piece(store)

    forget_session(store, "bad", dry_run=False)

    assert next_piece(store) is None
    kept(store, recorded)
    assert "bad" not in active(store)
    recorded.user("From here on we talk about something else.")
    kept(store, recorded)
    words = read(store, "bad").memory.text
    assert "something else" in words
    assert "Postgres" not in words
    assert "totals" not in words


def test_taking_it_back_lets_the_transcript_be_read_from_where_it_was(
    store: Store, recorded: Recorded
) -> None:
    kept(store, recorded)
    recorded.user("And the totals are rounded per line, which nobody has read yet.")
    forget_session(store, "bad", dry_run=False)
    forget_session(store, "bad", dry_run=False)

    undo_forget_session(store, "bad")

    kept(store, recorded)
    words = read(store, "bad").memory.text
    assert "Postgres" in words
    assert words.count("totals") == 1
    assert next_piece(store)


def test_what_was_sighted_in_it_counts_no_more(store: Store, recorded: Recorded) -> None:
    kept(store, recorded)
    (waiting,) = review_candidates(store)

    def times() -> list[int]:
        catch_up(store)
        with store.database.read() as db:
            return candidates.times(db, waiting.memory.id)

    assert times() == [1]
    forget_session(store, "bad", dry_run=False)
    assert times() == []
    rebuild(store)
    assert times() == []
    undo_forget_session(store, "bad")
    assert times() == [1]


def test_a_session_of_another_project_is_forgotten_there(store: Store, elsewhere: Store) -> None:
    memory_id = remembered(elsewhere, "Proxy", "Staging sits behind a proxy.")

    forget_session(store, "bad", dry_run=False)

    with pytest.raises(NotFound):
        read(elsewhere, memory_id)
    undo_forget_session(store, "bad")
    assert status(elsewhere, memory_id) is Status.ACTIVE


def test_what_was_changed_since_stays_and_is_said(store: Store) -> None:
    old = remembered(store, "Queue", "Jobs run on Redis.", session="good")
    remembered(store, "Queue now", "Jobs run on SQS.", supersedes=(old,))
    forget_session(store, "bad", dry_run=False)
    path = read(store, old).path
    path.write_bytes(path.read_bytes().replace(b"Redis", b"Valkey"))

    back = undo_forget_session(store, "bad")

    assert [memory_id for memory_id, _ in back.skipped] == [old]
    assert "Valkey" in read(store, old).memory.text


def test_a_session_that_nobody_knows_or_forgot_is_said(store: Store) -> None:
    remembered(store, "Port", "Staging listens on 8080.", session="good")

    with pytest.raises(Rejected, match="no session 'never-was'"):
        forget_session(store, "never-was", dry_run=False)
    with pytest.raises(Rejected, match="Nothing of that session was forgotten"):
        undo_forget_session(store, "good")
