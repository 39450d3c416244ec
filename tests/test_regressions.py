"""Defects that other memory tools had, each as a test of what happens here instead."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.core.search.query import Mode, Query
from mcp_server.store import Store
from tests.conftest import Clock
from tests.live import ROOT
from tests.memories import stored


def hits(store: Store, words: str, mode: Mode = Mode.HYBRID) -> list[str]:
    return [hit.id for hit in recall(store, Query(words, mode=mode)).hits]


@pytest.mark.feature("3.4-newest-100")
@pytest.mark.parametrize("mode", [Mode.SEMANTIC, Mode.KEYWORD])
def test_the_oldest_of_many_is_found_as_well_as_the_newest(
    meaning_store: Store, clock: Clock, mode: Mode
) -> None:
    oldest = stored(meaning_store, "Payments", "Refunds are paid out through Stripe within five days.")
    for number in range(150):
        clock.pass_days(0.1)
        stored(meaning_store, f"Plant {number}", f"The fern number {number} wants water on Mondays.")
    embed_pending(meaning_store)

    assert hits(meaning_store, "refunds paid out through Stripe", mode)[0] == oldest


@pytest.mark.feature("3.4-empty-content")
@pytest.mark.parametrize("revision", [Revision(title="Body parser"), Revision(tags=("billing",))])
def test_a_changed_title_or_tag_leaves_the_text_searchable(store: Store, revision: Revision) -> None:
    memory_id = stored(store, "Webhook", "Skip the middleware for the raw zirconium body.")

    revise(store, memory_id, revision)

    assert hits(store, "zirconium", Mode.KEYWORD) == [memory_id]


@pytest.mark.feature("3.4-match-query")
@pytest.mark.parametrize(
    "words", ["auto-archive", 'say "never"', "it's", "a AND", "-x", "title:webhook", "(", "^a", "a*", "+"]
)
def test_no_punctuation_in_a_question_is_a_command(store: Store, words: str) -> None:
    memory_id = stored(store, "Said", f"Somebody wrote {words} webhook here.")

    assert hits(store, f"{words} webhook", Mode.KEYWORD) == [memory_id]


@pytest.mark.feature("3.4-double-embeddings")
def test_indexing_again_doubles_no_vector(meaning_store: Store) -> None:
    memory_id = stored(meaning_store, "Webhook", "Skip body parsing, or the signature does not hold.")
    embed_pending(meaning_store)

    def vectors() -> list[tuple[int, ...]]:
        with meaning_store.database.read() as db:
            return db.execute("SELECT count(*), count(DISTINCT passage) FROM vectors").fetchall()

    before = vectors()
    for text in ("Skip body parsing, always.", "Skip body parsing, or the signature does not hold."):
        revise(meaning_store, memory_id, Revision(text=text))
        sync(meaning_store, deep=True)
        embed_pending(meaning_store)
    embed_pending(meaning_store)

    assert vectors() == before == [(1, 1)]


@pytest.mark.feature("B-32", "3.4-stdout")
def test_a_server_prints_nothing_but_the_protocol(memory_dir: Path, project: Path) -> None:
    broken = memory_dir / "knowledge" / "broken.md"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"---\ntitle: [\n---\n\xff")
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "read_memory", "arguments": {"id": "broken"}}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "db_maintenance", "arguments": {"action": "all"}}},
    ]  # fmt: skip
    printed = []
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "mcp_server"],
        env={"MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT),
             "CLAUDE_PROJECT_DIR": str(project), "HOME": str(project), "DAYBOOK_TOOLSETS": "admin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout
        for request in requests:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            if "id" in request:
                printed.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest = process.stdout.read()

    assert [answer["id"] for answer in printed] == [1, 2, 3]
    assert "check: the index is whole" in json.dumps(printed[2])
    assert rest == b""
