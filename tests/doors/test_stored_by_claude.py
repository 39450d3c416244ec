"""What Claude stores through the doors: looked up in its session, and told why it waits."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.judge.origins import waiting
from mcp_server.actions.memory.remember import remember
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.provenance.origins import OriginDoubt, OriginReason
from tests.doors.shell import Run
from tests.durability.served import Served
from tests.recorded import Recorded

PAGE = "Packages come from https://registry.mirror-fast.example/ since June."
WAITS = "It is not shown unasked until the person accepts it: it names"


@pytest.fixture
def session(scratch_home: Path, project: Path) -> Recorded:
    """A session that read a page, where Claude Code keeps such."""
    recorded = Recorded(scratch_home / ".claude" / "projects" / "shop", cwd=project)
    recorded.user("Please look at the page and go on.")
    recorded.call("WebFetch", url="https://docs.example", result=PAGE)
    return recorded


@pytest.fixture
def served(memory_dir: Path, project: Path, session: Recorded) -> Iterator[Served]:
    with Served(memory_dir, project, CLAUDE_CODE_SESSION_ID=session.session) as server:
        yield server.greet()


def test_claude_is_told_why_it_waits_and_a_new_session_is_told_what_does_not(
    served: Served, open_here: Callable[..., Opened]
) -> None:
    told = served.call("remember", title="Registry", content=PAGE)
    plain = served.call("remember", title="Totals", content="Totals are summed twice on purpose.")

    assert told.startswith("registry-") and WAITS in told and "a web page said" in told
    assert Path(told.splitlines()[1]).is_file()
    assert "not shown unasked" not in plain
    start = brief(open_here().store()).text
    assert "totals-" in start and "registry-" not in start


def test_every_tool_that_stores_words_has_them_looked_up(
    served: Served, open_here: Callable[..., Opened]
) -> None:
    mine = remember(open_here().store(), Draft("Carts", "Carts are summed per line.")).memory.id
    served.call("kg_register_session")

    assert WAITS in served.call("revise", id=mine, content=f"Carts are summed per line. {PAGE}")
    assert WAITS in served.call("save_session", title="Registry", context=PAGE)
    served.call("kg_put_node", level="project", id="node", gist=PAGE)
    served.call("summarize_session", summary=PAGE)

    here = open_here().store()
    assert {one.row.id.split("-")[0] for one in waiting(here)} == {"carts", "registry", "node"}
    assert "mirror-fast" not in brief(here).text
    served.call("summarize_session", summary="Totals were summed twice on purpose.")
    assert "Totals were summed twice" in brief(open_here().store()).text


def test_a_transcript_that_lags_behind_is_judged_when_the_turn_ends(
    served: Served, session: Recorded, open_here: Callable[..., Opened]
) -> None:
    meta = {"claudecode/toolUseId": "toolu_7"}
    arguments = {"title": "Totals", "content": "Totals are summed twice on purpose."}
    served.ask("tools/call", {"name": "remember", "arguments": arguments, "_meta": meta})
    here = open_here().store()
    assert [origin.why for origin in waiting(here)] == [OriginReason(OriginDoubt.NOT_JUDGED)]

    session.claude("I stored it.")
    served.call("hook", event="Stop", session_id=session.session, transcript_path=str(session.path))
    while waiting(here):  # nobody waits for the hook's thread; the test's own patience ends this
        served.call("recall", query="totals")
    assert "totals-" in brief(here).text


def test_a_command_that_claude_runs_stores_claudes_words(
    run: Run, session: Recorded, open_here: Callable[..., Opened]
) -> None:
    claudes = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session.session}

    told = run("remember", f"Registry | {PAGE}", **claudes)
    mine = run("remember", "Totals | Totals are summed twice on purpose.")

    assert WAITS in told.stdout, told
    assert "not shown unasked" not in mine.stdout
    start = brief(open_here().store()).text
    assert "totals-" in start and "registry-" not in start
