"""What becomes one, and what is left to the person instead."""

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.runs import undo
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review.answer import joined
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters.index.events import usage
from mcp_server.core.memory import USE_WHEN, Link
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Query
from mcp_server.doors.shown.review import proposal
from mcp_server.doors.shown.runs import line
from mcp_server.store import Store
from tests.actions.tidy.knowledge import ALIKE, TRAPS, TWICE, files_of, put, twins
from tests.conftest import Clock
from tests.memories import status

# Duplicates


@pytest.mark.feature("A-28")
def test_of_two_with_the_same_words_the_first_stays_and_takes_over(store: Store, clock: Clock) -> None:
    gone, stays = twins(store, tags=("ci",), use_when=("ship it",))
    revise(store, gone, Revision(tags=("deploy",), use_when=("roll back",)))
    recall(store, Query("deploys"), given_to="s1")

    report = tidy(store)

    assert report.counts == {"duplicates": 1}
    assert line(report.entries[0]) == f"merge 2: [{stays}] + [{gone}] -> {TWICE[:60].strip()}"
    old, new = read(store, gone).memory, read(store, stays).memory
    assert (old.status, old.superseded_by, old.text) == (Status.SUPERSEDED, stays, TWICE)
    assert old.valid_to == clock()
    assert (new.tags, new.merged_from, new.text) == (("ci", "deploy"), (gone,), TWICE)
    assert new.use_when == ("ship it", "roll back")
    with store.database.read() as db:
        ref = read(store, stays).ref
        assert usage.usage_of(db, [ref])[ref].accesses == 2
    assert tidy(store).entries == []


def test_what_only_the_second_has_beside_its_words_is_taken_over_and_can_be_taken_back(store: Store) -> None:
    other = put(store, "Releases are tagged by the robot")
    gone, stays = twins(store)
    link = Link("relates-to", other)
    revise(store, gone, Revision(category="ops", touches=("ci.yml",), links=(link,)))
    before = files_of(store)

    report = tidy(store)

    now = read(store, stays).memory
    assert (now.category, now.touches, now.links) == ("ops", ("ci.yml",), (link,))
    undo(store, report.run)
    assert files_of(store) == before


def test_two_stay_when_the_second_has_notes_until_the_person_joins_them(store: Store, clock: Clock) -> None:
    gone, stays = twins(store, source="assistant", category="ops")
    clock.pass_days(1)
    revise(store, gone, Revision(notes=("The robot is called Hal.",), category=""))
    before = files_of(store)

    assert (tidy(store).entries, files_of(store)) == ([], before)

    both = [read(store, memory_id) for memory_id in (stays, gone)]
    heir = joined(store, both, "Deploys", TWICE, vault=both[0].vault)
    merged = read(store, heir).memory
    assert (merged.notes, merged.category) == (("The robot is called Hal.",), "ops")


def test_a_secret_in_the_title_of_what_is_joined_is_not_in_its_id(store: Store) -> None:
    both = [read(store, memory_id) for memory_id in twins(store)]

    heir = joined(store, both, "Bucket AKIAIOSFODNN7QWERTZU", TWICE, vault=both[0].vault)

    assert heir.startswith("bucket-secret-removed-")


def test_one_that_takes_over_keeps_all_that_a_hand_wrote_into_it(store: Store) -> None:
    gone, stays = twins(store)
    written = tuple(f"occasion {number}" for number in range(USE_WHEN.most + 1))
    path = read(store, stays).path
    path.write_text(path.read_text().replace("type:", f"use_when: [{', '.join(written)}]\ntype:"))
    revise(store, gone, Revision(use_when=("roll back",)))

    tidy(store)

    assert read(store, stays).memory.use_when == written


def test_what_is_only_alike_is_left_to_the_person(store: Store) -> None:
    ids = [put(store, text) for text in ALIKE]

    report = tidy(store)

    assert report.entries == []
    assert [status(store, memory_id) for memory_id in ids] == [Status.ACTIVE] * 2
    sentence = proposal(*report.proposals)
    assert sentence.endswith(" are alike")
    assert all(f"[{memory_id}]" in sentence for memory_id in ids)


def test_a_pinned_memory_never_goes(store: Store) -> None:
    ids = twins(store)
    for memory_id in ids:
        revise(store, memory_id, Revision(pinned=True))

    assert tidy(store).counts == {}
    assert [status(store, memory_id) for memory_id in ids] == [Status.ACTIVE] * 2


@pytest.mark.feature("3.1-3")
def test_no_number_is_lost_with_a_duplicate(store: Store) -> None:
    put(store, "Invoices are rendered nightly by the billing worker at 02:30")
    put(store, "Invoices are rendered nightly by the billing worker, in the shop's container")

    report = tidy(store)

    assert report.counts == {}
    assert len(report.proposals) == 1


@pytest.mark.parametrize(
    ("title", "one", "other"),
    [
        (
            "Database",
            "We picked PostgreSQL as the primary database for the shop.",
            "PostgreSQL was chosen by us as main database of our shop.",
        ),
        (
            "Cache",
            "The product cache is warmed by the loader at startup.",
            "At startup the loader clears the cache of products.",
        ),
    ],
)
def test_what_only_vectors_find_alike_is_proposed(
    meaning_store: Store, title: str, one: str, other: str
) -> None:
    ids = [put(meaning_store, text, title=title) for text in (one, other)]
    embed_pending(meaning_store)

    report = tidy(meaning_store)

    assert [status(meaning_store, memory_id) for memory_id in ids] == [Status.ACTIVE] * 2
    proposed = proposal(*report.proposals)
    assert proposed.endswith(" are alike")
    assert all(f"[{memory_id}]" in proposed for memory_id in ids)


def test_memories_of_the_person_and_of_the_project_are_not_mixed(store: Store) -> None:
    put(store, "Prefer tabs over spaces in all Go files", type="preference", level=Level.USER)
    put(store, "Prefer spaces over tabs in all Go files", type="preference", level=Level.PROJECT)

    assert tidy(store).entries == []


# What may contradict


@pytest.mark.parametrize(("one", "other"), TRAPS)
def test_trap_pairs_survive_and_no_file_is_written(store: Store, clock: Clock, one: str, other: str) -> None:
    old = put(store, one, title="Of the shop")
    clock.pass_days(1)
    new = put(store, other, title="Of the shop")
    before = files_of(store)

    report = tidy(store)

    assert files_of(store) == before
    assert proposal(*report.proposals).startswith(f"[{new}] and [{old}] may differ in ")


def test_a_series_is_no_question(store: Store) -> None:
    for number in range(12, 16):
        put(store, f"Sprint {number} closed {number * 2} tickets")

    assert tidy(store).proposals == []


def test_at_most_twenty_questions_are_asked(store: Store) -> None:
    for number in range(8):
        put(store, f"The upload timeout is {number * 10} seconds", title="Upload timeout")

    assert len(tidy(store).proposals) == 20


def test_two_that_are_linked_already_are_left_alone(store: Store) -> None:
    old = put(store, TRAPS[0][0])
    put(store, TRAPS[0][1], links=(Link("refines", old),))

    report = tidy(store)

    assert (report.entries, report.proposals) == ([], [])


def test_two_files_of_the_person_with_the_same_words_stay_and_are_a_question(
    store: Store, clock: Clock
) -> None:
    copy, own = twins(store, source="manual")
    before = files_of(store)
    clock.pass_days(1)

    report = tidy(store)

    assert (report.entries, files_of(store)) == ([], before)
    assert [{question.newer.id, question.older.id} for question in report.proposals] == [{own, copy}]
