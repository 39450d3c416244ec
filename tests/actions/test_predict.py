"""Predictions: successive recalls of one session make steps, neighbours in one answer do not."""

import pytest

from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.sessions.predict import access_patterns, predict_next
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.conftest import Clock

NAMES = ("heron", "egret", "stork", "crane")


@pytest.fixture
def ids(store: Store) -> dict[str, str]:
    return {name: remember(store, Draft(f"{name} bird server", "It runs.")).memory.id for name in NAMES}


def ask(store: Store, *names: str, session: str) -> None:
    for name in names:
        recall(store, Query(name, limit=1), given_to=session)


def patterns_of(store: Store) -> list[tuple[str, str, float, int]]:
    return [
        (
            pattern.first.partition("-")[0],
            pattern.second.partition("-")[0],
            round(pattern.probability, 2),
            pattern.count,
        )
        for pattern in access_patterns(store)
    ]


@pytest.mark.feature("B-42")
def test_what_follows_twice_is_a_pattern_and_what_follows_once_is_none(
    store: Store, ids: dict[str, str]
) -> None:
    ask(store, "heron", "egret", session="s1")
    assert patterns_of(store) == []

    ask(store, "heron", "egret", session="s2")

    assert patterns_of(store) == [("heron", "egret", 1.0, 2)]
    assert [pattern.second for pattern in predict_next(store, ids["heron"])] == [ids["egret"]]
    assert predict_next(store, ids["egret"]) == []


@pytest.mark.feature("3.2-4")
def test_neighbours_in_one_answer_are_no_step(store: Store, ids: dict[str, str]) -> None:
    for number in range(5):
        assert len(recall(store, Query("bird server"), given_to=f"s{number}").hits) == 4

    assert patterns_of(store) == []


def test_recalls_of_two_sessions_are_no_step(store: Store, ids: dict[str, str]) -> None:
    for number in range(4):
        ask(store, "heron", session=f"a{number}")
        ask(store, "egret", session=f"b{number}")

    assert patterns_of(store) == []


def test_asking_again_for_what_was_given_is_no_step(store: Store, ids: dict[str, str]) -> None:
    for session in ("s1", "s2"):
        ask(store, "heron", "heron", "heron", "egret", session=session)

    assert patterns_of(store) == [("heron", "egret", 1.0, 2)]


def test_less_than_three_tenths_of_the_steps_is_no_pattern(store: Store, ids: dict[str, str]) -> None:
    for number in range(7):
        ask(store, "heron", "egret" if number < 2 else "stork", session=f"s{number}")

    assert patterns_of(store) == [("heron", "stork", 0.71, 5)]


def test_the_last_recall_of_the_session_is_where_a_prediction_starts(
    store: Store, ids: dict[str, str]
) -> None:
    for session in ("s1", "s2"):
        ask(store, "heron", "egret", session=session)
        ask(store, "stork", "crane", session=f"{session}b")
    ask(store, "heron", session="now")
    ask(store, "stork", session="another")

    assert [pattern.second for pattern in predict_next(store.in_session("now"))] == [ids["egret"]]
    assert [pattern.second for pattern in predict_next(store)] == [ids["crane"]]


def test_a_pattern_fades_when_nobody_walks_it(store: Store, ids: dict[str, str], clock: Clock) -> None:
    for number in range(4):
        ask(store, "heron", "egret", session=f"s{number}")
    clock.pass_days(30)
    assert patterns_of(store) == [("heron", "egret", 1.0, 2)]

    clock.pass_days(30)

    assert patterns_of(store) == []


def test_what_was_forgotten_is_not_predicted(store: Store, ids: dict[str, str]) -> None:
    for session in ("s1", "s2"):
        ask(store, "heron", "egret", session=session)

    forget(store, ids["egret"])

    assert patterns_of(store) == []
    assert predict_next(store, ids["heron"]) == []
    with pytest.raises(NotFound):
        predict_next(store, ids["egret"])
