"""What a prompt brings about when the module in the client tells of it: its context, and whose word it is."""

import re
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client

from mcp_server.actions.sessions.quality import why
from mcp_server.actions.status.module_seen import module_seen
from mcp_server.bootstrap import Opened
from mcp_server.core.settings import KEPT
from mcp_server.doors.server import build
from mcp_server.store import Store
from tests.live import ROOT, tools

Call = Callable[..., Any]


@pytest.fixture
def talk(open_here: Callable[..., Opened]) -> Callable[[Callable[[Call], Any]], None]:
    """Run a conversation with a server; it is given what calls a tool and returns the text."""

    def run(conversation: Callable[[Call], Any]) -> None:
        async def main() -> None:
            async with Client(build(open_here())) as client:

                async def call(tool: str, **given: Any) -> str:
                    return str((await client.call_tool(tool, given)).content[0].text)  # type: ignore[union-attr]

                await conversation(call)

        anyio.run(main)

    return run


def test_what_came_too_late_for_its_prompt_is_brought_again_and_what_was_told_is_not(
    talk: Callable[[Callable[[Call], Any]], None], store: Store
) -> None:
    async def conversation(call: Call) -> None:
        said_so = "Remember that the stripe webhook needs the raw body."
        await call("hook", event="UserPromptSubmit", session_id="s0", prompt=said_so)
        await call("remember", title="Stripe webhook", content="Needs the raw body.", type="gotcha")
        hook = {
            "event": "UserPromptSubmit",
            "session_id": "s1",
            "prompt": "the stripe webhook has no raw body",
        }
        late, told = await call("hook", **hook), await call("hook", **hook)
        assert late == told != "{}"
        assert why(store) == []
        assert await call("hook", event="Told", session_id="s1") == "{}"
        assert await call("hook", event="Told", session_id="s1") == "{}"
        assert await call("hook", **hook) == "{}"
        assert [(receipt.session, receipt.why) for receipt in why(store)] == [("s1", "prompt")]

    talk(conversation)


def test_a_prompt_that_is_not_the_persons_gives_nothing_their_word(
    talk: Callable[[Callable[[Call], Any]], None],
) -> None:
    async def conversation(call: Call) -> None:
        words = "#remember that the stripe webhook needs the raw body."
        hook = {"event": "UserPromptSubmit", "session_id": "s1", "prompt": words}
        assert await call("hook", **hook, origin="plugin") == "{}"
        stored = await call("remember", title="Stripe webhook", content="Needs the raw body.")
        assert "source: assistant" in await call("read_memory", id=stored.split(": ")[0])
        assert "Daybook has stored it" in await call("hook", **hook, origin="composer")

    talk(conversation)


def test_the_module_keeps_the_tools_from_claude_that_it_does_not_need() -> None:
    module = (ROOT / "hooks" / "daybook.tsx").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^const KEPT = \[\n(.*?)^\]", module, re.DOTALL | re.MULTILINE)
    named = [line.strip() for line in listed.splitlines()]

    assert named == [f"'mcp__plugin_daybook_daybook__{name}'," for name in KEPT]
    assert {*KEPT} <= {"hook", *tools()}
    assert not {"remember", "recall", "read_memory", "revise", "forget", "review"} & {*KEPT}


def test_the_module_says_what_it_lacks(talk: Callable[[Callable[[Call], Any]], None], store: Store) -> None:
    async def conversation(call: Call) -> None:
        assert await call("hook", event="Begun") == "{}"
        assert module_seen(store.home).startswith("not seen yet")
        given = {"event": "UserPromptSubmit", "prompt": "hello"}
        await call("hook", **given, module="2.1.340 commands pane")
        lacks = "last seen in Claude Code 2.1.340, without commands, pane, which that client lacks"
        assert module_seen(store.home) == lacks
        await call("hook", **given, module="2.1.341")
        assert module_seen(store.home) == "last seen in Claude Code 2.1.341"

    talk(conversation)
