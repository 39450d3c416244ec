"""What a team's server and its clients say to each other: there and back, and what is wrong in it."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.errors import Conflict, DaybookError, NotAllowed, NotFound, Rejected, StorageUnavailable
from mcp_server.core.memory import Link, Memory
from mcp_server.core.memory_parts import MAX_TEXT, Kind, Status
from mcp_server.core.search.query import Confidence, Filter, Mode, Query, Sort
from mcp_server.core.search.ranking import Score
from mcp_server.core.storage.port import ChangeKind, ChangeRecord, Result, Results, Stored
from mcp_server.core.team import wire
from mcp_server.core.team.json_values import value_of
from mcp_server.core.team.team import Role, Team

MOMENT = datetime(2026, 11, 20, 9, 12, 3, 250, tzinfo=UTC)
PLAIN = Memory(id="webhook", title="Webhook", text="Skip it.", created=MOMENT, updated=MOMENT)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ids = st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True)
lists = st.lists(texts, max_size=3).map(tuple)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
shares = st.floats(-1e6, 1e6)
maybe = st.none() | shares
memories = st.builds(
    Memory,
    id=ids,
    title=texts,
    text=texts,
    created=moments,
    updated=moments,
    type=texts,
    tags=lists,
    aliases=lists,
    source=texts,
    status=st.sampled_from(Status),
    archived_reason=texts,
    pinned=st.booleans(),
    trust=maybe,
    touches=lists,
    links=st.lists(st.builds(Link, texts, texts, lists), max_size=3).map(tuple),
    supersedes=lists,
    superseded_by=texts,
    merged_from=lists,
    valid_from=st.none() | moments,
    valid_to=st.none() | moments,
    verified=st.none() | moments,
    session=texts,
    conversation=texts,
    evidence=texts,
    notes=lists,
    category=texts,
)
stored_memories = st.builds(Stored, memories, texts, texts, texts)
scores = st.builds(
    Score,
    words=shares,
    near=shares,
    cosine=maybe,
    mean=maybe,
    maxsim=maybe,
    coverage=shares,
    relevance=shares,
    boosts=st.lists(st.tuples(texts, shares), max_size=3).map(tuple),
    recency=shares,
    usage=shares,
    trust=shares,
    helpfulness=shares,
    total=shares,
)
results_found = st.builds(Result, stored_memories, texts, scores, st.sampled_from(Confidence))
filters = st.builds(
    Filter,
    kinds=st.lists(st.sampled_from(Kind), max_size=3).map(tuple),
    types=lists,
    tags=lists,
    statuses=st.lists(st.sampled_from(Status), max_size=4).map(tuple),
    since=st.none() | moments,
    until=st.none() | moments,
    touches=texts,
    as_of=st.none() | moments,
    category=texts,
)
questions = st.builds(
    Query,
    text=texts,
    mode=st.sampled_from(Mode),
    sort=st.sampled_from(Sort),
    limit=st.integers(-5, 100),
    only_confident=st.booleans(),
    examined=st.integers(0, 100),
    expand=st.booleans(),
    filter=filters,
    parts=lists,
    of_prompt=st.booleans(),
)


def over_the_wire(value: object) -> Any:
    """Return what arrives of *value* on the other side."""
    return json.loads(json.dumps(value_of(value), allow_nan=False))


@given(memories, st.booleans())
def test_a_memory_arrives_as_it_was(memory: Memory, strict: bool) -> None:
    assert wire.memory_of(over_the_wire(memory), strict=strict) == memory


@given(stored_memories)
def test_a_version_arrives_as_it_was(stored: Stored) -> None:
    assert wire.stored_of(over_the_wire(stored)) == stored


@given(questions)
def test_a_question_arrives_as_it_was(query: Query) -> None:
    assert wire.query_of(over_the_wire(query)) == query


@given(st.builds(Results, st.lists(results_found, max_size=3).map(tuple), st.booleans()))
def test_results_arrive_as_they_were(results: Results) -> None:
    assert wire.results_of(over_the_wire(results)) == results


@given(st.builds(ChangeRecord, st.sampled_from(ChangeKind), moments, texts, st.none() | memories))
def test_a_change_arrives_as_it_was(change: ChangeRecord) -> None:
    assert wire.change_of(over_the_wire(change)) == change


@given(st.builds(Team, texts, texts, st.sampled_from(Role), lists, texts))
def test_a_team_arrives_as_it_was(team: Team) -> None:
    assert wire.team_of(over_the_wire(team)) == team


@pytest.mark.parametrize("kind", wire.KINDS.values())
def test_an_error_arrives_as_what_it_was(kind: type[DaybookError]) -> None:
    error = NotFound("webhook") if kind is NotFound else kind("That is so.", "Do this.")
    arrived = wire.error_of(json.loads(json.dumps(wire.error_value(error))))
    assert type(arrived) is kind
    assert (str(arrived), arrived.hint) == (str(error), error.hint)


def test_an_error_of_another_kind_is_still_told() -> None:
    arrived = wire.error_of({"kind": "SystemExit", "sentence": "So it is.", "hint": ""})
    assert type(arrived) is DaybookError
    assert str(arrived) == "So it is."
    assert {Conflict, NotAllowed, Rejected, StorageUnavailable} < set(wire.KINDS.values())


def test_what_has_its_default_is_left_out() -> None:
    assert over_the_wire(PLAIN) == {
        "id": "webhook",
        "title": "Webhook",
        "text": "Skip it.",
        "created": "2026-11-20T09:12:03.000250+00:00",
        "updated": "2026-11-20T09:12:03.000250+00:00",
        "type": "note",
        "source": "manual",
    }


def test_a_time_of_another_zone_is_the_same_time() -> None:
    east = replace(PLAIN, created=MOMENT.astimezone(timezone(timedelta(hours=9))))
    assert wire.memory_of(over_the_wire(east), strict=True) == PLAIN


SECRET = "hunter2-quagga"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"title": 5}, "'title' must be a text."),
        ({"id": "../../etc/passwd"}, "is not an id"),
        ({"id": "UPPER"}, "is not an id"),
        ({"kind": "conversation"}, "knowledge only"),
        ({"kind": SECRET}, "'kind' must be one of knowledge, conversation, session."),
        ({"tags": "a,b"}, "'tags' must be a list."),
        ({"tags": ["a", ["b"]]}, "'tags' must be a text."),
        ({"tags": ["a"] * 1001}, "'tags' has 1,001 items; 1,000 is the limit."),
        ({"text": "a" * (MAX_TEXT + 1)}, "'text' has 65,537 characters; 65,536 is the limit."),
        ({"title": "a" * 20_000}, "'title' has 20,000 characters; 16,384 is the limit."),
        ({"text": "\ud83d"}, "'text' holds half a character, which is not text."),
        ({"created": "yesterday"}, "'created' must be a time such as 2026-11-20T09:12:03Z."),
        ({"created": 5}, "'created' must be a time such as 2026-11-20T09:12:03Z."),
        ({"created": "0001-01-01T00:00:00+14:00"}, "'created' must be a time"),
        ({"pinned": 1}, "'pinned' must be true or false."),
        ({"trust": True}, "'trust' must be a number."),
        ({"trust": float("nan")}, "'trust' must be a number."),
        ({"trust": 10**400}, "'trust' must be a number."),
        ({"links": [{"rel": "a"}]}, "'links' lacks the key 'to'."),
        ({"links": ["a"]}, "'links' must be an object."),
        ({"tag": ["a"]}, "'memory' has no key 'tag'."),
    ],
)
def test_what_is_wrong_in_a_memory_is_said_in_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Rejected) as refused:
        wire.memory_of({**over_the_wire(PLAIN), **change}, strict=True)
    assert sentence in str(refused.value)
    assert SECRET not in f"{refused.value}{refused.value.hint}"


@pytest.mark.parametrize("missing", ["id", "title", "text", "created", "updated"])
def test_what_is_missing_in_a_memory_is_named(missing: str) -> None:
    value = over_the_wire(PLAIN)
    del value[missing]
    with pytest.raises(Rejected, match=f"'memory' lacks the key '{missing}'."):
        wire.memory_of(value, strict=True)


def test_a_key_that_a_newer_server_tells_is_passed_over() -> None:
    value = {**over_the_wire(Stored(PLAIN, "digest")), "mood": "good"}
    value["memory"]["colour"] = "red"
    assert wire.stored_of(value) == Stored(PLAIN, "digest")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEPT = Stored(PLAIN, "d", "anna", "boris")
PLACES = [*over_the_wire(KEPT), *over_the_wire(PLAIN), "tags", "links", "trust", "limit", "filter"]
READERS = (wire.stored_of, wire.query_of, wire.results_of, wire.change_of, wire.team_of, wire.error_of)


@given(st.dictionaries(st.sampled_from(PLACES), json_values), json_values)
def test_nothing_that_arrives_does_more_than_be_refused(change: dict[str, Any], other: Any) -> None:
    whole = over_the_wire(PLAIN)
    for value in (other, {**whole, **change}, {"memory": {**whole, **change}, "digest": "d"}):
        for read in READERS:
            try:
                read(value)
            except Rejected as refused:
                assert str(refused)
