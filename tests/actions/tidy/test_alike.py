"""What becomes one, and what is marked as contradicting instead."""

import pytest

from mcp_server.actions.embed import embed_pending
from mcp_server.actions.read import read
from mcp_server.actions.recall import recall
from mcp_server.actions.revise import Revision, revise
from mcp_server.actions.tidy import tidy
from mcp_server.adapters.index import usage
from mcp_server.core.memory import Level, Link, Status
from mcp_server.core.query import Query
from mcp_server.store import Store
from tests.actions.tidy.knowledge import ALIKE, TRAPS, put, status
from tests.conftest import Clock

# Duplicates


def test_the_richer_of_two_that_say_the_same_stays_and_takes_over(store: Store, clock: Clock) -> None:
    poor = put(store, ALIKE[0], tags=("ci",))
    rich = put(store, ALIKE[1], tags=("deploy",))
    recall(store, Query("deploys"), session="s1")

    done = tidy(store)

    assert done.counts == {"duplicates": 1}
    assert done.lines()[0] == f"merge 2: [{rich}] + [{poor}] -> {ALIKE[1][:60].strip()}"
    old, new = read(store, poor).memory, read(store, rich).memory
    assert (old.status, old.superseded_by, old.text) == (Status.SUPERSEDED, rich, ALIKE[0])
    assert old.valid_to == clock()
    assert (new.tags, new.merged_from, new.text) == (("deploy", "ci"), (poor,), ALIKE[1])
    with store.database.read() as db:
        ref = read(store, rich).ref
        assert usage.usage_of(db, [ref])[ref].accesses == 2
    assert tidy(store).entries == []


def test_what_the_person_said_absorbs_its_copies_and_is_not_merged_otherwise(store: Store) -> None:
    theirs = put(store, ALIKE[0], source="manual")
    near = put(store, ALIKE[1])
    path = read(store, theirs).path
    copy = path.with_name("copy.md")
    copy.write_bytes(
        path.read_bytes().replace(theirs.encode(), b"copy").replace(b"source: manual", b"source: mined")
    )

    done = tidy(store)

    assert [entry.reason for entry in done.entries] == [f"merge 2: [{theirs}] + [copy]"]
    assert status(store, "copy") is Status.SUPERSEDED
    assert status(store, theirs) is status(store, near) is Status.ACTIVE
    assert len(done.proposals) == 1
    assert near in done.proposals[0]


def test_a_pinned_memory_never_goes(store: Store) -> None:
    pinned, other = put(store, ALIKE[0]), put(store, ALIKE[1])
    revise(store, pinned, Revision(pinned=True))

    assert tidy(store).counts == {}
    assert status(store, pinned) is status(store, other) is Status.ACTIVE


def test_no_number_is_lost_with_a_duplicate(store: Store) -> None:
    put(store, "Invoices are rendered nightly by the billing worker at 02:30")
    put(store, "Invoices are rendered nightly by the billing worker, in the shop's container")

    done = tidy(store)

    assert done.counts == {}
    assert len(done.proposals) == 1


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

    done = tidy(meaning_store)

    assert [status(meaning_store, each) for each in ids] == [Status.ACTIVE] * 2
    (proposed,) = (line for line in done.lines() if line.startswith("left to you: "))
    assert proposed.endswith(" are alike")
    assert all(f"[{each}]" in proposed for each in ids)


def test_what_vectors_find_near_is_merged_when_the_other_has_its_words(meaning_store: Store) -> None:
    title = "Postgres backups"
    poor = put(meaning_store, "Backups of Postgres run at night", title=title)
    rich = put(
        meaning_store, "Nightly backups of the Postgres database run at night, scheduled by cron", title=title
    )
    embed_pending(meaning_store)

    done = tidy(meaning_store)

    assert done.counts == {"duplicates": 1}
    assert status(meaning_store, poor) is Status.SUPERSEDED
    assert status(meaning_store, rich) is Status.ACTIVE


def test_memories_of_the_person_and_of_the_project_are_not_mixed(store: Store) -> None:
    put(store, "Prefer tabs over spaces in all Go files", type="preference", level=Level.USER)
    put(store, "Prefer spaces over tabs in all Go files", type="preference", level=Level.PROJECT)

    assert tidy(store).entries == []


# Contradictions


@pytest.mark.parametrize(("one", "other"), TRAPS)
def test_trap_pairs_survive_and_are_marked(store: Store, clock: Clock, one: str, other: str) -> None:
    old = put(store, one)
    clock.pass_days(1)
    new = put(store, other)

    done = tidy(store)

    assert done.counts == {"contradictions": 1}
    assert status(store, old) is status(store, new) is Status.ACTIVE
    assert read(store, new).memory.links == (Link("contradicts", old),)
    assert read(store, old).memory.links == ()
    assert tidy(store).entries == []


def test_two_that_are_linked_already_are_left_alone(store: Store) -> None:
    old = put(store, TRAPS[0][0])
    put(store, TRAPS[0][1], links=(Link("refines", old),))

    assert tidy(store).entries == []


def test_a_link_that_the_person_removed_is_not_put_back(store: Store) -> None:
    put(store, TRAPS[0][0])
    put(store, TRAPS[0][1])
    marked = tidy(store).entries[0].changes[0].id
    revise(store, marked, Revision(links=()))

    assert tidy(store).entries == []
