"""Two sessions of one project at once: what one writes, the other is told."""

import json

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import call
from harness.terminal import needs_tmux

pytestmark = [pytest.mark.client, needs_tmux]

PREFIX = "mcp__plugin_daybook_daybook__"
NODE = "invoice-rounding"
FIRST = "Amounts on an invoice are rounded half to even."
SECOND = "Amounts on an invoice are rounded half up since the audit."


@pytest.fixture
def writing(claude: Claude) -> Claude:
    """A client whose person switched the graph on and allowed Claude to put nodes."""
    claude.env["DAYBOOK_TOOLSETS"] = "core graph"
    settings = claude.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"allow": [f"{PREFIX}kg_put_node"]}}), encoding="utf-8")
    return claude


def put_call(gist: str) -> dict[str, object]:
    return call("kg_put_node", level="project", id=NODE, gist=gist)


def test_one_session_is_told_what_the_other_wrote_by_sync_and_at_its_next_prompt(writing: Claude) -> None:
    with writing.interactive() as first, writing.interactive() as second:
        registered = second.send("good morning", [call("kg_register_session"), "hello there"])
        name = registered[-1].tool_results()[-1].split()[0]
        first.send("please note that", [put_call(FIRST), "it is noted"])
        synced = second.send("what is new", [call("kg_sync", session_id=name), "so it is told"])
        again = second.send("and now", [call("kg_sync", session_id=name), "nothing at all"])
        requests = second.send("how are amounts on an invoice rounded?", ["half to even it is"])

    assert len(name) == 8
    assert NODE in synced[-1].tool_results()[-1]
    assert FIRST in synced[-1].tool_results()[-1]
    assert NODE not in again[-1].tool_results()[-1]
    assert FIRST in requests[0].hook_context("UserPromptSubmit")[-1]


def test_when_both_write_one_node_the_later_is_told_both_versions(writing: Claude) -> None:
    with writing.interactive() as first, writing.interactive() as second:
        second.send("good morning", [call("kg_register_session"), "hello there"])
        first.send("please note that", [put_call(FIRST), "it is noted"])
        overwritten = second.send("note this instead", [put_call(SECOND), "that was noted"])
        read = first.send("what do we know", [call("kg_read"), "this we know"])

    result = overwritten[-1].tool_results()[-1]
    assert "updated" in result
    assert FIRST in result
    assert SECOND in result
    assert SECOND in read[-1].tool_results()[-1]
    assert FIRST not in read[-1].tool_results()[-1]
