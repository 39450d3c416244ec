"""A shop's memory as it is after some weeks, to look at and to take pictures of."""

import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.conftest import Clock

SHOP = tomllib.loads((Path(__file__).parents[1] / "data/viewer_shop.toml").read_text(encoding="utf-8"))
TWELVE = "PostgreSQL allows 100, and eight instances run at Christmas."  # contradicts what is known


def furnished(store: Store, clock: Clock) -> dict[str, str]:
    """Fill *store* with a shop's memories and its last six sessions; return name → id."""
    end = clock.now
    ids: dict[str, str] = {}
    for number, record in enumerate(SHOP["memories"]):
        clock.now = end - timedelta(days=40 - number, hours=number % 5)
        draft = Draft(record["title"], record["text"], type=record["type"], tags=tuple(record["tags"]))
        ids[record["name"]] = remember(store, draft).memory.id
    for link_record in SHOP["links"]:
        link(store, ids[link_record["from"]], ids[link_record["to"]], rel=link_record["label"])
    sessions = SHOP["sessions"]
    for number, session in enumerate(sessions):
        clock.now = end - timedelta(days=2 * (len(sessions) - number), hours=3)
        later = sessions[(number + 1) % len(sessions)]
        _note(store, clock, number, session, [ids[session["told"]], ids[later["told"]]])
    clock.now = end
    twelve = Draft("At most twelve database connections for each instance", TWELVE, type="decision")
    remember(store, twelve)
    return ids


def _note(store: Store, clock: Clock, number: int, about: Mapping[str, str], ids: list[str]) -> None:
    """Note a session that was told the first of *told* for a prompt and the second for a search."""
    session = f"{number + 0xA1:08x}-5e55-4000-8000-00000000000{number}"
    vault = store.vaults[-1].key
    prompted, searched = ([f"{vault}/{memory_id}"] for memory_id in ids)

    def note(event: str, minutes: int, **data: object) -> None:
        clock.now += timedelta(minutes=minutes)
        store.ledger.append(event, clock.now, session=session, **data)

    folder = str(store.project.root) if store.project else ""
    note("session_started", 0, short=session[:8], folder=folder, vault=vault)
    fields = {"refs": prompted, "confident": prompted, "scores": [0.81], "tokens": [64]}
    note("injected", 4, prompt=about["asked"], **fields)
    fields = {"refs": searched, "confident": searched, "scores": [0.74], "tokens": [52]}
    note("recalled", 11, query=f"{about['asked']}, seen before", **fields)
    note("used", 1, refs=prompted)
    note("session_titled", 9, topic=about["topic"], digests=[])
    note("session_ended", 7 * number + 11)
