"""Every word that settles what waits is the person's change: undo takes it back, and once more redoes it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcp_server.actions.changes.history import history_of
from mcp_server.actions.changes.undo import is_persons, last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.judge.candidate import SEEN_SELDOM, propose
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.judge.persons_word import may_change, may_forget
from mcp_server.actions.memory.repository import init, trust
from mcp_server.actions.memory.trust import trust_history
from mcp_server.actions.review.entries import Verdict
from mcp_server.actions.review.review import (
    AGED,
    CANDIDATE,
    EVERYWHERE,
    KINDS,
    ORIGIN,
    QUESTION,
    STALE,
    review,
    settle,
)
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters.places import project_vaults
from mcp_server.adapters.project import resolve_project
from mcp_server.core.authors import CLAUDE, PERSON
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL
from mcp_server.core.text.text_relation import Statement
from mcp_server.doors.shown.review import why
from mcp_server.store import Store
from tests.actions.test_answers import remembered
from tests.actions.tidy.knowledge import files_of, put, twins
from tests.conftest import Clock, Open
from tests.memories import entry_of

pytestmark = pytest.mark.usefixtures("steady_use")

OLD = "The gateway ends large uploads after 30 seconds."
NEW = "The gateway ends large uploads after 60 seconds."
CLAUDES = Statement("Uploads", "Uploads never end.", "decision", ASSISTANT)


@dataclass(frozen=True)
class Place:
    """A store in which Claude works, its clock, and the folder of the project."""

    store: Store
    clock: Clock
    folder: Path


def _question(place: Place) -> None:
    remembered(place.store, OLD, source="extracted")
    place.clock.pass_days(1)
    remembered(place.store, NEW)


def _marked_question(place: Place) -> None:
    other = remembered(place.store, "Invoices are numbered per year")
    place.clock.pass_days(1)
    draft = Draft("Invoices", "Invoices are numbered per month", source=ASSISTANT, type="decision")
    waiting = compare_and_store(place.store, draft, supersedes=other).id
    trust(place.store, [waiting])


def _project_question(place: Place) -> None:
    remembered(place.store, OLD, level=Level.USER)
    place.clock.pass_days(1)
    remembered(place.store, NEW, level=Level.PROJECT)


def _everywhere_question(place: Place) -> None:
    remembered(place.store, OLD, level=Level.PROJECT)
    place.clock.pass_days(1)
    remembered(place.store, NEW, level=Level.USER)


def _origin(place: Place) -> None:
    old = remembered(place.store, OLD, source=ASSISTANT)
    trust(place.store, [old])
    place.clock.pass_days(1)
    remembered(place.store, NEW, source=ASSISTANT, supersedes=(old,))


def _document(place: Place) -> None:
    remembered(place.store, OLD, source="seeded")


def _shared(place: Place) -> None:
    theirs = place.store.vaults[-1].root / "knowledge" / "theirs.md"
    theirs.write_text(f"---\nid: theirs\ntitle: Uploads\n---\n{OLD}\n", encoding="utf-8")


def _candidate(place: Place) -> None:
    old = remembered(place.store, OLD)
    draft = Draft("Uploads", NEW, source="extracted", supersedes=(old,))
    propose(place.store, draft, key=16 * "a", confidence=0.5, why=SEEN_SELDOM)


def seen_from(store: Store, folder: Path) -> Store:
    """Return the store as the project in *folder* sees it."""
    folder.mkdir(exist_ok=True)
    project = resolve_project(folder, home=store.home)
    assert project
    return store._replace(project=project, vaults=(store.user_vault, *project_vaults(store.home, project)))


def _everywhere(place: Place) -> None:
    for name in ("office", "lab"):
        remembered(seen_from(place.store, place.folder.with_name(name)), OLD, level=Level.PROJECT)
        place.clock.pass_days(1)
    remembered(place.store, OLD, level=Level.PROJECT)


def _stale(place: Place) -> None:
    (place.folder / "retry.py").write_text("1", encoding="utf-8")
    remembered(
        place.store, "retry.py has the loop", title="Retry", touches=("retry.py",), level=Level.PROJECT
    )
    (place.folder / "retry.py").write_text("other", encoding="utf-8")
    place.clock.pass_days(1)


def _aged(place: Place) -> None:
    for number in range(12):
        put(place.store, f"Passing thought {number} of {number * 7919}", type="note", level=Level.PROJECT)
    place.clock.pass_days(91)
    tidy(place.store)


WAYS: list[tuple[str, Verdict, Callable[[Place], None]]] = [
    *((QUESTION, word, _question) for word in (Verdict.REPLACES, Verdict.KEEP_BOTH, Verdict.MERGE)),
    *(
        (QUESTION, word, prepare)
        for word in (Verdict.REPLACES, Verdict.KEEP_BOTH)
        for prepare in (_marked_question, _project_question, _everywhere_question)
    ),
    *(
        (ORIGIN, word, prepare)
        for word in (Verdict.ACCEPT, Verdict.REJECT)
        for prepare in (_origin, _document, _shared)
    ),
    *((CANDIDATE, word, _candidate) for word in (Verdict.ACCEPT, Verdict.REJECT)),
    *((STALE, word, _stale) for word in (Verdict.HOLDS, Verdict.REJECT)),
    *((EVERYWHERE, word, _everywhere) for word in (Verdict.ACCEPT, Verdict.REJECT)),
    (AGED, Verdict.REJECT, _aged),
]


def test_no_word_of_any_kind_is_left_out() -> None:
    assert {(kind, word) for kind, word, _ in WAYS} | {(AGED, Verdict.ACCEPT)} == {
        (name, word) for name, kind in KINDS.items() for word in kind.answers
    }


def test_what_was_archived_for_its_age_comes_back_and_was_wanted(store: Store, clock: Clock) -> None:
    _aged(Place(store, clock, Path()))
    before = files_of(store)
    settle(store, entry_of(store, AGED), Verdict.ACCEPT)
    assert files_of(store).keys() != before.keys()

    change = last_change(store)
    undo(store, change)

    assert (change.by, files_of(store)) == (PERSON, before)
    assert [entry.kind for entry in review(store).entries] == []


def state(store: Store, ids: tuple[str, ...]) -> object:
    """Return all that settling may change: the files, what waits, what is told, believed and kept."""
    waiting = [
        (entry.kind, entry.name, why(entry), entry.digest) for entry in review(store, limit=100).entries
    ]
    files = {path: data for path, data in files_of(store).items() if not path.startswith("trash/")}
    with store.database.read() as db:
        kept_refs = {
            ref for (ref,) in db.execute("SELECT ref FROM kept JOIN memories ON ref = vault || '/' || id")
        }
        resolved = db.execute("SELECT one, other FROM resolved ORDER BY 1").fetchall()
        judged = db.execute("SELECT * FROM judged ORDER BY 1").fetchall()
        touched = db.execute("SELECT * FROM touched ORDER BY 1, 2").fetchall()
        indexed = {row for (row,) in db.execute("SELECT id FROM memories")}
    trusted = {
        memory_id: trust_history(store, memory_id).standing.trust for memory_id in ids if memory_id in indexed
    }
    return waiting, files, kept_refs, resolved, judged, touched, trusted


@pytest.mark.parametrize(("kind", "word", "prepare"), WAYS)
def test_what_was_settled_is_taken_back_and_settled_again(
    open_here: Open,
    clock: Clock,
    project: Path,
    kind: str,
    word: Verdict,
    prepare: Callable[[Place], None],
) -> None:
    if prepare is _shared:
        init(open_here().store())
    store = open_here().store()._replace(by=lambda: CLAUDE)
    prepare(Place(store, clock, project))
    entry = entry_of(store, kind)
    before = state(store, entry.ids)

    settle(store, entry, word)

    settled = state(store, entry.ids)
    assert settled != before
    change = last_change(store, "" if kind == AGED else entry.id)
    assert change.by == PERSON
    assert is_persons(store, change)
    undo(store, change)
    assert state(store, entry.ids) == before
    rebuild(store.everywhere())
    assert state(store, entry.ids) == before
    undo(store, last_change(store))
    assert state(store, entry.ids) == settled
    undo(store, last_change(store))
    assert state(store, entry.ids) == before


def test_what_the_person_merged_is_their_word(store: Store, clock: Clock) -> None:
    _question(Place(store, clock, Path()))
    entry = entry_of(store, QUESTION)

    settle(store._replace(by=lambda: CLAUDE), entry, Verdict.MERGE)

    old = read(store, entry.id)
    merged = read(store, old.memory.superseded_by)
    assert (merged.memory.source, merged.memory.verified) == (MANUAL, clock())
    assert not may_change(merged, CLAUDES)
    assert not may_forget(merged)
    assert [version.by for version in history_of(store, entry.id).versions] == [PERSON]


def test_two_of_others_that_the_person_merged_are_verified_by_them(store: Store, clock: Clock) -> None:
    remembered(store, OLD, source="extracted")
    clock.pass_days(1)
    remembered(store, NEW, source="extracted")
    entry = entry_of(store, QUESTION)

    settle(store, entry, Verdict.MERGE)

    merged = read(store, read(store, entry.id).memory.superseded_by)
    assert (merged.memory.source, merged.memory.verified) == ("extracted", clock())
    assert not may_change(merged, CLAUDES)


def test_what_tidying_merges_is_nobodys_better_word(store: Store, clock: Clock) -> None:
    copy, _ = twins(store)
    clock.pass_days(1)

    tidy(store)

    assert read(store, copy).memory.status is Status.SUPERSEDED
    assert not is_persons(store, last_change(store, copy))
