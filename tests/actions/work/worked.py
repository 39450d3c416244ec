"""A worker at its work: what it is told of, what it did, what was sent."""

from pathlib import Path

from mcp_server.actions.capture.note import note_ended
from mcp_server.actions.files.sync import catch_up
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.work import Work, work
from mcp_server.adapters.index.events import transcripts
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Kind
from mcp_server.core.search.query import Filter, Query
from mcp_server.store import Store
from tests.recorded import Recorded
from tests.scripted_model import ScriptedModel

LONG = "and what we said about it goes on " * 30
DECIDED = f"We decided to keep invoices in Postgres because the reports need window functions. {LONG}"


def agreed(model: ScriptedModel, **more: str) -> dict[str, str]:
    said = {"DAYBOOK_MODEL_CALLS": "true", "ANTHROPIC_API_KEY": "sk-test-0000"}
    return {**said, "ANTHROPIC_BASE_URL": model.url, **more}


def worked(opened: Opened) -> Work:
    done = work(lambda folder: opened.store(folder=folder))
    assert done is not None
    return done


def ended(store: Store, recorded: Recorded) -> None:
    note_ended(store, recorded.path, session=recorded.session, folder=str(recorded.cwd))


def known(store: Store, path: Path) -> Transcript:
    catch_up(store)
    with store.database.read() as db:
        found = transcripts.known(db, str(path))
    assert found
    return found


def conversations(store: Store, words: str) -> list[str]:
    found = recall(store, Query(words, filter=Filter(kinds=(Kind.CONVERSATION,))))
    return [hit.id for hit in found.hits]


def sent(model: ScriptedModel) -> str:
    return "\n".join(asked.prompt for asked in model.asked)
