"""A repository must neither push what it holds nor silence what the person knows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.brief import brief
from mcp_server.actions.contradiction import get_contradictions, mark_contradiction
from mcp_server.actions.inject import inject
from mcp_server.actions.remember import remember
from mcp_server.actions.repository import trust
from mcp_server.actions.sync import sync
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.store import Store

PROMPT = "the stripe webhook body fails again"
WEBHOOK = Draft("Stripe webhook needs the raw body", "Skip body parsing for /webhook.", type="gotcha")


@pytest.fixture
def plant(open_here: Callable[..., Opened], project: Path) -> Callable[..., Store]:
    """Write memory files that came with the repository, as name=frontmatter and text; return the store."""

    def plant(**said: str) -> Store:
        folder = project / ".claude-memory" / "knowledge"
        folder.mkdir(parents=True, exist_ok=True)
        for name, words in said.items():
            (folder / f"{name.replace('_', '-')}.md").write_text(f"---\n{words}", encoding="utf-8")
        store = open_here().store()
        sync(store)
        return store

    return plant


def told(store: Store, session: str) -> str:
    return brief(store).text + inject(store, PROMPT, session=session)


def test_what_a_repository_contradicts_is_shown_until_the_person_accepts_the_claim(
    store: Store, plant: Callable[..., Store]
) -> None:
    mine = remember(store, WEBHOOK).memory.id
    here = plant(claim=f"title: Claim\nlinks:\n  - {{rel: contradicts, to: {mine}}}\n---\nNot so.")

    assert told(here, "s1").count(f"[{mine}]") == 2
    assert len(get_contradictions(here)) == 1

    trust(here)

    assert mine not in told(here, "s2")


def test_a_contradiction_with_what_came_with_a_repository_counts_when_it_is_marked_here(
    store: Store, plant: Callable[..., Store]
) -> None:
    mine = remember(store, WEBHOOK).memory.id
    here = plant(claim="title: Claim\n---\nNot so.")

    mark_contradiction(here, "claim", mine)

    assert mine not in told(here, "s1")
