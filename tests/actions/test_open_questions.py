"""Open questions: which two memories are asked about, what is told of them meanwhile, and what ends them."""

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.claude_md import current_block
from mcp_server.actions.context.open_questions import MOST_OPEN, Question, open_questions
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.judge.compare import compare_pending
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.judge.contradiction import tell_apart
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.repository import accept, init
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.review.entries import Became, Verdict
from mcp_server.actions.review.review import QUESTION, review, settle
from mcp_server.adapters.index.memories import selections
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.remote.paths import USER
from mcp_server.store import Store
from tests.actions.tidy.knowledge import files_of
from tests.conftest import Clock, Open
from tests.memories import decided, status

THIRTY = "The upload timeout is 30 seconds"
SIXTY = "The upload timeout is 60 seconds"


def questions(store: Store) -> list[Question]:
    sync(store)
    compare_pending(store)
    with store.database.read() as db:
        return open_questions(store, db)


def asked_pairs(store: Store) -> list[tuple[str, str]]:
    return [(question.newer.id, question.older.id) for question in questions(store)]


@pytest.fixture
def timeouts(store: Store, clock: Clock) -> tuple[str, str]:
    """The ids of two memories that differ in a number, the newer first, among others."""
    decided(store, "Invoices are numbered per year")
    older = decided(store, THIRTY)
    clock.pass_days(1)
    return decided(store, SIXTY), older


def test_both_are_told_and_the_older_one_with_what_differs(store: Store, timeouts: tuple[str, str]) -> None:
    newer, older = timeouts
    before = files_of(store)

    assert asked_pairs(store) == [timeouts]

    lines = {line.split("]")[0]: line for line in brief(store).text.splitlines() if line.startswith("- [")}
    assert f"[{newer}], newer, may differ in numbers" in lines[f"- [{older}"]
    assert "may differ" not in lines[f"- [{newer}"]
    assert files_of(store) == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sprint 12 closed 5 tickets", "Sprint 13 closed 7 tickets"),
        ("Migration 0012 must run before the deploy", "Migration 0013 must run before the deploy"),
        ("Ticket ABC-1 is done", "Ticket ABC-2 is done"),
        ("2026-01-05 the team agreed on the budget", "2026-01-12 the team agreed on the budget"),
        ("Meeting of 5.1.2026 about the budget", "Meeting of 12.1.2026 about the budget"),
        ("Release 1.2 shipped on a Monday", "Release 1.3 shipped on a Monday"),
    ],
)
def test_two_of_a_series_are_no_question(meaning_store: Store, one: str, other: str) -> None:
    for text in (one, other):
        decided(meaning_store, text, type="progress")
    embed_pending(meaning_store)

    assert asked_pairs(meaning_store) == []


def test_meaning_finds_what_words_do_not_and_a_new_index_finds_the_same(
    meaning_store: Store, clock: Clock
) -> None:
    for text in (
        "Nobody works on the old admin panel, which is an Ember application",
        "The legacy admin panel is written in Ember and nobody touches it",
        "The frontend polls the order status every ten seconds",
        "The order status is polled by the frontend every minute",
        "Invoices are numbered per year",
        THIRTY,
        SIXTY,
    ):
        decided(meaning_store, text)
        clock.pass_days(1)
    by_words = asked_pairs(meaning_store)
    embed_pending(meaning_store)
    by_meaning = questions(meaning_store)

    rebuild(meaning_store)
    embed_pending(meaning_store)

    assert len(by_words) < len(by_meaning) == 3
    again = questions(meaning_store)
    assert [question.nearness for question in by_meaning] == sorted(
        (question.nearness for question in by_meaning), reverse=True
    )
    assert [
        (question.newer.id, question.older.id, question.nearness, question.differs) for question in again
    ] == [
        (question.newer.id, question.older.id, question.nearness, question.differs) for question in by_meaning
    ]


def test_a_question_ends_with_either_memory_and_begins_anew_with_other_words(
    store: Store, timeouts: tuple[str, str]
) -> None:
    newer, older = timeouts
    assert asked_pairs(store) == [timeouts]

    forget(store, older)
    assert asked_pairs(store) == []
    restore(store, older)
    assert asked_pairs(store) == [timeouts]
    revise(store, newer, Revision(text="Uploads go through the gateway", title="Gateway"))
    assert asked_pairs(store) == []
    revise(store, newer, Revision(text=SIXTY, title="The upload timeout"))
    assert asked_pairs(store) == [timeouts]
    revise(store, newer, Revision(tags=("net",), pinned=True))
    assert compare_pending(store) == 0  # what says the same is not compared again
    assert asked_pairs(store) == [timeouts]


def test_at_most_twenty_are_open_and_the_nearest_come_first(store: Store) -> None:
    for word in "red green blue black white grey pink cyan teal gold lime navy".split():
        for number in (30, 60):
            decided(store, f"The {word} timeout of uploads is {number} seconds")

    asked_now = questions(store)

    assert len(asked_now) == MOST_OPEN
    assert [question.nearness for question in asked_now] == sorted(
        (question.nearness for question in asked_now), reverse=True
    )
    assert review(store, limit=100).counts == {QUESTION: MOST_OPEN}


def test_what_waits_for_the_person_asks_nothing_before_it_is_accepted(open_here: Open, store: Store) -> None:
    init(store)
    reopened = open_here().store()
    decided(reopened, THIRTY, level=Level.PROJECT)
    theirs = reopened.vaults[-1].root / "knowledge" / "theirs.md"
    theirs.write_text(f"---\nid: theirs\ntitle: Timeout\ntype: decision\n---\n{SIXTY}\n", encoding="utf-8")
    decided(reopened, f"{SIXTY}, said Claude", source="assistant", level=Level.PROJECT)
    assert asked_pairs(reopened) == []

    with reopened.database.read() as db:
        row = selections.with_id(db, [reopened.vaults[-1].key], "theirs")
    assert row
    accept(reopened, [row])

    assert [set(pair) & {"theirs"} for pair in asked_pairs(reopened)] == [{"theirs"}]


def test_what_is_linked_is_no_question(store: Store, timeouts: tuple[str, str]) -> None:
    link(store, *timeouts, "refines")

    assert asked_pairs(store) == []


def test_restored_beside_its_successor_is_one_question(store: Store, clock: Clock) -> None:
    old = decided(store, "Deploys run from Jenkins")
    clock.pass_days(1)
    new = compare_and_store(
        store, Draft("Deploys", "We moved to GitHub Actions.", type="decision"), supersedes=old
    ).id
    assert asked_pairs(store) == []

    restore(store, old)

    assert read(store, old).memory.status is read(store, new).memory.status is Status.ACTIVE
    assert asked_pairs(store) == [(new, old)]


def test_the_fuller_one_is_told_in_the_place_of_the_other(store: Store, clock: Clock) -> None:
    short, full = (
        "Exports are written as parquet files.",
        "Exports are written as parquet files; the analysts asked.",
    )
    whole = decided(store, full, title="Exports")
    clock.pass_days(1)
    part = decided(store, short, title="Exports")
    assert [(question.fuller and question.fuller.id, question.holds.id) for question in questions(store)] == [
        (whole, whole)
    ]

    brief_text = brief(store).text
    block = current_block(store).text

    assert brief_text.count(full) == 1
    assert f"[{part}]" not in brief_text
    assert block.count(full) == 1
    tell_apart(store, whole, [part])
    assert f"[{part}]" in brief(store).text


def test_what_the_project_replaced_is_told_in_the_place_of_nothing(store: Store, clock: Clock) -> None:
    full = "Exports are written as parquet files; the analysts asked."
    whole = decided(store, full, title="Exports", level=Level.USER, type="preference")
    clock.pass_days(1)
    part = decided(
        store, "Exports are written as parquet files.", title="Exports", level=Level.USER, type="preference"
    )
    assert asked_pairs(store) == [(part, whole)]
    assert f"[{part}]" not in brief(store).text

    decided(store, "Here exports are CSV.", title="Exports here", level=Level.PROJECT, supersedes=(whole,))

    brief_text = brief(store).text
    assert f"[{part}]" in brief_text
    assert f"[{whole}]" not in brief_text


def test_both_hold_until_telling_words_change(store: Store, timeouts: tuple[str, str]) -> None:
    newer, older = timeouts
    tell_apart(store, newer, [older])
    assert asked_pairs(store) == []

    revise(store, newer, Revision(text="The upload timeout is  60 seconds!", tags=("net",)))
    assert asked_pairs(store) == []
    rebuild(store)
    assert asked_pairs(store) == []
    revise(store, newer, Revision(text="The upload timeout is 90 seconds"))
    assert asked_pairs(store) == [timeouts]


def test_a_question_is_settled_beside_a_third_memory_of_the_same_id_in_another_vault(
    store: Store, clock: Clock
) -> None:
    older = decided(store, THIRTY, level=Level.USER)
    clock.pass_days(1)
    decided(store, SIXTY, level=Level.USER)
    other = read(store, decided(store, "Invoices are numbered per year")).path
    other.write_text(other.read_text().replace(f"id: {other.stem}", f"id: {older}"))
    (entry,) = [entry for entry in review(store).entries if entry.kind == QUESTION]

    assert settle(store, entry, Verdict.REPLACES) is Became.REPLACED

    assert status(store.only(USER), older) is Status.SUPERSEDED
