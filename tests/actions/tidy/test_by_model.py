"""What a model may merge and drop."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import restore
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.memory_parts import Status
from mcp_server.doors.shown.runs import line
from mcp_server.store import Store
from tests.actions.tidy.knowledge import FIVE, files_of, in_trash, plan_of, put, put_five
from tests.conftest import Clock, Open
from tests.memories import status
from tests.scripted_model import Answer, ScriptedModel


@pytest.mark.feature("A-21", "A-40")
def test_a_model_merges_and_drops_what_the_checks_let_through(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    merged = {
        "from": [2, 3],
        "title": "Stripe payments",
        "tags": ["Web hooks", "stripe", "x" * 41],
        "text": "Payments go through Stripe, never through PayPal; webhooks need the raw request body.",
    }
    with ScriptedModel([plan_of(keep=[1, 4], merge=[merged], drop=[5])]) as api:
        store = with_model(api)
        ids = []
        for text in FIVE:
            ids.append(
                put(
                    store,
                    text,
                    tags=(text.split()[0],),
                    source="assistant" if "PayPal" in text else "extracted",
                )
            )
            clock.pass_days(0.01)
        clock.pass_days(2)
        report = tidy(store)
        again = tidy(store)

        assert (report.calls, again.calls, api.calls) == (1, 0, 1)
        assert report.counts == {"merges": 1, "drops": 1}
    merged_memory = read(store, report.entries[0].changes[0].id).memory
    assert (merged_memory.source, merged_memory.merged_from, merged_memory.tags) == (
        "assistant",
        (ids[1], ids[2]),
        ("payments", "stripe", "web-hooks"),
    )
    assert all(status(store, memory_id) is Status.SUPERSEDED for memory_id in ids[1:3])
    assert read(store, ids[4]).memory.archived_reason == "dropped"
    assert not list((store.home / "work").glob("*.json"))
    clock.pass_days(15)
    assert in_trash(store) == []
    tidy(store, with_model=False)
    assert in_trash(store) == [ids[4]]


def test_what_a_dropped_memory_had_replaced_is_named_and_offered_back(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    with ScriptedModel([plan_of(keep=[1, 2, 3, 4], drop=[5])]) as api:
        store = with_model(api)
        old = put(store, "The old beta banner is shown for ever")
        for text in FIVE:
            put(store, text, supersedes=(old,) if "2026-11-01" in text else ())
            clock.pass_days(0.01)
        clock.pass_days(2)
        report = tidy(store)

    (entry,) = report.entries
    assert line(entry).endswith(f"; 'daybook restore ID' brings back what it had replaced: [{old}]")
    assert status(store, old) is Status.SUPERSEDED
    restore(store, old)
    assert status(store, old) is Status.ACTIVE


def test_a_model_that_drops_what_the_person_said_changes_nothing(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    with ScriptedModel([plan_of(keep=[1, 2, 3, 4], drop=[5])]) as api:
        store = with_model(api)
        ids = [put(store, text, source="manual") for text in FIVE]
        clock.pass_days(2)
        report = tidy(store)

        assert report.counts == {}
        assert "protected" in report.refused[0]
        assert all(status(store, memory_id) is Status.ACTIVE for memory_id in ids)
        assert tidy(store).calls == 0  # the same question has the same answer


def test_nothing_is_merged_or_dropped_on_its_first_day(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    merged = {"from": [2, 3], "title": "Stripe", "text": f"{FIVE[1]}. {FIVE[2]}."}
    with ScriptedModel([plan_of(keep=[1, 4], merge=[merged], drop=[5])]) as api:
        store = with_model(api)
        for text in FIVE:
            put(store, text)
            clock.pass_days(0.01)
        clock.pass_days(0.9)

        assert tidy(store).is_empty
        assert api.calls == 0
        clock.pass_days(0.1)
        assert tidy(store).counts == {"merges": 1, "drops": 1}


@pytest.mark.feature("A-40", "3.1-7")
def test_without_consent_or_enough_memories_nobody_is_asked(
    with_model: Callable[[ScriptedModel], Store], open_here: Open, clock: Clock
) -> None:
    with ScriptedModel() as api:
        store = with_model(api)
        for text in FIVE[:4]:
            put(store, text)
        clock.pass_days(2)
        tidy(store)
        put(store, FIVE[4])
        clock.pass_days(2)
        tidy(open_here(ANTHROPIC_API_KEY="sk-test", ANTHROPIC_BASE_URL=api.url).store())
        tidy(store, dry_run=True)

        assert api.calls == 0


def test_a_dry_run_asks_only_when_told_and_its_answer_is_used(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    with ScriptedModel([plan_of(keep=[1, 2, 3, 4], drop=[5])]) as api:
        store = with_model(api)
        put_five(store, clock)
        before = files_of(store)
        dry = tidy(store, dry_run=True, with_model=True)
        assert files_of(store) == before
        report = tidy(store)

        assert (api.calls, report.calls) == (1, 0)
        assert dry.counts == report.counts == {"drops": 1}


def test_an_answer_whose_file_was_damaged_is_asked_for_again(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    with ScriptedModel([plan_of(keep=[1, 2, 3, 4], drop=[5])] * 2) as api:
        store = with_model(api)
        put_five(store, clock)
        tidy(store, dry_run=True, with_model=True)
        (spool,) = (store.home / "work").glob("*.json")
        spool.write_bytes(b'"cut short')

        assert tidy(store).counts == {"drops": 1}
        assert api.calls == 2


def test_a_model_that_does_not_answer_is_reported_and_the_rest_goes_on(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    with ScriptedModel([Answer(reset=True)]) as api:
        store = with_model(api)
        for text in FIVE:
            put(store, text, type="note")
        clock.pass_days(100)
        report = tidy(store)

        assert report.waits
        assert report.counts == {"ageing": 5}


@pytest.mark.parametrize("key", ["pinned: true", "verified: 2026-11-20T09:00:00Z"])
def test_what_the_person_keeps_while_the_model_thinks_is_neither_merged_nor_dropped(
    with_model: Callable[[ScriptedModel], Store], clock: Clock, key: str
) -> None:
    merged = {"from": [2, 3], "title": "Stripe", "text": f"{FIVE[1]}. {FIVE[2]}.", "tags": []}
    kept: list[Path] = []

    def answer(_: object) -> Answer:
        for path in kept:
            path.write_text(path.read_text("utf-8").replace("---\n", f"---\n{key}\n", 1), "utf-8")
        return plan_of(keep=[1, 4], merge=[merged], drop=[5])

    with ScriptedModel(answer) as api:
        store = with_model(api)
        ids = []
        for text in FIVE:
            ids.append(put(store, text))
            clock.pass_days(0.01)
        clock.pass_days(2)
        kept += [read(store, ids[number]).path for number in (2, 4)]

        assert tidy(store).counts == {}
        assert api.calls == 1
    assert {status(store, memory_id) for memory_id in ids} == {Status.ACTIVE}
