"""When tidying is due, and what it is for: the same answers from fewer memories."""

import re

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up, sync
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.tidy import Tidied, tidy, tidy_when_due
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.actions.tidy.knowledge import FIVE, TRAPS, put
from tests.conftest import Clock

# When it is due


def learned(store: Store, pieces: int) -> None:
    for number in range(pieces):
        store.ledger.append(
            "transcript_learned", store.clock(), path="/t.jsonl", session="s", end=1, turns=[str(number)]
        )
    catch_up(store)


@pytest.mark.feature("A-39")
def test_it_is_due_after_ten_pieces_and_at_most_once_an_hour(store: Store, clock: Clock) -> None:
    learned(store, 9)
    assert tidy_when_due(store) is None
    learned(store, 1)
    assert isinstance(tidy_when_due(store), Tidied)
    learned(store, 10)
    assert tidy_when_due(store) is None
    clock.pass_days(1 / 24)
    assert isinstance(tidy_when_due(store), Tidied)
    clock.pass_days(1)
    assert tidy_when_due(store) is None


def test_it_is_due_although_a_clock_was_ahead_when_it_was_done(store: Store, clock: Clock) -> None:
    clock.pass_days(1000)
    tidy(store)
    clock.pass_days(-1000)
    learned(store, 10)

    assert isinstance(tidy_when_due(store), Tidied)


@pytest.mark.feature("A-39")
def test_it_is_due_at_the_end_of_a_session_that_taught_something(store: Store, clock: Clock) -> None:
    tidy(store)
    clock.pass_days(1)
    event = {"path": "/t.jsonl", "end": 9, "session": "s", "folder": "/"}
    store.ledger.append("transcript_seen", clock(), **event, ended=True)
    learned(store, 1)
    assert tidy_when_due(store) is None
    put(store, FIVE[0])

    assert isinstance(tidy_when_due(store), Tidied)


@pytest.mark.feature("A-39")
def test_it_is_due_when_many_memories_are_new(store: Store, clock: Clock) -> None:
    folder = read(store, put(store, FIVE[0])).path.parent

    def written(*numbers: int) -> None:
        for number in numbers:
            text = f"Fact number {number} of chapter {number * 7}\n"
            (folder / f"n{number}.md").write_text(text, encoding="utf-8")
        sync(store)

    written(*range(79))
    assert tidy_when_due(store) is None  # eighty with the first

    written(79)
    assert isinstance(tidy_when_due(store), Tidied)
    clock.pass_days(1)
    assert tidy_when_due(store) is None


# What it is all for


SUBJECTS = [
    ("billing", "Invoices of the billing module are rendered by WeasyPrint in the worker"),
    ("search", "Full text search of the catalogue runs on Meilisearch behind the gateway"),
    ("login", "Logins are handled by Keycloak with refresh tokens kept in cookies"),
    ("images", "Product images are resized by imgproxy and cached at the CDN"),
    ("queue", "Background jobs of the shop are queued in RabbitMQ with dead letters"),
    ("mail", "Transactional mail leaves through Postmark with templates in Git"),
    ("tests", "Integration tests start Postgres in a container for every worker"),
    ("deploy", "Releases are deployed by Argo after approval in the staging channel"),
    ("metrics", "Metrics are scraped by Prometheus from the sidecar of each service"),
    ("errors", "Crashes are reported to Sentry with the release and the user's hash"),
    ("cache", "Sessions and carts are cached in Redis with a sliding expiry"),
    ("taxes", "Sales taxes are computed by the Avalara client before checkout"),
    ("mobile", "The mobile application is written in Flutter and shares the API schema"),
    ("schema", "API schemas are written in OpenAPI and checked in the pipeline"),
    ("feature", "Feature flags are read from Unleash at the start of each request"),
]  # fmt: skip


COPIES = 2
QUESTIONS = [
    (question, subject)
    for subject, text in SUBJECTS
    for question in (" ".join(re.findall(r"\w+", text)[:4]), " ".join(re.findall(r"\w+", text)[-5:]))
]


def answers(store: Store) -> list[bool]:
    """Return for each question whether one of the two best hits is about its subject."""
    return [
        any(subject in hit.tags for hit in recall(store, Query(question, limit=2)).hits)
        for question, subject in QUESTIONS
    ]


def test_recall_is_no_worse_after_tidying(store: Store) -> None:
    for subject, text in SUBJECTS:
        stays = put(store, text, title=f"About {subject}", tags=(subject,))
        path = read(store, stays).path
        for number in range(COPIES):
            copy = path.read_bytes().replace(f"id: {stays}".encode(), f"id: {stays}-{number}".encode())
            path.with_name(f"{stays}-{number}.md").write_bytes(copy)
    sync(store)
    for first, second in TRAPS:
        put(store, first)
        put(store, second)
    before = answers(store)
    assert len(QUESTIONS) == 30

    report = tidy(store)

    assert report.counts["duplicates"] == len(SUBJECTS) * COPIES
    after = answers(store)
    assert sum(before) == sum(after) == len(QUESTIONS)
    active = [row for row in recall(store, Query("seconds timeout", limit=10)).hits if "timeout" in row.text]
    assert {hit.text for hit in active} == set(TRAPS[0])
