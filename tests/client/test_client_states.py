"""Whatever state the server, its environment or Python is in: no error is seen, and the session goes on."""

import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import call
from harness.terminal import needs_tmux

pytestmark = [pytest.mark.client, needs_tmux]

TROUBLE = r"hook failed|hook error|hook problem|timed out|not connected|Daybook did not"
STORED = {"title": "Invoices", "content": "Amounts on an invoice are rounded half to even."}
ASKS = "how are the amounts on an invoice rounded?"

SLOW = f"""#!{sys.executable}
import subprocess, sys, threading, time
server = subprocess.Popen([sys.argv[1], "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def back():
    for line in server.stdout:
        if sys.argv[2].encode() in line:
            time.sleep(float(sys.argv[3]))
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
threading.Thread(target=back, daemon=True).start()
for line in sys.stdin.buffer:
    server.stdin.write(line)
    server.stdin.flush()
"""


def answer_slowly(copy: Path, text: str = "additionalContext", seconds: float = 3) -> None:
    """Let the server of the plugin's *copy* answer late with *text*, by default what a prompt calls for."""
    relay = copy / "bin" / "relay"
    relay.write_text(SLOW, encoding="utf-8")
    relay.chmod(0o755)
    mcp = json.loads((copy / ".mcp.json").read_text(encoding="utf-8"))
    mcp["mcpServers"]["daybook"] = {
        "command": "${CLAUDE_PLUGIN_ROOT}/bin/relay",
        "args": ["${CLAUDE_PLUGIN_ROOT}/bin/daybook", text, str(seconds)],
    }
    (copy / ".mcp.json").write_text(json.dumps(mcp), encoding="utf-8")


def servers_of(store: Path) -> list[int]:
    """Return the processes that serve *store*."""
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"mcp_server" in words and f"MEMORY_DIR={store}".encode() in (
                process / "environ"
            ).read_bytes().split(b"\0"):
                pids.append(int(process.name))
        except OSError:
            continue
    return pids


def told_in(store: Path) -> list[dict[str, object]]:
    """Return what the ledger says that prompts were told."""
    texts = [path.read_text(encoding="utf-8") for path in store.rglob("ledger/*.jsonl")]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    return [line for line in lines if line.get("event") == "injected" and "prompt" in line]


def test_what_a_slow_server_answers_too_late_is_not_counted_as_told(
    claude: Claude, plugin: Path, store: Path, tmp_path: Path
) -> None:
    claude.install_changed(plugin, tmp_path, answer_slowly)

    with claude.interactive() as terminal:
        terminal.send(f"Remember: {STORED['content']}", [call("remember", **STORED), "kept it"])
        (request,) = terminal.send(ASKS, ["half to even"])
        screen = terminal.screen()
    printed = claude.prompt(ASKS, ["half to even"])

    assert request.hook_context("UserPromptSubmit") == []
    assert printed.main[0].hook_context("UserPromptSubmit") == []
    assert printed.answer == "half to even"
    assert told_in(store) == []
    assert not re.search(TROUBLE, screen), screen
    assert not re.search(TROUBLE, printed.stdout + printed.stderr)


def test_whoever_stops_waiting_for_an_answer_reads_that_it_may_still_be_done(
    claude: Claude, plugin: Path, tmp_path: Path
) -> None:
    claude.install_changed(plugin, tmp_path, lambda copy: answer_slowly(copy, STORED["content"], 600))

    with claude.interactive() as terminal:
        terminal.command("/remember {title} | {content}".format(**STORED), "remembered as")
        terminal.type("/recall invoices")
        terminal.press("Enter", "esc to interrupt")
        screen = terminal.press("Escape", r"/recall\s+⎿\s+daybook: ")

    assert "You stopped this before Daybook had answered: it may still do it." in screen


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the server is looked for in /proc")
def test_a_server_that_was_killed_is_missed_by_nobody(claude: Claude, store: Path) -> None:
    with claude.interactive() as terminal:
        terminal.send(f"Remember: {STORED['content']}", [call("remember", **STORED), "kept it"])
        for process in servers_of(store):
            os.kill(process, signal.SIGKILL)
        terminal.send(ASKS, ["half to even"])
        terminal.send("and what else?", ["nothing else"])
        screen = terminal.screen()

    assert not re.search(TROUBLE, screen), screen
