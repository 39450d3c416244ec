"""A server that is killed in the middle: the person reads one sentence, nothing is lost, and it goes on."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from harness.drive_claude import Claude
from harness.terminal import Terminal, needs_tmux, wait_until

from tests.client.test_client_learning import ask_until_asked, keep_a_session
from tests.client.test_client_states import TROUBLE, servers_of
from tests.client.test_client_typed import ENDED

pytestmark = [
    pytest.mark.client,
    needs_tmux,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the server is looked for in /proc"),
]

TUESDAYS = "Production deploys run on Tuesdays only."
FRIDAYS = "Production deploys run on Fridays only."
RECONNECT = "/mcp reconnect plugin:daybook:daybook"
UNHEARD = "Daybook did not hear your answer and asks again. If its server has ended, '/mcp' starts it."
NAME = "staging-port-a1b2"
STAGING = f"---\nid: {NAME}\ntitle: Staging port\ntype: gotcha\n---\nStaging listens on port 5433.\n"
ANSWER = r"⎿\s+daybook:\s"


def kill(store: Path) -> None:
    """Kill the server of *store*."""
    for process in servers_of(store):
        os.kill(process, signal.SIGKILL)
    wait_until(lambda: not servers_of(store))


def answer_to(terminal: Terminal, typed: str) -> str:
    """Type a command, and return what it says to the person."""
    before = len(re.findall(ANSWER, terminal.screen()))
    screen = terminal.command(typed, rf"(?s)(?:{ANSWER}.*){{{before + 1}}}")
    return last_answer(screen)


def last_answer(screen: str) -> str:
    return " ".join(re.split(ANSWER, screen)[-1].split("\n\n")[0].split())


def words_of_pane(screen: str) -> str:
    lines = [line.partition("│")[2].replace("✕", "") for line in screen.splitlines()]
    return " ".join(" ".join(lines).split())


def reconnect(terminal: Terminal, store: Path) -> None:
    """Do what the sentence says."""
    terminal.command(RECONNECT, "[Rr]econnected")
    wait_until(lambda: servers_of(store), terminal.screen)


def knowledge(store: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in store.glob("projects/*/knowledge/*.md"))


def test_what_the_person_chose_when_the_server_had_ended_is_asked_again_and_nothing_is_half_done(
    claude: Claude, plugin: Path, store: Path
) -> None:
    remember = [plugin / "bin" / "daybook", "remember", f"Deploys | {TUESDAYS}"]
    environment = claude.environment("http://127.0.0.1:9")
    subprocess.run(remember, cwd=claude.project, env=environment, check=True, stdout=subprocess.DEVNULL)
    again = f"/remember Deploys | {FRIDAYS}"
    with claude.interactive(rows=90) as terminal:
        terminal.wait_for("daybook: 1 shown")
        terminal.command(again, r"❯ 1\. Keep both")
        kill(store)
        terminal.press("Down", r"❯ 2\. The new one replaces it")
        terminal.press("Enter", rf"{ANSWER}Daybook's server has ended")
        answer = last_answer(terminal.screen())
        stored = knowledge(store)

        for typed in (again, "/recall deploys", "/forget deploys", "/save-session", "/restore-session"):
            assert answer_to(terminal, typed) == ENDED
        terminal.command("/daybook", "│Daybook's server has ended")
        pane = words_of_pane(terminal.screen())
        terminal.press("Escape", r"\A[^│]*\Z")
        terminal.send("when do production deploys run?", ["on Tuesdays"])
        screen = terminal.screen()

        reconnect(terminal, store)
        replaced = terminal.command(
            again,
            r"It replaces deploys-\w+",
            [(r"❯ 1\. Keep both", "Down"), (r"❯ 2\. The new", "Enter")],
        )

    assert answer == ENDED
    assert (TUESDAYS in stored, FRIDAYS in stored, "superseded" in stored) == (True, True, False)
    assert pane == ENDED
    assert not re.search(TROUBLE, screen), screen
    (new,) = re.findall(r"(deploys-\w+): known already", replaced) or [replaced]
    assert knowledge(store).count("superseded_by:") == 1
    assert f"superseded_by: {new}\n" in knowledge(store)


def test_a_yes_to_learning_that_the_server_did_not_hear_is_asked_for_again(
    claude: Claude, store: Path
) -> None:
    keep_a_session(claude, store)

    with claude.interactive() as terminal:
        ask_until_asked(terminal)
        kill(store)
        terminal.press("Down", r"❯ 2\. Yes")
        screen = terminal.press("Enter", r"Daybook did not hear(?s:.*)it\. +│")
        assert not (store / "config.toml").exists()
        reconnect(terminal, store)
        terminal.api.memory = lambda request: "[]"
        ask_until_asked(terminal)
        terminal.press("Down", r"❯ 2\. Yes")
        terminal.press("Enter", r"^❯\s*$")
        wait_until((store / "config.toml").exists, terminal.screen)

    toast = " ".join(re.findall(r"│ ([^│]+?) *│", screen))
    assert UNHEARD in " ".join(toast.split()), screen
    assert (store / "config.toml").read_text(encoding="utf-8") == "plan_calls = true\n"


def test_a_button_that_is_pressed_when_the_server_had_ended_does_nothing_and_later_does_it(
    claude: Claude, store: Path
) -> None:
    subprocess.run(["git", "init", "-q", claude.project], check=True)
    path = claude.project / ".claude-memory" / "knowledge" / f"{NAME}.md"
    path.parent.mkdir(parents=True)
    path.write_text(STAGING, encoding="utf-8")

    with claude.interactive(rows=60) as terminal:
        terminal.wait_for("daybook: 1 waits")
        terminal.command("/daybook", r"2: Waits 1")
        terminal.press("2", "▸ Staging port")
        terminal.press("Enter", r"\[ Accept \]")
        kill(store)
        terminal.press("a", "Daybook's server has ended")
        pane = words_of_pane(terminal.screen())
        terminal.press("Escape", r"\A[^│]*\Z")
        reconnect(terminal, store)
        terminal.command("/daybook", r"\[ Accept \]")
        pane_words = words_of_pane(terminal.screen())
        terminal.press("a", "accepted")

    assert ENDED in pane and "accepted" not in pane
    assert "Waits 1" in pane_words and "has ended" not in pane_words
