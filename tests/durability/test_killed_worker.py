"""A worker that is killed at any moment keeps and learns everything once, and pays for nothing twice."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.memory.list import list_memories
from mcp_server.adapters.index.events import transcripts
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Kind
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.durability.conftest import Run
from tests.scripted_model import Answer, ScriptedModel, reply

KILLS = int(os.environ.get("WORKER_KILLS", "30"))  # 500 by hand
SEED = int(os.environ.get("WORKER_SEED", "20261120"))
MARK = re.compile(r"(?:Mark|Reply) \d+: [a-z ]+\.")  # what the person said, and what Claude said


def proposing(body: dict[str, Any]) -> Answer:
    """Propose every sentence of the person's in the piece that is asked about."""
    marks = [mark for mark in MARK.findall(piece(body)) if mark.startswith("Mark")]
    said = [
        {
            "type": "gotcha",
            "title": each[:40],
            "content": each,
            "tags": [],
            "supersedes": None,
            "evidence": each,
        }
        for each in marks
    ]
    return reply(json.dumps(said))


def piece(body: dict[str, Any]) -> str:
    """Return the piece of transcript in a request, '' when it is about something else."""
    return str(body["messages"][0]["content"]).partition("<transcript>")[2]


def open_(folder: Path) -> Store:
    return Opened(
        {**os.environ, "MEMORY_DIR": str(folder / "memory"), "EMBEDDING_MODEL": "none"},
        folder=folder / "shop",
    ).store()


def texts(store: Store, kind: Kind) -> list[str]:
    listing = list_memories(store, Filter(kinds=(kind,)), limit=100_000)
    return [read(store, row.id).memory.text for row in listing.rows]


def marks(said: list[str]) -> Counter[str]:
    return Counter(mark for text in said for mark in MARK.findall(text))


def off(found: Counter[str], expected: int) -> list[str]:
    """Return what is not there exactly once, in few words."""
    said = [f"{mark.split(':')[0]} x{times}" for mark, times in found.items() if times != 1]
    return [*said, *([f"{expected - len(found)} are not there"] if len(found) != expected else [])]


@pytest.mark.feature("A-11")
def test_no_kill_loses_a_turn_or_pays_twice(run_program: Run, quick_folder: Path) -> None:
    with ScriptedModel(proposing) as api:
        report = run_program("killed_workers", quick_folder, api.url, KILLS, SEED)
        asked = [piece(one.body) for one in api.asked if piece(one.body)]

    store = open_(quick_folder)
    kept, known = marks(texts(store, Kind.CONVERSATION)), marks(texts(store, Kind.KNOWLEDGE))
    lines = [line for path in store.ledger.paths() for line in path.read_text(encoding="utf-8").splitlines()]
    events = [json.loads(line) for line in lines]
    reserved = {event["call"]: event["item"] for event in events if event["event"] == "reserved"}
    again = len(asked) - len(set(asked))
    paid = Counter(reserved[event["call"]] for event in events if event.get("outcome") == "ok")
    lost = sum(times - 1 for times in paid.values())
    # An answer is lost only between its arrival and its first byte on the disk: none to two of 60 kills, by
    # how busy the machine is, so that is told and not tested. A worker that keeps no answers loses 8 to 12.
    print(f"{report}, {len(set(asked))} pieces, {again} asked about again, {lost} answers lost")
    assert report["last"] == 0
    assert report["marked"] > KILLS
    assert len(asked) > KILLS / 4, "the workers were too slow for the test to tell anything"
    assert off(kept, report["marked"]) == []
    assert off(known, report["own"]) == []
    assert again <= report["kills"]
    assert list((quick_folder / "memory" / "work").glob("*.json")) == []
    assert not (quick_folder / "memory" / "logs" / "worker.log").exists()
    with store.database.read() as db:
        assert transcripts.unkept(db) == []
        assert transcripts.unlearned(db, paid=True) == []

    # The files and the ledger say the same as the index that went through all the kills.
    assert sync(store).unreadable == []
    before = transcripts_of(store)
    rebuild(store)
    assert transcripts_of(store) == before
    assert marks(texts(store, Kind.CONVERSATION)) == kept
    store.database.close()


def transcripts_of(store: Store) -> list[transcripts.Transcript]:
    with store.database.read() as db:
        rows = db.execute("SELECT path FROM transcripts ORDER BY path").fetchall()
        return [found for (path,) in rows if (found := transcripts.known(db, path))]
