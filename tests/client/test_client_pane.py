"""The pane beside the chat, as the person sees it: the text of the screen, wide and narrow."""

import html
import os
import re
import subprocess
import threading
from pathlib import Path

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import Request
from harness.terminal import KEY_LOST, PATIENCE, Terminal, needs_tmux, wait_until

from tests.live import ROOT

pytestmark = pytest.mark.client

NAME = "staging-port-a1b2"
FACT = "The staging database listens on port 5433, behind the proxy of the shop."
DEPLOYS = "Production deploys run on Tuesdays only, because the shop is quiet then."
PICTURE = ROOT / "docs" / "pane.svg"
CELL, LINE, EDGE = 9, 19, 16  # pixels of the picture: a character, a line, around it


@pytest.fixture
def memories(claude: Claude, plugin: Path) -> None:
    """Store what the person says in a terminal, beside what came with the repository, and waits."""
    subprocess.run(["git", "init", "-q", claude.project], check=True)
    path = claude.project / ".claude-memory" / "knowledge" / f"{NAME}.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nid: {NAME}\ntitle: Staging port\ntype: gotcha\n---\n{FACT}\n", encoding="utf-8")
    typed = [plugin / "bin" / "daybook", "remember", f"Deploys on Tuesdays | {DEPLOYS}"]
    environment = claude.environment("http://127.0.0.1:9")
    subprocess.run(typed, cwd=claude.project, env=environment, check=True, stdout=subprocess.DEVNULL)


def open_pane(terminal: Terminal) -> str:
    """Type `/daybook` once the status line tells that the server answers; return the screen with the pane."""
    terminal.wait_for("daybook: 1 shown · 1 waits")
    terminal.type("/daybook")
    terminal.wait_for(r"❯\s/daybook\s*$")
    return terminal.press("Enter", r"2: Waits \d")


def lines_of(screen: str) -> list[str]:
    """Return the lines of the pane on *screen*, without its frame and the chat, and with ids that stay."""
    screen = re.sub(r"(deploys-on-tuesdays-)\w{4}", r"\1k3f9", screen)
    matches = [re.search(r"│(.*?)[│\s]*$", line) for line in screen.splitlines()]
    lines = [match.group(1).replace("✕", "") for match in matches if match]
    return [line for line in lines if line.strip()]


def words_of(screen: str) -> str:
    return " ".join(" ".join(lines_of(screen)).split())


@needs_tmux
@pytest.mark.parametrize("columns", [120, 40])
def test_what_was_told_is_shown_and_a_press_accepts_what_waits(
    claude: Claude, memories: None, columns: int
) -> None:
    with claude.interactive(columns=columns, rows=40) as terminal:
        opened = words_of(open_pane(terminal))
        whole = terminal.press("Enter", r"\[ Pin \]")
        waiting = words_of(terminal.press("2", "▸ Staging port"))
        entry = words_of(terminal.press("Enter", r"\[ Accept \]"))
        terminal.press("a", "accepted")
        accepted = words_of(terminal.wait_for("Waits 0"))
        terminal.wait_for(r"daybook: 1 shown\s*$")
        terminal.type("3")
        terminal.wait_for("words or a question")
        terminal.type("staging")
        terminal.wait_for(r"▸ Staging port gotcha")
        terminal._tmux("send-keys", "Escape")

    tabs = "1: Shown 1 2: Waits {} 3: Search 4: Today"
    assert opened == f"{tabs.format(1)} ▸ Deploys on Tuesdays at the start of the session"
    assert f"session {DEPLOYS} [ Pin ] at hand in every session" in words_of(whole)
    assert waiting == f"{tabs.format(1)} ▸ Staging port came with the repository"
    assert f"{FACT} [ Accept ] Claude may be shown it unasked" in entry
    assert accepted.startswith(f"{tabs.format(0)} {NAME}: accepted. [ Undo ] takes back:")
    run = claude.prompt("on which port listens the staging database?", ["5433"])
    assert "port 5433" in "".join(run.main[0].hook_context("SessionStart"))
    if columns == 120:
        drawn = picture(lines_of(whole))
        if os.environ.get("UPDATE"):
            PICTURE.write_text(drawn, encoding="utf-8")
        assert PICTURE.read_text(encoding="utf-8") == drawn, "UPDATE=1 draws it anew"


@needs_tmux
def test_it_opens_while_claude_works(claude: Claude, memories: None) -> None:
    claude.env["MCP_TIMEOUT"] = "120000"  # ms; a client that gives up a server at its start shows nothing
    may_answer = threading.Event()

    def long_turn(request: Request) -> dict[str, str]:
        api.arrived.wait_for(may_answer.is_set, 5 * PATIENCE)
        return {"text": "That took a while."}

    with claude.interactive(columns=120, rows=40) as terminal:
        api = terminal.api
        api.add([long_turn])
        terminal.type("think hard about it")
        wait_until(lambda: terminal.key("Enter") or api.wait_for_main(1, KEY_LOST), terminal.screen)

        terminal.type("/daybook")
        terminal.wait_for(r"❯\s/daybook\s*$")
        opened = terminal.press("Enter", "Deploys on Tuesdays")

        assert "That took a while." not in opened
        with api.arrived:
            may_answer.set()
            api.arrived.notify_all()
        terminal.wait_for(r"That took a while\.")


def test_without_a_screen_it_says_in_a_sentence_what_the_pane_would_show(
    claude: Claude, memories: None
) -> None:
    run = claude.prompt("/daybook")

    sentence = "Claude was shown 1 memory in this session; 1 entry waits for you: 'daybook review'."
    assert run.answer.endswith(sentence)
    assert not run.main


def picture(lines: list[str]) -> str:
    """Return *lines* of a terminal as an SVG."""
    width, height = 2 * EDGE + CELL * max(map(len, lines)), 2 * EDGE + LINE * len(lines)
    drawn = [
        f'<text x="{EDGE}" y="{EDGE + LINE * number + 14}">{html.escape(line.rstrip())}</text>'
        for number, line in enumerate(lines)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            ' font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14.5" fill="#d8dee9"'
            ' xml:space="preserve">',
            f'<rect width="{width}" height="{height}" rx="8" fill="#20242c"/>',
            *drawn,
            "</svg>",
            "",
        ]
    )
