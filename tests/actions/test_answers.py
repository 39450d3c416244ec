"""What becomes of what waits, by one word of the person's, and how each of them is taken back."""

from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.candidate import SEEN_SELDOM, propose, review_candidates
from mcp_server.actions.memory.forget import restore
from mcp_server.actions.memory.link import link, unlink
from mcp_server.actions.memory.promote import pin
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.review.entries import Became, Verdict
from mcp_server.actions.review.review import (
    CANDIDATE,
    ORIGIN,
    QUESTION,
    STALE,
    counts,
    review,
    settle,
    settle_all,
)
from mcp_server.adapters.places import note_project
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.doors.shown.review import outcome, why
from mcp_server.store import Store
from tests.conftest import Clock, Open
from tests.memories import entry_of

OLD = "The gateway ends large uploads after 30 seconds. Customers get a mail."
NEW = "The gateway ends large uploads after 60 seconds."


def remembered(store: Store, text: str, *, title: str = "Uploads", **more: object) -> str:
    return remember(store, Draft(title, text, **{"type": "decision", **more})).memory.id  # type: ignore[arg-type]


def waits(store: Store) -> dict[str, int]:
    return dict(review(store).counts)


@pytest.fixture
def ends(store: Store, clock: Clock) -> tuple[str, str]:
    """The ids of two memories that may not both hold, the newer first."""
    older = remembered(store, OLD, tags=("net",))
    clock.pass_days(1)
    return remembered(store, NEW), older


@pytest.mark.parametrize(
    ("verdict", "became"), [(Verdict.REPLACES, Became.REPLACED), (Verdict.KEEP_BOTH, Became.KEPT_BOTH)]
)
def test_two_that_are_only_alike_are_settled_too(store: Store, verdict: Verdict, became: Became) -> None:
    remembered(store, "Exports are written as parquet files.", title="Exports")
    remembered(store, "Exports are written as parquet files; the analysts asked.", title="Exports")
    entry = entry_of(store)
    assert "says all of both" in why(entry)

    assert settle(store, entry, verdict) is became

    assert waits(store) == {}


def test_the_newer_replaces_the_older_and_that_is_taken_back(store: Store, ends: tuple[str, str]) -> None:
    newer, older = ends
    entry = entry_of(store)
    assert entry.ids == ends
    assert entry.answers == (Verdict.REPLACES, Verdict.KEEP_BOTH, Verdict.MERGE, Verdict.LATER)

    assert settle(store, entry, Verdict.REPLACES) is Became.REPLACED

    gone = read(store, older).memory
    assert (gone.status, gone.superseded_by, gone.text) == (Status.SUPERSEDED, newer, OLD)
    assert waits(store) == {}
    unlink(store, newer, older, "supersedes")
    assert waits(store) == {QUESTION: 1}


def test_two_that_are_kept_are_no_question_and_stay_as_they_are(store: Store, ends: tuple[str, str]) -> None:
    before = [read(store, memory_id).data for memory_id in ends]

    assert settle(store, entry_of(store), Verdict.KEEP_BOTH) is Became.KEPT_BOTH

    assert waits(store) == {}
    assert [read(store, memory_id).data for memory_id in ends] == before


def test_a_merge_loses_no_sentence_and_is_taken_back_in_one_step(store: Store, ends: tuple[str, str]) -> None:
    pin(store, ends[1], pinned=True)
    before = {memory_id: read(store, memory_id).data for memory_id in ends}
    entry = entry_of(store)
    text = f"{NEW}\nThe gateway ends large uploads after 30 seconds.\nCustomers get a mail."
    assert entry.merged == ("Uploads", text)

    assert settle(store, entry, Verdict.MERGE) is Became.MERGED

    merged = read(store, read(store, ends[0]).memory.superseded_by).memory
    assert (merged.text, merged.tags, merged.pinned) == (text, ("net",), True)
    assert {read(store, memory_id).memory.status for memory_id in ends} == {Status.SUPERSEDED}
    assert waits(store) == {}
    undo(store, last_change(store, ends[0]))
    assert {memory_id: read(store, memory_id).data for memory_id in ends} == before
    assert waits(store) == {QUESTION: 1}


@pytest.mark.parametrize("verdict", [Verdict.REPLACES, Verdict.KEEP_BOTH, Verdict.MERGE])
def test_what_changed_after_it_was_shown_is_not_settled(
    store: Store, ends: tuple[str, str], verdict: Verdict
) -> None:
    entry = entry_of(store)
    revise(store, ends[1], Revision(text=f"{OLD} And by phone."))

    assert settle(store, entry, verdict) is Became.CHANGED

    assert {read(store, memory_id).memory.status for memory_id in ends} == {Status.ACTIVE}
    assert settle(store, entry, Verdict.LATER) is Became.LATER


def test_a_link_that_somebody_wrote_is_settled_like_the_rest(store: Store) -> None:
    invoices, build = (
        remembered(store, "Invoices are numbered per year"),
        remembered(store, "The build caches wheels"),
    )
    link(store, invoices, build, "contradicts")
    entry = entry_of(store)
    assert Verdict.MERGE not in entry.answers
    with pytest.raises(Rejected, match="does not settle"):
        settle(store, entry, Verdict.MERGE)

    assert settle(store, entry, Verdict.KEEP_BOTH) is Became.KEPT_BOTH

    assert waits(store) == {}
    assert read(store, invoices).memory.links == ()


def test_what_was_restored_beside_its_successor_is_settled(store: Store, ends: tuple[str, str]) -> None:
    newer, older = ends
    settle(store, entry_of(store), Verdict.REPLACES)
    restore(store, older)
    entry = entry_of(store)
    assert entry.ids == ends

    assert settle(store, entry, Verdict.REPLACES) is Became.REPLACED

    assert read(store, older).memory.status is Status.SUPERSEDED
    assert read(store, newer).memory.supersedes == (older,)


def test_a_candidate_is_kept_or_not_proposed_again(store: Store) -> None:
    for letter, sure in (("a", 0.5), ("b", 0.4), ("c", 0.99)):
        draft = Draft(f"Title {letter}", f"The text of {letter}.", source="mined")
        propose(store, draft, key=16 * letter, confidence=sure, why=SEEN_SELDOM)
    wanted, refused = (entry for entry in review(store).entries if entry.kind == CANDIDATE)
    assert wanted.answers == (Verdict.ACCEPT, Verdict.REJECT, Verdict.LATER)

    assert settle(store, wanted, Verdict.ACCEPT) is Became.ACCEPTED
    assert settle(store, refused, Verdict.REJECT) is Became.REJECTED

    assert settle(store, wanted, Verdict.ACCEPT) is Became.GONE
    assert waits(store) == {}
    assert [candidate.memory.title for candidate in review_candidates(store)] == ["Title c"]


def test_what_is_about_changed_files_still_holds_or_goes(store: Store, project: Path, clock: Clock) -> None:
    for name in ("gone.py", "changed.py"):
        (project / name).write_text("1", encoding="utf-8")
        remembered(store, f"{name} has the retry loop", title=name, touches=(name,), level=Level.PROJECT)
    assert counts(store)[STALE] == 0
    (project / "gone.py").unlink()
    (project / "changed.py").write_text("other", encoding="utf-8")
    first, second = (entry for entry in review(store).entries if entry.kind == STALE)
    assert (why(first), why(second)) == (
        "is about files that have changed: gone.py is gone",
        "is about files that have changed: changed.py changed since",
    )

    assert settle(store, first, Verdict.REJECT) is Became.REJECTED
    assert settle(store, second, Verdict.HOLDS) is Became.CONFIRMED

    assert counts(store)[STALE] == 0
    assert read(store, second.id).memory.verified == clock()


def test_what_still_holds_is_what_was_shown_although_the_repository_has_another_of_that_id(
    open_here: Open, project: Path
) -> None:
    (project / "loop.py").write_text("1", encoding="utf-8")
    own = remembered(open_here().store(), "The loop retries.", touches=("loop.py",), level=Level.PROJECT)
    in_repository = project / ".claude-memory" / "knowledge" / f"{own}.md"
    in_repository.parent.mkdir(parents=True)
    in_repository.write_text(f"---\nid: {own}\n---\nThe loop is in Go.\n", encoding="utf-8")
    opened = open_here().store()
    assert opened.project
    note_project(opened.home, opened.project, adopt=in_repository.parent.parent)
    store = open_here().store()
    (project / "loop.py").write_text("other", encoding="utf-8")

    assert settle(store, entry_of(store, STALE), Verdict.HOLDS) is Became.CONFIRMED
    assert STALE not in waits(store)
    assert "verified" not in in_repository.read_text(encoding="utf-8")


def test_every_kind_has_its_share_of_the_list(store: Store, memory_dir: Path) -> None:
    for number in range(30):
        path = memory_dir / "knowledge" / f"m{number:02}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"id: m{number:02}\ntitle: M{number}\nsource: assistant\n"
        path.write_text(f"---\n{head}---\nSaid {number}.\n", encoding="utf-8")
    remembered(store, OLD)
    remembered(store, NEW)

    review_list = review(store)

    assert len(review_list.entries) == 20
    assert review_list.counts == {QUESTION: 1, ORIGIN: 30}
    assert [entry.kind for entry in review_list.entries[:2]] == [QUESTION, ORIGIN]


def test_one_that_is_refused_stops_no_other(store: Store) -> None:
    for number, port in enumerate((5433, 5434)):
        propose(store, Draft(f"Port {port}", f"It is {port}."), key=f"{number}" * 16, confidence=1, why="")
    secret, _ = (waiting.path for waiting in review_candidates(store))
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    secret.write_text(f"{secret.read_text('utf-8')}The token is {token}.\n", encoding="utf-8")
    entries = [entry for entry in review(store).entries if entry.kind == CANDIDATE]
    refused = next(entry.id for entry in entries if entry.path == str(secret))

    outcomes = settle_all(store, [(entry, Verdict.ACCEPT) for entry in entries])

    told = {entry.id: outcome(entry, became) for entry, became in outcomes}
    assert told.pop(refused).startswith("not settled: ")
    assert [word.startswith("accepted") for word in told.values()] == [True]
    assert waits(store) == {CANDIDATE: 1}
