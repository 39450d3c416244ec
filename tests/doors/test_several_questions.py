"""A call that asks the person several questions: each once, and nothing of what is refused."""

import pytest

from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Filter
from mcp_server.doors.server.dialog import MOST_PARTS
from tests.doors.called import ERAS, call
from tests.person import Person


@ERAS
def test_who_is_asked_several_questions_by_one_call_answers_each_once(opened: Opened, mode: str) -> None:
    store = opened.store()
    said = [remember(store, Draft(day, f"We deploy on {day}.")).memory.id for day in ("Monday", "Friday")]
    person = Person("yes", "yes")

    answered = call(opened, person, mode, "archive", ids=said)

    assert answered.startswith("Archived: 2 memories")
    assert [name in question for name, question in zip(said, person.saw, strict=True)] == [True, True]


@ERAS
@pytest.mark.parametrize("other", ["nosuch", "old-a1b2"])
def test_nobody_is_asked_about_a_list_that_is_refused_for_another_id(
    opened: Opened, mode: str, other: str
) -> None:
    store = opened.store()
    remember(store, Draft("Old", "We deployed on Sunday.", id="old-a1b2"))
    said = remember(store, Draft("Monday", "We deploy on Monday.", supersedes=("old-a1b2",))).memory.id
    person = Person("yes")

    answered = call(opened, person, mode, "archive", ids=[said, other])

    assert other in answered
    assert person.saw == []


def test_nobody_is_asked_whether_a_memory_replaces_more_than_one_call_may_ask_about(opened: Opened) -> None:
    store = opened.store()
    said = [remember(store, Draft(f"Port {n}", f"It is {n}.")).memory.id for n in range(MOST_PARTS + 1)]
    new = remember(store, Draft("Ports", "They are given at random.", source="assistant")).memory.id
    person = Person(*["yes"] * MOST_PARTS)

    call(opened, person, "auto", "revise", id=new, supersedes=said)

    assert {row.id for row in list_memories(store, Filter(), limit=50).rows} == {*said, new}
    assert person.saw == []


def test_more_than_the_client_would_ask_for_one_call_is_said_and_changes_nothing(opened: Opened) -> None:
    store = opened.store()
    said = [remember(store, Draft(f"Port {n}", f"It is {n}.")).memory.id for n in range(MOST_PARTS + 1)]
    person = Person(*["yes"] * MOST_PARTS)

    answered = call(opened, person, "auto", "archive", ids=said)

    assert "needs the person's consent, and this is too much for a dialog. Nothing was changed." in answered
    assert f"daybook archive {' '.join(said)}" in answered
    assert person.saw == []
    assert {row.id for row in list_memories(store, Filter(), limit=50).rows} == {*said}
