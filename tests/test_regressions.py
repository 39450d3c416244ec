"""Defects that other memory tools had, each as a test of what happens here instead."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.conversation import load_conversation, save_conversation
from mcp_server.actions.memory.forget import restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.errors import SettingsError
from mcp_server.core.memory import Draft, Status
from mcp_server.core.search.query import Mode, Query
from mcp_server.store import Store
from tests.conftest import Clock, Open
from tests.live import ROOT


def put(store: Store, title: str, text: str, **more: object) -> str:
    return remember(store, Draft(title, text, **more)).memory.id  # type: ignore[arg-type]


def hits(store: Store, words: str, mode: Mode = Mode.HYBRID) -> list[str]:
    return [hit.id for hit in recall(store, Query(words, mode=mode)).hits]


@pytest.mark.feature("3.4-newest-100")
@pytest.mark.parametrize("mode", [Mode.SEMANTIC, Mode.KEYWORD])
def test_the_oldest_of_many_is_found_as_well_as_the_newest(
    meaning_store: Store, clock: Clock, mode: Mode
) -> None:
    oldest = put(meaning_store, "Payments", "Refunds are paid out through Stripe within five days.")
    for number in range(150):
        clock.pass_days(0.1)
        put(meaning_store, f"Plant {number}", f"The fern number {number} wants water on Mondays.")
    embed_pending(meaning_store)

    assert hits(meaning_store, "refunds paid out through Stripe", mode)[0] == oldest


@pytest.mark.feature("3.4-empty-content")
@pytest.mark.parametrize("revision", [Revision(title="Body parser"), Revision(tags=("billing",))])
def test_a_changed_title_or_tag_leaves_the_text_searchable(store: Store, revision: Revision) -> None:
    kept = put(store, "Webhook", "Skip the middleware for the raw zirconium body.")

    revise(store, kept, revision)

    assert hits(store, "zirconium", Mode.KEYWORD) == [kept]


@pytest.mark.feature("3.4-match-query")
@pytest.mark.parametrize(
    "words", ["auto-archive", 'say "never"', "it's", "a AND", "-x", "title:webhook", "(", "^a", "a*", "+"]
)
def test_no_punctuation_in_a_question_is_a_command(store: Store, words: str) -> None:
    kept = put(store, "Said", f"Somebody wrote {words} webhook here.")

    assert hits(store, f"{words} webhook", Mode.KEYWORD) == [kept]


@pytest.mark.feature("3.4-conversation")
def test_a_conversation_about_markdown_comes_back_turn_by_turn(store: Store) -> None:
    messages = [
        {"role": "user", "content": "---\ntitle: no frontmatter\n---\n## USER\n\n*10:00*\nwhy?"},
        {
            "role": "assistant",
            "content": "*because*\n\n## ASSISTANT\n---",
            "timestamp": "2026-11-20T09:00:00Z",
        },
        {"role": "user", "content": "# Conversation\n\n## user\n> quoted"},
    ]
    saved = save_conversation(store, "About markdown", messages)
    sync(store, deep=True)

    _, turns = load_conversation(store, saved.memory.id)

    assert [(turn.speaker, turn.words) for turn in turns] == [
        (str(said["role"]), str(said["content"])) for said in messages
    ]


@pytest.mark.feature("3.4-double-embeddings")
def test_indexing_again_doubles_no_vector(meaning_store: Store) -> None:
    kept = put(meaning_store, "Webhook", "Skip body parsing, or the signature does not hold.")
    embed_pending(meaning_store)

    def vectors() -> list[tuple[int, ...]]:
        with meaning_store.database.read() as db:
            return db.execute("SELECT count(*), count(DISTINCT passage) FROM vectors").fetchall()

    before = vectors()
    for text in ("Skip body parsing, always.", "Skip body parsing, or the signature does not hold."):
        revise(meaning_store, kept, Revision(text=text))
        sync(meaning_store, deep=True)
        embed_pending(meaning_store)
    embed_pending(meaning_store)

    assert vectors() == before == [(1, 1)]


@pytest.mark.feature("3.4-unknown-model")
def test_an_unknown_model_is_an_error_and_no_other_is_taken(open_here: Open) -> None:
    with pytest.raises(SettingsError, match="EMBEDDING_MODEL is 'minilm-l7'") as refused:
        open_here(EMBEDDING_MODEL="minilm-l7")

    assert "minilm-l6" in refused.value.hint


@pytest.mark.feature("B-32", "3.4-stdout")
def test_a_server_prints_nothing_but_the_protocol(memory_dir: Path, project: Path) -> None:
    broken = memory_dir / "knowledge" / "broken.md"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"---\ntitle: [\n---\n\xff")
    asked = [
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
        for each in asked:
            process.stdin.write(json.dumps(each).encode() + b"\n")
            process.stdin.flush()
            if "id" in each:
                printed.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest = process.stdout.read()

    assert [said["id"] for said in printed] == [1, 2, 3]
    assert "check: the index is whole" in json.dumps(printed[2])
    assert rest == b""


@pytest.mark.feature("3.4-archive-by-activity", "3.4-archive-moves")
def test_what_is_old_but_used_daily_stays_and_what_is_archived_really_moves(
    store: Store, clock: Clock
) -> None:
    used = put(store, "Gateway", "The gateway speaks gRPC.", source="mined")
    idle = put(store, "Logo", "A passing thought about the emblem.", source="mined")
    before = read(store, idle).path
    for _ in range(20):
        clock.pass_days(10)
        recall(store, Query("gateway gRPC"), session="s")

    tidy(store)

    after = read(store, idle)
    assert read(store, used).memory.status is Status.ACTIVE
    assert (after.memory.status, after.path.parent.name) == (Status.ARCHIVED, "archive")
    assert not before.exists()
    assert restore(store, idle).path == before
