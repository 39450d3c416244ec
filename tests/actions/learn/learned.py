"""A store that may ask a model, a transcript it has kept, and what was learned from it."""

import json
from typing import Any

from mcp_server.actions.capture.learn import learn_pieces, learn_rests
from mcp_server.actions.capture.pieces import Part
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.actions.memory.list import list_memories
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.conftest import Open
from tests.scripted_model import ScriptedModel, agreed, reply

KEY = "sk-test-0000"


def open_learning(open_here: Open, model: ScriptedModel, **more: str) -> Store:
    return open_here(**agreed(model, **more)).store()


def learn(store: Store, *waiting: Transcript) -> list[DraftOutcome]:
    """Learn from transcripts of one project as the worker does."""
    rests: list[Part] = []
    settled = [outcome for transcript in waiting for outcome in learn_pieces(store, transcript, rests)]
    return [*settled, *learn_rests(store, rests)]


def knowledge(store: Store, *statuses: Status) -> list[Memory]:
    filter = Filter(kinds=(Kind.KNOWLEDGE,), statuses=statuses or (Status.ACTIVE,))
    return [read(store, row.id).memory for row in list_memories(store, filter).rows]


def proposal(content: str, evidence: str, **more: Any) -> dict[str, Any]:
    fields = {"type": "decision", "title": content[:60], "content": content, "tags": ["billing"]}
    return {**fields, "supersedes": None, "evidence": evidence, **more}


def answer(*proposals: dict[str, Any]) -> Any:
    return reply(json.dumps(list(proposals)))


POSTGRES = "We decided to keep invoices in Postgres because the reports need window functions."
