"""Memories with few occasions or none: what a model is asked about them, and what becomes of its answer."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from mcp_server.actions.capture.occasions import next_group
from mcp_server.actions.files import runs
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.repository import init
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import pending
from mcp_server.actions.recall.recall import recall
from mcp_server.core.authors import CLAUDE
from mcp_server.core.budget import MOST_TRIES
from mcp_server.core.capture import occasions as rules
from mcp_server.core.memory import USE_WHEN
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.actions.learn.learned import KEY
from tests.actions.work.worked import sent_text, worked
from tests.conftest import Clock, Open
from tests.doors.learning_asked import ledger, module
from tests.memories import decided
from tests.scripted_model import Answer, ScriptedModel, agreed, reply

FACTS = (
    "The tree is visited by five passes, each with a wildcard.",
    "Payments go through Stripe, never through PayPal.",
    "Nightly reports are built at 02:30 by cron.",
    "The frontend is written in TypeScript with React.",
    "Images are resized by the worker, not by the browser.",
)
PLAN = {"CLAUDE_CODE_ENTRYPOINT": "cli", "DAYBOOK_PLAN_CALLS": "yes"}


def answer(*given: Sequence[str]) -> Answer:
    """Return an answer that gives the memories of a question, the newest first, these occasions."""
    return reply(objects(*given))


def objects(*given: Sequence[str]) -> str:
    return json.dumps([{"number": n, "use_when": [*texts]} for n, texts in enumerate(given, start=1)])


def put_all(store: Store, clock: Clock, count: int = len(FACTS), first: int = 0, **more: object) -> list[str]:
    """Store *count* memories, one after another; return their ids."""
    ids = []
    for number in range(first, first + count):
        ids.append(decided(store, f"{FACTS[number % len(FACTS)]} ({number})", **more))
        clock.pass_days(0.01)
    return ids


def occasions(store: Store, memory_id: str) -> tuple[str, ...]:
    return read(store, memory_id).memory.use_when


def test_with_a_key_memories_get_occasions_once_and_all_are_taken_back_at_once(
    open_here: Open, model: ScriptedModel, clock: Clock
) -> None:
    opened = open_here(**agreed(model), EMBEDDING_MODEL="minilm-l6")
    store = opened.store()
    *_, passes = put_all(store, clock)
    model.answers = [answer(["shrink a\nscreenshot", "x" * 121, "upload a photo"], ["add a page"])]

    tally = worked(opened)

    assert (tally.failed, tally.occasions, pending(store)) == ({}, 2, 0)
    assert occasions(store, passes) == ("shrink a screenshot", "upload a photo")
    assert recall(store, Query("screenshot")).hits[0].id == passes
    worked(opened)
    assert model.calls == 1
    lines = [line for line in ledger(opened, "tidied") if line.get("step") == "add occasions"]
    (run,) = {line["run"] for line in lines}
    assert {line["reason"]["word"] for line in lines} == {run}, "`daybook history` names it"
    runs.undo(store, run)
    assert occasions(store, passes) == ()
    worked(opened)
    assert model.calls == 1


def test_on_the_plan_they_are_asked_for_when_nothing_is_left_to_learn(open_here: Open, clock: Clock) -> None:
    opened = open_here(**PLAN)
    store = opened.store()
    *_, newest = put_all(store, clock)

    with module(opened) as tell:
        handed = tell("learn")
        assert "Images are resized" in handed["request"]["prompt"]
        text = objects(["upload a photo"])
        assert tell("learned", call=handed["call"], isAnswered=True, text=text) == {"stored": []}
        assert tell("learn") == {}

    assert occasions(store, newest) == ("upload a photo",)


def test_a_call_that_was_stopped_is_made_again_and_one_in_vain_is_given_up(
    open_here: Open, clock: Clock
) -> None:
    opened = open_here(**PLAN)
    put_all(opened.store(), clock)
    replies = [{"reason": "stopped"}, *[{"isAnswered": True, "text": "I cannot say."}] * 4]

    with module(opened) as tell:
        for given in replies:
            assert tell("learned", call=tell("learn")["call"], **given) in ({}, {"stored": []})
        clock.pass_days(1)
        assert tell("learn") == {}


@pytest.mark.parametrize("environment", [{}, {"DAYBOOK_CAPTURE": "suggest"}, {"DAYBOOK_CAPTURE": "manual"}])
def test_without_consent_nothing_is_sent(
    open_here: Open, model: ScriptedModel, clock: Clock, environment: dict[str, str]
) -> None:
    allowed = agreed(model) if environment else {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
    opened = open_here(**allowed, **environment)
    put_all(opened.store(), clock)

    worked(opened)

    assert model.calls == 0
    with module(opened) as tell:
        assert tell("learn") == {}


def in_repository(store: Store, clock: Clock) -> None:
    put_all(store, clock)
    init(store)


def unconfirmed(store: Store, clock: Clock) -> None:
    put_all(store, clock, source="assistant")


def few(store: Store, clock: Clock) -> None:
    put_all(store, clock, rules.LEAST - 1)


def with_some(store: Store, clock: Clock) -> None:
    put_all(store, clock, use_when=("upload a photo",))


def with_some_by_hand(store: Store, clock: Clock) -> None:
    """Write them into the files, which the index does not know yet."""
    for memory_id in put_all(store, clock):
        path = read(store, memory_id).path
        path.write_text(path.read_text().replace("type:", "use_when: [upload a photo]\ntype:"))


def with_some_by_hand_since(store: Store, clock: Clock) -> None:
    """Claude stored the memories with an occasion, and the person replaced it in the files."""
    for memory_id in put_all(store.acting_as(CLAUDE), clock, use_when=("upload a photo",)):
        path = read(store, memory_id).path
        path.write_text(path.read_text().replace("upload a photo", "upload a picture"))
    sync(store)


def with_some_revised(store: Store, clock: Clock) -> None:
    """Claude stored the memories, and the person said when they help."""
    for memory_id in put_all(store.acting_as(CLAUDE), clock):
        revise(store, memory_id, Revision(use_when=("upload a photo",)))


def with_enough(store: Store, clock: Clock) -> None:
    put_all(store.acting_as(CLAUDE), clock, use_when=tuple(f"upload {n} photos" for n in range(rules.ENOUGH)))


@pytest.mark.parametrize(
    "make",
    [
        in_repository,
        unconfirmed,
        few,
        with_some,
        with_some_by_hand,
        with_some_by_hand_since,
        with_some_revised,
        with_enough,
    ],
)
def test_these_are_not_asked_about(
    open_here: Open, clock: Clock, make: Callable[[Store, Clock], None]
) -> None:
    make(open_here().store(), clock)

    assert next_group(open_here(**PLAN).store()) is None


def test_to_few_occasions_of_claudes_more_are_added_and_undo_leaves_claudes(
    open_here: Open, clock: Clock
) -> None:
    opened = open_here(**PLAN)
    store = opened.store()
    own = tuple(f"upload photo {n}" for n in range(1, rules.ENOUGH))
    *_, same, newest = put_all(store.acting_as(CLAUDE), clock, use_when=own)
    more = [f"shrink image {n}" for n in range(USE_WHEN.proposed)]

    with module(opened) as tell:
        text = objects(more, own[:1])
        tell("learned", call=tell("learn")["call"], isAnswered=True, text=text)
        assert tell("learn") == {}

    assert occasions(store, newest) == (*own, *more)[: USE_WHEN.most]
    assert occasions(store, same) == own
    (line,) = (line for line in ledger(opened, "tidied") if line.get("step") == "add occasions")
    runs.undo(store, line["run"])
    assert occasions(store, newest) == own


def test_memories_without_occasions_are_asked_about_first(open_here: Open, clock: Clock) -> None:
    store = open_here(**PLAN).store()
    without = put_all(store, clock, rules.MOST)
    put_all(store.acting_as(CLAUDE), clock, first=rules.MOST, use_when=("upload a photo",))

    group = next_group(store)

    assert group and [file.memory.id for file in group.memory_files] == without[::-1]


def test_with_a_key_a_question_in_vain_is_given_up_for_the_next(
    open_here: Open, model: ScriptedModel, clock: Clock
) -> None:
    opened = open_here(**agreed(model))
    ids = put_all(opened.store(), clock, rules.MOST + rules.LEAST)
    model.answers = [*[reply("I cannot say.")] * MOST_TRIES, answer(["upload a photo"])]

    worked(opened)

    assert occasions(opened.store(), ids[rules.LEAST - 1]) == ("upload a photo",)


def test_a_secret_in_a_file_of_the_person_is_not_sent(
    open_here: Open, model: ScriptedModel, clock: Clock
) -> None:
    opened = open_here(**agreed(model))
    store = opened.store()
    *_, newest = put_all(store, clock)
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    path = read(store, newest).path
    path.write_text(path.read_text().replace("Images are", f"With {token} images are"))
    sync(store)

    worked(opened)

    assert "With [secret removed" in sent_text(model)
    assert token not in sent_text(model)


def test_a_day_has_few_questions_and_the_next_day_goes_on(
    open_here: Open, model: ScriptedModel, clock: Clock
) -> None:
    opened = open_here(**agreed(model))
    put_all(opened.store(), clock, rules.MOST * (rules.MOST_A_DAY + 1))

    worked(opened)
    assert model.calls == rules.MOST_A_DAY

    clock.pass_days(1)
    worked(opened)
    assert model.calls == rules.MOST_A_DAY + 1


def test_what_the_person_wrote_meanwhile_stays(open_here: Open, clock: Clock) -> None:
    opened = open_here(**PLAN)
    store = opened.store()
    *_, other, own, edited = put_all(store, clock)

    with module(opened) as tell:
        handed = tell("learn")
        revise(store, own, Revision(use_when=("charge a card",)))
        revise(store, edited, Revision(text="Images are not resized any more."))
        tell("learned", call=handed["call"], isAnswered=True, text=objects(*[["upload a photo"]] * 3))

    assert occasions(store, own) == ("charge a card",)
    assert occasions(store, edited) == ()
    assert occasions(store, other) == ("upload a photo",)


def test_memories_of_the_person_are_asked_about_in_each_project(open_here: Open, clock: Clock) -> None:
    opened = open_here(**PLAN)
    ids = put_all(opened.store(), clock, level=Level.USER)

    group = next_group(opened.store())

    assert group and [file.memory.id for file in group.memory_files] == ids[::-1]


@pytest.mark.parametrize(
    ("text", "by_number"),
    [
        ("[]", {}),
        ("No occasions come to mind.", None),
        ('[{"number": 1, "use_when": ["add a page", "add a page"]}]', {0: ("add a page",)}),
        ('[{"number": 0, "use_when": ["a b"]}, {"number": 3, "use_when": ["a b"]}]', {}),
        ('[{"number": true, "use_when": ["a b"]}, {"number": "1", "use_when": ["a b"]}]', {}),
        (
            '[{"number": 1, "use_when": ["log in with ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6", "a b"]}]',
            {0: ("a b",)},
        ),
        ('[{"number": 1, "use_when": "add a page"}, {"number": 2, "use_when": []}]', {}),
        ('[{"number": 1, "use_when": ["a b"]}, {"number": 1, "use_when": ["c d"]}]', {0: ("a b",)}),
        ('[{"number": 2, "use_when": ["a b"]}, {"number": 1, "use_w', {1: ("a b",)}),
        ("[[[[[[", None),
    ],
)
def test_what_of_an_answer_is_taken(text: str, by_number: dict[int, Any] | None) -> None:
    assert rules.answered(text, 2) == by_number
