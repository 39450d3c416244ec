"""Memories to tidy, and what became of them."""

import json

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.store import Store
from tests.conftest import Clock
from tests.core.test_text_relation import test_what_differs_where_it_matters_is_told as traps
from tests.memories import decided
from tests.scripted_model import Answer, reply

TRAPS: list[tuple[str, str]] = traps.pytestmark[0].args[1]


def put(store: Store, text: str, **more: object) -> str:
    return decided(store, text, **{"source": "extracted", **more})  # type: ignore[arg-type]


def twins(store: Store, **more: object) -> tuple[str, str]:
    """Store a memory and a copy of its file; return (the copy, which goes, and the one that stays)."""
    stays = put(store, TWICE, **more)
    path = read(store, stays).path
    copy = path.with_name(f"{stays}-copy.md")
    copy.write_bytes(path.read_bytes().replace(f"id: {stays}".encode(), f"id: {copy.stem}".encode()))
    sync(store)
    return copy.stem, stays


def files_of(store: Store) -> dict[str, bytes]:
    """Return every memory's file in the store, whatever folder it lies in."""
    paths = (path.relative_to(store.home) for path in store.home.rglob("*.md"))
    return {str(path): (store.home / path).read_bytes() for path in paths if path.parts[0] != "history"}


def in_trash(store: Store) -> list[str]:
    return sorted(path.stem for path in (store.home / "trash").rglob("*.md"))


TWICE = "Deploys run from GitHub Actions on every push to main"
ALIKE = (
    "Deploys run from GitHub Actions on every push to main",
    "Deploys run from GitHub Actions on each push to main, after the tests",
)


def plan_of(**parts: object) -> Answer:
    return reply(json.dumps({"keep": [], "merge": [], "drop": [], **parts}))


FIVE = (
    "The shop's frontend is written in TypeScript with React",
    "Payments go through Stripe, never through PayPal",
    "Stripe webhooks need the raw request body",
    "Nightly reports are built at 02:30 by cron",
    "The old beta banner is shown until 2026-11-01",
)


def put_five(store: Store, clock: Clock) -> None:
    """Store FIVE, one after the other, two days ago: a model may be asked about them."""
    for text in FIVE:
        put(store, text)
        clock.pass_days(0.01)
    clock.pass_days(2)
