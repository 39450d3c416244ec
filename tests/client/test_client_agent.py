"""Learning by an agent where the client loads no module: offered once; after a yes, once in a session."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import OUR_TOOLS, Request, call
from harness.terminal import Terminal, needs_tmux, wait_until

pytestmark = [pytest.mark.client, needs_tmux]

DECIDED = "We decided to keep invoices in Postgres because the reports need window functions."
OFFERED = "Daybook can learn from your sessions by itself"
LOADED = {f"{OUR_TOOLS}remember", f"{OUR_TOOLS}recall"}
ASKED = "start the agent daybook:memory-extractor once, in the background"


@pytest.fixture
def claude(claude: Claude, home_without_module: Path) -> Claude:
    """A client without the module, of a person without a key."""
    claude.home = home_without_module
    settings = claude.project / ".claude" / "settings.local.json"
    settings.parent.mkdir()  # auto mode has an agent looked at by a service that is not here
    settings.write_text('{"permissions": {"defaultMode": "default"}}')
    claude.env |= {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "of-a-plan"}
    claude.env["MCP_TIMEOUT"] = "240000"  # ms: however slow the machine is, the server is waited for
    return claude


def ledger(store: Path, event: str) -> list[dict[str, Any]]:
    lines = [line for path in (store / "ledger").glob("*.jsonl") for line in path.read_text().splitlines()]
    return [event_line for event_line in map(json.loads, lines) if event_line["event"] == event]


def keep_a_session(claude: Claude, store: Path) -> None:
    """Let a session end that holds a decision."""
    is_kept = lambda: any(event_line.get("whole") for event_line in ledger(store, "transcript_kept"))  # noqa: E731
    claude.prompt(DECIDED, ["Noted."], until=is_kept)


def propose(request: Request) -> dict[str, Any]:
    """Propose what the piece that was read last decides."""
    (read, *_) = [result for result in reversed(request.tool_results()) if result.startswith("chunk ")]
    fields = {"type": "decision", "title": "Invoices", "content": DECIDED, "tags": [], "supersedes": None}
    proposal = {**fields, "evidence": "keep invoices in Postgres"}
    return call("submit_candidates", chunk=read.split("\n")[0].removeprefix("chunk "), candidates=[proposal])


def asks_to_learn(terminal: Terminal) -> list[bool]:
    return [ASKED in request.body_text() for request in terminal.api.main()]


def test_it_is_offered_once_and_without_a_yes_claude_is_asked_nothing(claude: Claude, store: Path) -> None:
    keep_a_session(claude, store)

    with claude.interactive() as terminal:
        terminal.send("good morning", ["good morning to you"])
        terminal.send("and now?", ["nothing new"])
        first = terminal.screen()
        assert not any(asks_to_learn(terminal))
    with claude.interactive() as terminal:
        terminal.send("good morning", ["good morning to you"])
        second = terminal.screen()
        assert not any(asks_to_learn(terminal))

    assert (first.count(OFFERED), second.count(OFFERED)) == (1, 0), first
    assert not (store / "config.toml").exists()


def test_after_a_yes_an_agent_in_the_background_learns_once_in_a_session(claude: Claude, store: Path) -> None:
    keep_a_session(claude, store)
    (store / "config.toml").write_text("plan_calls = true\n")
    agent = {"subagent_type": "daybook:memory-extractor", "description": "learn", "prompt": "5 pieces"}

    with claude.interactive() as terminal:
        terminal.api.add_subagent([call("next_transcript_chunk"), propose, "One memory was stored."])
        terminal.send("good morning", ["good morning to you"])
        assert asks_to_learn(terminal) == [False]
        numbers = itertools.count(1)
        wait_until(lambda: terminal.send("and now?", [f"answer {next(numbers)}"])[0].tools >= LOADED)
        terminal.send("thanks", [call("Agent", **agent, run_in_background=True), "you are welcome"])
        wait_until(lambda: list(store.rglob("knowledge/*.md")), terminal.screen)
        assert OFFERED not in terminal.screen()
        contexts = [request.hook_context("UserPromptSubmit") for request in terminal.api.main()]

    assert sum(ASKED in text for text in contexts[-1]) == 1  # of all that was said in the conversation
    (learned,) = store.rglob("knowledge/*.md")
    assert DECIDED in learned.read_text(encoding="utf-8")
