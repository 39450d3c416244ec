"""The tools for what Daybook learns by itself, as an agent uses them."""

import json
import re
from pathlib import Path

import pytest

from mcp_server.actions.capture.note import note_ended
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.upkeep.work import work
from mcp_server.adapters.index.events import transcripts
from mcp_server.bootstrap import Opened
from mcp_server.doors.server.transcript_tools import KEYS
from tests.conftest import ROOT, Open
from tests.doors.called import connected
from tests.person import Agreeing
from tests.recorded import Recorded

DECIDED = "We decided to keep invoices in Postgres because of the reports."


@pytest.fixture
def opened(open_here: Open, tmp_path: Path, project: Path) -> Opened:
    """A store in which one session was kept and nothing learned from it."""
    opened_here = open_here()
    recorded = Recorded(tmp_path / "transcripts", cwd=project)
    recorded.user(DECIDED)
    recorded.claude("Noted.")
    note_ended(opened_here.store().in_session(recorded.session), recorded.path, folder=str(project))
    assert work(lambda folder: opened_here.store(folder=folder))
    return opened_here


def talk(opened: Opened, *calls: tuple[str, dict[str, object]]) -> list[str]:
    """Return what the tools answer, one after the other."""
    answers: list[str] = []
    with connected(opened, Agreeing()) as call:
        for name, arguments in calls:
            answers.append(call(name, **(arguments(answers) if callable(arguments) else arguments)))
    return answers


def proposed(answers: list[str]) -> dict[str, object]:
    chunk = answers[0].split("\n")[0].removeprefix("chunk ")
    candidate = {
        "type": "decision", "title": "Invoices in Postgres", "content": DECIDED, "tags": ["billing"],
        "use_when": ["export the accounts"], "supersedes": None, "evidence": "keep invoices in Postgres",
    }  # fmt: skip
    return {"chunk": chunk, "candidates": [candidate, {**candidate, "evidence": "nobody said this ever"}]}


def test_an_agent_reads_a_piece_proposes_and_is_done(opened: Opened) -> None:
    piece, stored, next_piece, recalled = talk(
        opened,
        ("next_transcript_chunk", {}),
        ("submit_candidates", proposed),  # type: ignore[arg-type]
        ("next_transcript_chunk", {}),
        ("recall", {"query": "where are invoices kept"}),
    )

    assert DECIDED in piece
    agent = (ROOT / "agents" / "memory-extractor.md").read_text(encoding="utf-8")
    assert [key for key in KEYS if not (f"`{key}`" in piece and f"`{key}`" in agent)] == []
    summary, stored_line = stored.split("\n")
    assert summary == "Done: 1 added. 1 refused: their evidence or shape did not fit."
    assert re.fullmatch(r"invoices-in-postgres-\w{4} · added", stored_line)
    assert next_piece == "Nothing is left to learn from."
    assert "decision · project" in recalled
    assert read(opened.store(), stored_line.split()[0]).memory.use_when == ("export the accounts",)


def test_a_piece_that_is_not_the_next_one_is_refused(opened: Opened) -> None:
    (refusal,) = talk(opened, ("submit_candidates", {"chunk": "0" * 32, "candidates": []}))

    assert "no longer the next one" in refusal
    with opened.database.read() as db:
        assert transcripts.unlearned(db, paid=False)


def test_another_projects_sessions_are_not_given(opened: Opened, tmp_path: Path) -> None:
    opened.folder = tmp_path / "other"
    opened.folder.mkdir()

    assert talk(opened, ("next_transcript_chunk", {})) == ["Nothing is left to learn from."]


def test_candidates_are_listed_approved_and_rejected(opened: Opened) -> None:
    listed, approved, empty, nothing = talk(
        opened,
        ("review_candidates", {}),
        ("approve_candidate", {"ids": "all"}),
        ("review_candidates", {}),
        ("reject_candidate", {"ids": "nope"}),
    )

    assert listed.startswith("Waiting: 1 candidate.")
    assert DECIDED in listed
    assert approved.startswith("Stored: 1 added.\n")
    assert DECIDED not in empty
    assert nothing == "There is no candidate 'nope'. No candidate waits."


def test_asking_without_a_model_gives_the_passages_or_says_that_it_is_not_known(opened: Opened) -> None:
    answer, unknown = talk(
        opened,
        ("ask", {"question": "why do we keep invoices in Postgres, for the reports?"}),
        ("ask", {"question": "what is the colour of the moon of Endor"}),
    )

    assert DECIDED in answer
    assert unknown.startswith("Not known")


def test_consolidating_shows_the_plan_first(opened: Opened) -> None:
    same = {
        "title": "Exports",
        "content": "Exports of the invoices are written as parquet files.",
        "type": "note",
    }
    answers = talk(opened, ("consolidate", {}), ("remember", same))
    store = opened.store()
    (path,) = store.home.rglob("knowledge/*.md")
    copy = path.read_bytes().replace(f"id: {path.stem}".encode(), b"id: copy")
    path.with_name("copy.md").write_bytes(copy)
    sync(store)
    answers += talk(
        opened,
        ("consolidate", {}),
        ("consolidate", {"apply": True}),
        ("consolidate", {}),
    )

    assert answers[0] == "Nothing needs tidying."
    assert answers[2].startswith("Nothing was changed. The plan:")
    assert answers[3].startswith("Done; 'daybook undo 2")
    assert answers[4] == "Nothing needs tidying."
    assert json.dumps(answers)
