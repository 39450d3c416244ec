"""What every storage promises: the port of `core/storage/port.py`, told in tests."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mcp_server.core.errors import Conflict, DaybookError, NotFound, Rejected
from mcp_server.core.memory import Memory
from mcp_server.core.search.query import Confidence, Query
from mcp_server.core.storage.port import ChangeKind, Storage, all_pages

MOMENT = datetime(2026, 11, 20, 9, 12, 3, tzinfo=UTC)


def memory(memory_id: str, text: str, *, title: str = "", tags: tuple[str, ...] = ()) -> Memory:
    return Memory(
        id=memory_id, title=title or memory_id, text=text, tags=tags, created=MOMENT, updated=MOMENT
    )


WEBHOOK = memory(
    "webhook-raw-body", "Body parsing must be skipped for the webhook.", title="Webhook needs the raw body"
)


@pytest.mark.feature("D-39")
def test_what_was_saved_is_loaded_word_for_word(storage: Storage) -> None:
    whole = replace(
        WEBHOOK,
        tags=("billing", "c++"),
        use_when=("add an endpoint",),
        touches=("src/pay.ts:42",),
        type="gotcha",
        text="é\n\n\tß 字",
    )
    stored = storage.save(whole)
    assert storage.load(whole.id) == stored
    assert stored.memory == whole


def test_a_memory_is_found_by_its_occasions_and_shows_its_text(storage: Storage) -> None:
    long = "\n\n".join(f"Paragraph {number} of the payments handbook." for number in range(60))
    storage.save(replace(WEBHOOK, text=long, use_when=("shipments arrive twice", "add an endpoint")))
    storage.save(memory("plants", "The office plants are watered on Fridays."))

    (result,) = storage.search(Query("shipments arrive twice")).results

    assert result.stored.memory.id == WEBHOOK.id
    assert result.passage.startswith((WEBHOOK.title, "Paragraph 0")) or not result.passage
    assert "shipments" not in result.passage


def test_saving_the_same_version_again_changes_nothing(storage: Storage) -> None:
    first = storage.save(WEBHOOK)
    assert storage.save(WEBHOOK) == first
    assert storage.save(WEBHOOK, replaces=first.digest) == first
    assert len(storage.history(WEBHOOK.id)) == 1


def test_a_change_replaces_the_version_that_was_read(storage: Storage) -> None:
    first = storage.save(WEBHOOK)
    changed = storage.save(replace(WEBHOOK, text="Skip it."), replaces=first.digest)
    assert changed.digest != first.digest
    assert storage.load(WEBHOOK.id).memory.text == "Skip it."


def test_a_change_of_a_version_that_is_no_longer_there_is_refused(storage: Storage) -> None:
    first = storage.save(WEBHOOK)
    storage.save(replace(WEBHOOK, text="Skip it."), replaces=first.digest)
    with pytest.raises(Conflict):
        storage.save(replace(WEBHOOK, text="Do not skip it."), replaces=first.digest)
    with pytest.raises(Conflict):
        storage.save(replace(WEBHOOK, text="Another memory of that id."))
    assert storage.load(WEBHOOK.id).memory.text == "Skip it."


def test_of_changes_at_the_same_time_one_is_kept_and_the_others_are_told(storage: Storage) -> None:
    first = storage.save(WEBHOOK)

    def change(number: int) -> str:
        try:
            storage.save(replace(WEBHOOK, text=f"Change {number}."), replaces=first.digest)
        except Conflict:
            return ""
        return f"Change {number}."

    with ThreadPoolExecutor(8) as threads:
        texts_kept = [text for text in threads.map(change, range(8)) if text]
    assert texts_kept == [storage.load(WEBHOOK.id).memory.text]


def test_an_empty_text_is_refused(storage: Storage) -> None:
    with pytest.raises(Rejected):
        storage.save(replace(WEBHOOK, text=" \n"))
    assert storage.page() == ()


@pytest.mark.parametrize(
    "ask",
    [
        lambda storage: storage.load("nobody"),
        lambda storage: storage.forget("nobody", digest="x"),
        lambda storage: storage.restore("nobody"),
        lambda storage: storage.history("nobody"),
        lambda storage: storage.save(WEBHOOK, replaces="x"),
    ],
    ids=["load", "forget", "restore", "history", "save"],
)
def test_an_id_that_is_not_there_is_said(storage: Storage, ask: Callable[[Storage], object]) -> None:
    with pytest.raises(NotFound):
        ask(storage)


def test_a_forgotten_memory_is_gone_until_it_is_restored(storage: Storage) -> None:
    stored = storage.save(WEBHOOK)
    with pytest.raises(Conflict):
        storage.forget(WEBHOOK.id, digest="another")
    storage.forget(WEBHOOK.id, digest=stored.digest)
    with pytest.raises(NotFound):
        storage.load(WEBHOOK.id)
    assert storage.page() == ()
    assert storage.search(Query("webhook body parsing")).results == ()
    assert storage.restore(WEBHOOK.id).memory == WEBHOOK
    assert storage.load(WEBHOOK.id).memory == WEBHOOK
    assert storage.search(Query("webhook body parsing")).results


def test_the_history_says_what_was_done_and_what_was_said_before(storage: Storage) -> None:
    first = storage.save(WEBHOOK)
    second = storage.save(replace(WEBHOOK, text="Skip it."), replaces=first.digest)
    storage.forget(WEBHOOK.id, digest=second.digest)
    storage.restore(WEBHOOK.id)
    history = storage.history(WEBHOOK.id)
    assert [change.kind for change in history] == [
        ChangeKind.CREATED,
        ChangeKind.REVISED,
        ChangeKind.FORGOTTEN,
        ChangeKind.RESTORED,
    ]
    assert history[0].before is None
    assert history[1].before == WEBHOOK
    assert [change.at for change in history] == sorted(change.at for change in history)
    assert len({change.author for change in history}) == 1


@pytest.mark.feature("D-39")
def test_the_memory_that_has_the_words_comes_first(storage: Storage) -> None:
    storage.save(WEBHOOK)
    storage.save(memory("deploy", "Deploys to production run from the release branch.", title="Deploys"))
    storage.save(memory("vat", "Prices are stored without value added tax.", title="Prices"))
    results = storage.search(Query("why is body parsing skipped for the webhook?", limit=2)).results
    assert results[0].stored.memory == WEBHOOK
    assert len(results) <= 2
    assert [result.score.total for result in results] == sorted(
        (result.score.total for result in results), reverse=True
    )
    assert "Body parsing" in results[0].passage
    assert results[0].confidence is not Confidence.NONE


@pytest.mark.parametrize("text", ["", "?", "'; DROP TABLE memories; --", "a" * 10_000, 'NEAR( " * :', "\x00"])
def test_no_question_breaks_a_search(storage: Storage, text: str) -> None:
    storage.save(WEBHOOK)
    assert len(storage.search(Query(text)).results) <= 1


def test_a_limit_out_of_bounds_is_refused(storage: Storage) -> None:
    for limit in (0, 51):
        with pytest.raises(DaybookError):
            storage.search(Query("webhook", limit=limit))


def test_all_memories_are_read_page_by_page(storage: Storage) -> None:
    ids = [f"memory-{number:02}" for number in range(7)]
    for memory_id in reversed(ids):
        storage.save(memory(memory_id, f"Text of {memory_id}."))
    assert [[stored.memory.id for stored in page] for page in all_pages(storage.page, 3)] == [
        ids[:3],
        ids[3:6],
        ids[6:],
    ]
