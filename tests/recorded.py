"""A transcript as Claude Code writes it, line by line, and how a store comes to know it."""

import itertools
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from mcp_server.actions.capture.capture import keep
from mcp_server.actions.capture.note import note_seen
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import catch_up
from mcp_server.adapters.index.events import transcripts
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.core.memory_parts import Kind
from mcp_server.core.sessions.conversation import parse_turns
from mcp_server.store import Store

_SESSION = Path(__file__).parent / "data" / "transcripts" / "session.jsonl"
_LAST = ("stop_hook_summary", "turn_duration", "cost-state", "file-history-snapshot", "last-prompt", "mode")
_HOUSEKEEPING = [
    line
    for line in map(json.loads, _SESSION.read_text(encoding="utf-8").splitlines())
    if str(line["type"]).startswith("api-request") or line.get("subtype", line["type"]) in _LAST
]


class Recorded:
    """Writes the transcript of one session; a minute passes between two lines, and no two begin together."""

    _started = itertools.count()

    def __init__(
        self, folder: Path, *, cwd: Path, session: str = "", subagent_of: "Recorded | None" = None
    ) -> None:
        self.session = subagent_of.session if subagent_of else session or str(uuid4())
        self.cwd = cwd
        self.sidechain = subagent_of is not None
        if subagent_of:
            self.path = subagent_of.path.with_suffix("") / "subagents" / f"agent-{uuid4().hex[:17]}.jsonl"
        else:
            self.path = folder / f"{self.session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.minute = 0
        self.second = next(self._started) % 60

    def user(self, words: str, **more: Any) -> None:
        self.line("user", {"role": "user", "content": words}, **more)

    def claude(self, words: str) -> None:
        self.line("assistant", {"role": "assistant", "content": [{"type": "text", "text": words}]})

    def call(self, name: str, *, result: str = "ok", failed: bool = False, **arguments: str) -> None:
        """Add a tool call and its result."""
        number = f"toolu_{uuid4().hex[:20]}"
        use = {"type": "tool_use", "id": number, "name": name, "input": arguments}
        self.line("assistant", {"role": "assistant", "content": [use]})
        tool_result = {"type": "tool_result", "tool_use_id": number, "content": result, "is_error": failed}
        self.line("user", {"role": "user", "content": [tool_result]}, toolUseResult=result)

    def line(self, type: str, message: Any, **more: Any) -> None:
        self.minute += 1
        entry = {
            "parentUuid": None,
            "isSidechain": self.sidechain,
            "type": type,
            "message": message,
            "uuid": str(uuid4()),
            "timestamp": f"2026-11-20T{9 + self.minute // 60:02}:{self.minute % 60:02}:{self.second:02}.000Z",
            "sessionId": self.session,
            "cwd": str(self.cwd),
            "gitBranch": "main",
            **more,
        }
        self.write(json.dumps(entry) + "\n")

    def turn_ends(self) -> None:
        """Add what Claude Code writes behind a turn: its own lines, and the requests that it sent."""
        for line in _HOUSEKEEPING:
            self.write(json.dumps({**line, "sessionId": self.session}) + "\n")

    def noise(self, words: str = "x" * 2000) -> None:
        """Add lines that are nobody's words."""
        self.write(
            json.dumps({"type": "attachment", "attachment": {"type": "file", "content": words}}) + "\n"
        )

    def write(self, text: str) -> None:
        with open(self.path, "a", encoding="utf-8") as handle:
            handle.write(text)


def seen(store: Store, recorded: Recorded, *, ended: bool = True) -> Transcript:
    """Note the transcript as a hook does, and return what the worker finds in its queue."""
    size = recorded.path.stat().st_size
    note_seen(store.in_session(recorded.session), recorded.path, size, folder=str(recorded.cwd), ended=ended)
    return queued(store, recorded)


def queued(store: Store, recorded: Recorded) -> Transcript:
    return queued_at(store, recorded.path)


def queued_at(store: Store, path: Path) -> Transcript:
    catch_up(store)
    with store.database.read() as db:
        transcript = transcripts.known(db, str(path))
    assert transcript
    return transcript


def kept(store: Store, recorded: Recorded, *, ended: bool = True) -> Transcript:
    """Keep what was said, as the worker does; return what its queue says then."""
    keep(store, seen(store, recorded, ended=ended))
    return queued(store, recorded)


def kept_words(store: Store, recorded: Recorded) -> list[str]:
    memory = read(store, recorded.session).memory
    assert memory.kind is Kind.CONVERSATION
    return [f"{turn.speaker}: {turn.words}" for turn in parse_turns(memory.text)]
