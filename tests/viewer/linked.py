"""A store with as many links of all kinds as wanted, written as files."""

import random

from playwright.sync_api import Locator, Page, expect

from mcp_server.actions.files.sync import sync
from mcp_server.core.memory_parts import Level
from mcp_server.core.memory_types import TYPES
from mcp_server.store import Store
from tests.viewer.conftest import go

SUBJECTS = (
    *("Stripe webhooks", "Postgres migrations", "Feature flags", "Session tokens", "Docker images"),
    *("CSV exports", "Invoice numbers", "Retry queues", "Rate limits", "Audit logs", "Time zones"),
    *("Test fixtures", "GraphQL resolvers", "Image uploads", "Search filters", "Background jobs"),
)
PREDICATES = (
    *("need the raw request body", "run before every release", "must not be cached", "live in eu-central-1"),
    *("are checked in the middleware, not in handlers", "fail when the clock is wrong", "are retried twice"),
    *("are written once and read often", "use optimistic locking", "break on daylight saving time"),
    *("need an index on tenant_id", "were moved out of the monolith", "are generated from the schema"),
)
RELATIONS = ("relates-to", "depends-on", "refines", "must-load-before", "contradicts", "explains")
FILES = ("src/billing/worker.py", "src/auth/middleware.py:40", "deploy/staging.yaml", "README.md")
TOPIC = 14  # memories that are mostly linked among themselves


def fill(store: Store, memories: int, links: int) -> None:
    """Write *memories* with *links* among them, to files too, in the same way each time, and sync."""
    rng = random.Random(7)
    ids = [f"m{at:04}" for at in range(memories)]
    chosen: dict[str, set[tuple[str, str]]] = {name: set() for name in ids}
    while sum(map(len, chosen.values())) < links:
        at = rng.randrange(memories)
        first = at - at % TOPIC
        kind = rng.random()
        if kind < 0.05:
            target = rng.choice(FILES)
        elif kind < 0.15:
            target = rng.choice(ids)
        elif kind < 0.5:
            target = ids[first]
        else:
            target = ids[min(memories - 1, rng.randrange(first, first + TOPIC))]
        if target != ids[at]:
            chosen[ids[at]].add((rng.choice(RELATIONS), target))
    for at, name in enumerate(ids):
        level = Level.USER if at % 9 == 4 else Level.PROJECT
        _write(store, level, name, f"{rng.choice(SUBJECTS)} {rng.choice(PREDICATES)}", at, chosen[name])
    sync(store)


def _write(store: Store, level: Level, name: str, title: str, at: int, links: set[tuple[str, str]]) -> None:
    vault = next(vault for vault in store.vaults if vault.level is level)
    folder = vault.root / ("archive" if at % 23 == 11 else "knowledge")
    targets = [target for rel, target in sorted(links) if rel == "relates-to" and not _is_file(target)]
    declared = [(rel, target) for rel, target in sorted(links) if rel != "relates-to" or _is_file(target)]
    lines = ["---", f"id: {name}", f"title: {title}", f"type: {TYPES[at % len(TYPES)]}"]
    lines += ["created: 2026-11-01T10:00:00Z", "updated: 2026-11-02T10:00:00Z", "source: manual"]
    lines += (
        ["links:", *(f"  - {{rel: {rel}, to: '{target}'}}" for rel, target in declared)] if declared else []
    )
    lines += ["---", f"{title}. " + " ".join(f"See [[{target}]]." for target in targets), ""]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")


def _is_file(target: str) -> bool:
    return "." in target


def at_graph(page: Page) -> Locator:
    go(page, "Graph")
    expect(page.get_by_role("heading", name="Graph", level=1)).to_be_visible()
    page.wait_for_load_state("load")  # until then no script hears what is chosen
    return page.locator(".canvas")
