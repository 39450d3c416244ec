"""A worker at its work: what it is told of, what it did, what was sent."""

from mcp_server.actions.capture.note import note_ended
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.work import Work, work
from mcp_server.bootstrap import Opened
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search.query import Filter, Query
from mcp_server.store import Store
from tests.recorded import Recorded
from tests.scripted_model import ScriptedModel

LONG = "and what we said about it goes on " * 30
DECIDED = f"We decided to keep invoices in Postgres because the reports need window functions. {LONG}"


def worked(opened: Opened) -> Work:
    report = work(lambda folder: opened.store(folder=folder))
    assert report is not None
    return report


def ended(store: Store, recorded: Recorded) -> None:
    note_ended(store.in_session(recorded.session), recorded.path, folder=str(recorded.cwd))


def conversations(store: Store, words: str) -> list[str]:
    answer = recall(store, Query(words, filter=Filter(kinds=(Kind.CONVERSATION,))))
    return [hit.id for hit in answer.hits]


def sent_text(model: ScriptedModel) -> str:
    return "\n".join(request.prompt for request in model.asked)
