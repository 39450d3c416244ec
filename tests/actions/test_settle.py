"""What is proposed meets what is known."""

import pytest

from mcp_server.actions.read import read
from mcp_server.actions.remember import remember
from mcp_server.actions.settle import Settled, settle
from mcp_server.core.memory import Draft, Link, Status
from mcp_server.core.verdict import Action
from mcp_server.store import Store


def known(store: Store, text: str, *, source: str = "extracted", **more: object) -> str:
    return remember(store, Draft(text[:60], text, type="decision", source=source, **more)).memory.id  # type: ignore[arg-type]


def proposed(
    store: Store, text: str, *, source: str = "extracted", supersedes: str = "", **more: object
) -> Settled:
    draft = Draft(text[:60], text, type="decision", source=source, **more)  # type: ignore[arg-type]
    return settle(store, draft, supersedes=supersedes)


def test_what_is_new_is_added(store: Store) -> None:
    settled = proposed(store, "Exports are written as parquet files.")

    assert settled.action is Action.ADD
    assert read(store, settled.id).memory.text == "Exports are written as parquet files."


def test_what_is_known_gains_tags_and_nothing_else(store: Store) -> None:
    old = known(store, "Exports are written as parquet files.", tags=("export",))

    settled = proposed(store, "Exports are  written as parquet FILES.", tags=("parquet",))

    assert (settled.action, settled.id) == (Action.IGNORE, old)
    memory = read(store, old).memory
    assert (memory.text, memory.tags) == ("Exports are written as parquet files.", ("export", "parquet"))


def test_the_richer_words_stay_when_two_say_the_same(store: Store) -> None:
    old = known(store, "Exports of the invoices are written as parquet files")
    richer = "Exports of the invoices are written nightly as compressed parquet files"

    settled = proposed(store, richer)

    assert (settled.action, settled.id) == (Action.MERGE, old)
    assert read(store, old).memory.text == richer
    assert proposed(store, "Exports of the invoices are written as parquet files").action is Action.MERGE
    assert read(store, old).memory.text == richer


def test_the_persons_own_words_are_not_replaced_by_a_models(store: Store) -> None:
    old = known(store, "Exports of the invoices are written as parquet files", source="manual")

    proposed(store, "Exports of the invoices are written nightly as compressed parquet files")

    assert read(store, old).memory.text == "Exports of the invoices are written as parquet files"


def test_another_number_takes_the_old_ones_place_and_keeps_its_history(store: Store) -> None:
    old = known(store, "The upload timeout is 30 seconds")

    settled = proposed(store, "The upload timeout is 60 seconds")

    assert settled.action is Action.REPLACE
    before = read(store, old).memory
    assert (before.status, before.superseded_by) == (Status.SUPERSEDED, settled.id)
    assert before.valid_to is not None


@pytest.mark.parametrize("source", ["extracted", "assistant", "mined"])
def test_what_the_person_said_is_contradicted_and_stays(store: Store, source: str) -> None:
    old = known(store, "The upload timeout is 30 seconds", source="manual")

    settled = proposed(store, "The upload timeout is 60 seconds", source=source)

    assert settled.action is Action.CONTRADICT
    assert read(store, old).memory.status is Status.ACTIVE
    assert Link("contradicts", old) in read(store, settled.id).memory.links


def test_a_named_predecessor_need_not_be_alike(store: Store) -> None:
    old = known(store, "Packages are installed with npm")

    settled = proposed(store, "Everything moved to Bun last week", supersedes=old)

    assert settled.action is Action.REPLACE
    assert read(store, old).memory.superseded_by == settled.id


def test_a_predecessor_that_nobody_knows_loses_nothing(store: Store) -> None:
    settled = proposed(store, "Everything moved to Bun last week", supersedes="no-such-memory")

    assert settled.action is Action.ADD


def test_doing_it_twice_is_doing_it_once(store: Store) -> None:
    old = known(store, "The upload timeout is 30 seconds")
    first = proposed(store, "The upload timeout is 60 seconds", supersedes=old, session="s1")

    again = proposed(store, "The upload timeout is 60 seconds", supersedes=old, session="s1")

    assert (again.action, again.id) == (Action.IGNORE, first.id)


def test_near_meanings_are_related(meaning_store: Store) -> None:
    from mcp_server.actions.embed import embed_pending

    old = known(meaning_store, "Customer invoices are exported every night as parquet files to the bucket")
    embed_pending(meaning_store)

    settled = proposed(
        meaning_store, "The nightly job exports customer invoices to the bucket in parquet format"
    )

    assert settled.action in (Action.ADD, Action.MERGE)
    if settled.action is Action.ADD:
        assert Link("relates-to", old) in read(meaning_store, settled.id).memory.links


def test_it_is_told_what_became_of_the_memories_that_were_named(store: Store) -> None:
    old = known(store, "The cache is Redis with a TTL of five minutes.")
    draft = Draft("Cache", "It is Valkey in cluster mode.", supersedes=(old, "was-never-there"))

    first = settle(store, draft, at_once=True)
    again = settle(store, draft, at_once=True)

    assert (first.action, first.superseded, first.unmoved) == (Action.ADD, (old,), ("was-never-there",))
    assert f"It takes the place of {old}, which is kept as superseded." in first.note
    assert "No active memory has the id was-never-there" in first.note
    assert (again.id, again.known, again.superseded) == (first.id, True, ())


def test_it_is_told_which_links_lead_nowhere_yet(store: Store) -> None:
    known(store, "The cache is Redis with a TTL of five minutes.")
    other = remember(store, Draft("Redis cluster", "Three nodes.")).memory.id
    names = (other, "redis cluster", "src/cache.py", "nosuch")
    draft = Draft("Cache keys", "They begin with the tenant.", links=tuple(Link("uses", to) for to in names))

    settled = settle(store, draft, at_once=True)

    assert settled.waiting == ("nosuch",)
    assert settled.note == "No memory is called nosuch yet; a link to it waits until one is."
