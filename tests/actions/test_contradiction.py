"""Contradictions: found and only proposed, marked by somebody, settled in one of four ways."""

import json

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.graph.kg import put_edge
from mcp_server.actions.judge.contradiction import (
    WAYS,
    find_contradictions,
    get_contradictions,
    mark_contradiction,
    resolve_contradiction,
)
from mcp_server.actions.memory.forget import restore
from mcp_server.actions.memory.link import link, unlink
from mcp_server.actions.memory.repository import trust
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.link_outcome import After, LinkOutcome
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.conftest import Clock
from tests.memories import decided


def pairs(store: Store, memory_id: str = "", limit: int = 50) -> list[set[str]]:
    return [{pair.first.id, pair.other.id} for pair in find_contradictions(store, memory_id, limit=limit)]


@pytest.fixture
def timeouts(store: Store) -> tuple[str, str]:
    """Two memories that contradict each other, among others that do not."""
    for text in ("Invoices are numbered per year", "The build caches wheels between runs"):
        decided(store, text)
    return (
        decided(store, "The upload timeout is 30 seconds"),
        decided(store, "The upload timeout is 60 seconds"),
    )


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("The upload timeout is 30 seconds", "The upload timeout is 60 seconds", "numbers"),
        ("The API runs on Python 3.11", "The API runs on Python 3.12", "numbers"),
        ("Never use npm in this repository", "Always use npm in this repository", "negation"),
        (
            "Chose Postgres over MySQL for reports",
            "Chose MySQL over Postgres for reports",
            "swapped operands",
        ),
        (
            "Jobs go through the Redis queue in billing",
            "Jobs go through the RabbitMQ queue in billing",
            "names",
        ),
        (
            "Uploads of customers are retried 3 times by the gateway before they fail for good",
            "Retried uploads: the gateway gives customers 5 attempts",
            "numbers",
        ),
    ],
)
def test_what_differs_where_it_matters_is_found(meaning_store: Store, one: str, other: str, why: str) -> None:
    decided(meaning_store, "Invoices are numbered per year")
    ids = {decided(meaning_store, one), decided(meaning_store, other)}
    embed_pending(meaning_store)

    (pair,) = find_contradictions(meaning_store)

    assert {pair.first.id, pair.other.id} == ids
    assert pair.why == why


@pytest.mark.feature("3.2-5")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Deploys run from GitHub Actions on every push to main",
            "Deploys run from GitHub Actions on each push to main",
        ),
        ("Tests run with pytest and hypothesis", "The tests run with pytest and hypothesis"),
        ("All colours of the shop live in theme.css", "All colors of the shop live in theme.css"),
        ("Invoices are numbered per year from 1", "The build caches 20 wheels between runs"),
    ],
)
def test_near_duplicates_and_other_subjects_are_no_contradictions(
    meaning_store: Store, one: str, other: str
) -> None:
    decided(meaning_store, one, title="One", source="extracted")
    decided(meaning_store, other, title="Other", source="extracted")
    embed_pending(meaning_store)

    assert find_contradictions(meaning_store) == []


def test_another_type_is_another_matter(store: Store) -> None:
    decided(store, "The upload timeout is 30 seconds", type="decision")
    decided(store, "The upload timeout is 60 seconds", type="progress")

    assert find_contradictions(store) == []


def test_meaning_finds_what_shares_no_words(meaning_store: Store) -> None:
    ids = {
        decided(meaning_store, "Passwords must have at least 8 characters"),
        decided(meaning_store, "A password must have at least 12 characters"),
    }
    assert pairs(meaning_store) == []
    embed_pending(meaning_store)

    assert pairs(meaning_store) == [ids]


def test_finding_changes_nothing(store: Store, timeouts: tuple[str, str]) -> None:
    before = [read(store, memory_id).data for memory_id in timeouts]

    assert pairs(store) == [set(timeouts)]
    assert get_contradictions(store) == []
    assert [read(store, memory_id).data for memory_id in timeouts] == before


def test_only_pairs_with_one_memory_and_only_so_many(store: Store, timeouts: tuple[str, str]) -> None:
    third = decided(store, "The upload timeout is 90 seconds")

    assert len(pairs(store)) == 3
    assert len(pairs(store, limit=1)) == 1
    assert all(third in pair for pair in pairs(store, third))
    assert len(pairs(store, third)) == 2
    with pytest.raises(Rejected):
        pairs(store, limit=0)
    with pytest.raises(NotFound):
        pairs(store, "no-such-memory")


def test_a_marked_pair_is_listed_flagged_and_not_found_again(store: Store, timeouts: tuple[str, str]) -> None:
    first, second = timeouts

    assert mark_contradiction(store, first, second).changed
    for ends in ((second, first), (f"{second}.md", f" {first}.md")):
        assert not mark_contradiction(store, *ends).changed

    (pair,) = get_contradictions(store)
    assert {pair.first.id, pair.other.id} == {first, second}
    assert pairs(store) == []
    assert brief(store).text.count("says otherwise") == 1
    assert {hit.contradicts for hit in recall(store, Query("upload timeout", limit=2)).hits} == {
        (first,),
        (second,),
    }


def test_the_first_supersedes_the_other(store: Store, timeouts: tuple[str, str]) -> None:
    first, second = timeouts
    mark_contradiction(store, first, second)

    resolved = resolve_contradiction(store, second, first, "supersede")

    assert (resolved.id, resolved.other, resolved.how, resolved.became) == (second, first, "supersede", ())
    assert read(store, first).memory.status is Status.SUPERSEDED
    assert read(store, first).memory.superseded_by == second
    assert read(store, first).memory.links == ()
    assert get_contradictions(store) == []
    assert "60 seconds" in brief(store).text


def test_both_stand_and_are_not_proposed_again(store: Store, timeouts: tuple[str, str], clock: Clock) -> None:
    first, second = timeouts
    mark_contradiction(store, first, second)

    resolve_contradiction(store, first, second, "keep-both")

    assert get_contradictions(store) == []
    assert pairs(store) == []
    clock.pass_days(2)
    tidy(store)
    assert get_contradictions(store) == []
    assert "30 seconds" in brief(store).text
    rebuild(store)
    assert pairs(store) == []

    revise(store, first, Revision(text="The upload timeout is 45 seconds"))

    assert pairs(store) == [set(timeouts)]


def test_a_pair_that_is_found_need_not_be_marked_to_be_settled(
    store: Store, timeouts: tuple[str, str]
) -> None:
    resolve_contradiction(store, *timeouts, "keep_both")

    assert pairs(store) == []


@pytest.mark.parametrize("how", WAYS)
def test_two_that_have_nothing_to_do_with_each_other_are_not_settled(
    store: Store, timeouts: tuple[str, str], how: str
) -> None:
    stranger = decided(store, "Invoices are numbered per fiscal year")
    before = [read(store, memory_id).data for memory_id in (*timeouts, stranger)]

    with pytest.raises(Rejected, match="are not marked as contradicting each other"):
        resolve_contradiction(store, timeouts[0], stranger, how)

    assert [read(store, memory_id).data for memory_id in (*timeouts, stranger)] == before
    mark_contradiction(store, timeouts[0], stranger)
    assert resolve_contradiction(store, timeouts[0], stranger, how).how == how


def test_what_waits_marks_nothing_yet_and_the_answer_says_so(store: Store, timeouts: tuple[str, str]) -> None:
    waiting = decided(store, "Redis holds the sessions", source=ASSISTANT)

    marked = mark_contradiction(store, waiting, timeouts[0])

    assert marked.became == (LinkOutcome(timeouts[0], After.WAITS_MARKED),)
    assert get_contradictions(store) == []
    trust(store, (waiting,))
    assert [{pair.first.id, pair.other.id} for pair in get_contradictions(store)] == [{waiting, timeouts[0]}]


@pytest.mark.parametrize("says_so", [0, 1])
def test_a_mark_that_waits_can_be_settled_in_either_order(
    store: Store, timeouts: tuple[str, str], says_so: int
) -> None:
    waiting = decided(store, "Redis holds the sessions", source=ASSISTANT)
    mark_contradiction(store, waiting, timeouts[0])

    resolve_contradiction(store, *(waiting, timeouts[0])[:: 1 if says_so else -1], "keep_both")

    assert read(store, waiting).memory.links == ()


def test_unlinking_settles_too(store: Store, timeouts: tuple[str, str]) -> None:
    mark_contradiction(store, *timeouts)

    unlink(store, *timeouts, "contradicts")

    assert pairs(store) == []


def test_the_other_is_believed_less(store: Store, timeouts: tuple[str, str]) -> None:
    first, second = timeouts
    mark_contradiction(store, first, second)

    resolve_contradiction(store.in_session("s1"), first, second, "weaken")

    lines = [json.loads(line) for path in store.ledger.paths() for line in path.read_bytes().splitlines()]
    (event,) = [line for line in lines if line["event"] == "trusted"]
    assert (event["refs"], event["reason"]) == ([read(store, second).ref], "contradiction_resolved")
    assert (event["session"], event["note"]) == ("s1", "")
    assert get_contradictions(store) == []
    assert read(store, second).memory.status is Status.ACTIVE


def test_the_other_goes_to_the_trash_and_comes_back(store: Store, timeouts: tuple[str, str]) -> None:
    first, second = timeouts
    mark_contradiction(store, first, second)

    resolve_contradiction(store, first, second, "delete")

    with pytest.raises(NotFound):
        read(store, second)
    assert read(store, first).memory.links == ()
    restore(store, second)
    assert pairs(store) == [{first, second}]


def test_what_cannot_be_settled_is_said_before_anything_is_changed(
    store: Store, timeouts: tuple[str, str]
) -> None:
    first, second = timeouts
    mark_contradiction(store, first, second)

    with pytest.raises(Rejected, match="not a way to settle"):
        resolve_contradiction(store, first, second, "burn")
    with pytest.raises(Rejected, match="itself"):
        resolve_contradiction(store, first, first, "delete")
    with pytest.raises(NotFound):
        resolve_contradiction(store, first, "no-such-memory", "delete")
    assert len(get_contradictions(store)) == 1
    resolve_contradiction(store, first, second, "supersede")
    with pytest.raises(Rejected, match="superseded"):
        resolve_contradiction(store, first, second, "delete")
    with pytest.raises(Rejected, match="superseded"):
        mark_contradiction(store, first, second)
    with pytest.raises(Rejected, match="superseded"):
        link(store, first, second, "contradicts")
    with pytest.raises(Rejected, match="superseded"):
        put_edge(store, Level.PROJECT, first, second, "contradicts")


def test_the_person_and_the_project_may_contradict_each_other(store: Store) -> None:
    ids = {
        decided(store, "Never use npm for packages", level=Level.USER),
        decided(store, "Always use npm for packages", level=Level.PROJECT),
    }

    assert pairs(store) == [ids]


def test_a_mark_on_its_namesake_at_another_level_does_not_count(store: Store) -> None:
    limit = decided(store, "Uploads end late.", level=Level.USER)
    uploads = read(store, decided(store, "Uploads never end.", level=Level.USER))
    namesake = store.vaults[-1].root / uploads.place
    namesake.parent.mkdir(parents=True)
    namesake.write_bytes(uploads.data)

    for _ in range(2):
        assert mark_contradiction(store, uploads.memory.id, limit).changed
        rebuild(store)
