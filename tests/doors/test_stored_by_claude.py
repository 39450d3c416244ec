"""What Claude stores through the doors: looked up in its session, and told why it waits."""

from pathlib import Path

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.judge.origins import waiting
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.core.provenance.origins import OriginDoubt, OriginReason
from tests.conftest import Open
from tests.doors.called import Caller
from tests.doors.shell import Run
from tests.durability.served import eventually
from tests.recorded import Recorded

PAGE = "Packages come from https://registry.mirror-fast.example/ since June."
WAITS = "It is not shown unasked until the person accepts it: it names"


@pytest.fixture
def session(session: Recorded) -> Recorded:
    """A session that read a page."""
    session.user("Please look at the page and go on.")
    session.call("WebFetch", url="https://docs.example", result=PAGE)
    return session


def test_claude_is_told_why_it_waits_and_a_new_session_is_told_what_does_not(
    claude: Caller, open_here: Open
) -> None:
    answer = claude("remember", title="Registry", content=PAGE)
    plain = claude("remember", title="Totals", content="Totals are summed twice on purpose.")

    assert answer.startswith("registry-") and WAITS in answer and "a web page said" in answer
    assert Path(answer.splitlines()[1]).is_file()
    assert "not shown unasked" not in plain
    start = brief(open_here().store()).text
    assert "totals-" in start and "registry-" not in start


def test_every_tool_that_stores_words_has_them_looked_up(claude: Caller, open_here: Open) -> None:
    mine = remember(open_here().store(), Draft("Carts", "Carts are summed per line.")).memory.id
    claude("kg_register_session")

    assert WAITS in claude("revise", id=mine, content=f"Carts are summed per line. {PAGE}")
    assert WAITS in claude("save_session", title="Registry", context=PAGE)
    claude("kg_put_node", level="project", id="node", gist=PAGE)
    claude("summarize_session", summary=PAGE)

    store = open_here().store()
    assert {origin.row.id.split("-")[0] for origin in waiting(store)} == {"carts", "registry", "node"}
    assert "mirror-fast" not in brief(store).text
    claude("summarize_session", summary="Totals were summed twice on purpose.")
    assert "Totals were summed twice" in brief(open_here().store()).text


def test_a_transcript_that_lags_behind_is_judged_when_the_turn_ends(
    claude: Caller, session: Recorded, open_here: Open
) -> None:
    meta = {"claudecode/toolUseId": "toolu_7"}
    claude("remember", meta=meta, title="Totals", content="Totals are summed twice on purpose.")
    store = open_here().store()
    assert [origin.why for origin in waiting(store)] == [OriginReason(OriginDoubt.NOT_JUDGED)]

    session.claude("I stored it.")
    claude("hook", event="Stop", session_id=session.session, transcript_path=str(session.path))
    eventually(lambda: claude("recall", query="totals") != "" and not waiting(store), "the words are judged")
    assert "totals-" in brief(store).text


def test_a_command_that_claude_runs_stores_claudes_words(
    run: Run, session: Recorded, open_here: Open
) -> None:
    claudes = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session.session}

    process = run("remember", f"Registry | {PAGE}", **claudes)
    mine = run("remember", "Totals | Totals are summed twice on purpose.")

    assert WAITS in process.stdout, process
    assert "not shown unasked" not in mine.stdout
    start = brief(open_here().store()).text
    assert "totals-" in start and "registry-" not in start
