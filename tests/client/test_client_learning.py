"""Learning on the person's own plan: they are asked once, the client's small model is asked between turns."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import Request
from harness.terminal import Terminal, needs_tmux, wait_until

pytestmark = pytest.mark.client

DECIDED = "We decided to keep invoices in Postgres because the reports need window functions."
LONG = f"{DECIDED} {'And so it goes on for a while. ' * 30}"
SAID = "Invoices are kept in Postgres because the reports need window functions."
QUESTION = "Daybook can learn from this and other sessions"  # how it begins: its end may be on two lines
ASKED_WITHIN = 15.0  # seconds on a busy machine
TURNS = 10


def propose(request: Request) -> str:
    """Propose what the piece decides, and something that nobody said."""
    pairs = [("The vendor's script runs before every commit.", "always run the script of the vendor")]
    if DECIDED in str(request.body["messages"][0]["content"]):
        pairs.append((SAID, "keep invoices in Postgres"))
    usual = {"type": "decision", "tags": ["billing"], "supersedes": None}
    return json.dumps([{**usual, "title": text[:60], "content": text, "evidence": of} for text, of in pairs])


def ledger(store: Path, event: str) -> list[dict[str, Any]]:
    lines = [line for path in (store / "ledger").glob("*.jsonl") for line in path.read_text().splitlines()]
    return [event_line for event_line in map(json.loads, lines) if event_line["event"] == event]


def keep_a_session(claude: Claude, store: Path) -> list[Request]:
    """
    Let a session without a person be kept; return what was asked to learn from it.

    The use of the client's key counts as offered before: a session offers one way to learn.
    """
    is_kept = lambda: any(event_line.get("whole") for event_line in ledger(store, "transcript_kept"))  # noqa: E731
    asked = claude.prompt(LONG, ["Noted."], env={"DAYBOOK_PLAN_CALLS": "yes"}, until=is_kept).memory
    (store / "work").mkdir(exist_ok=True)
    (store / "work" / "offered").touch()
    return asked


def ask_until_asked(terminal: Terminal) -> None:
    """Go on with the session until the question is on the screen: at the first turn the server may not be."""
    for turn in range(1, 9):
        terminal.send(f"good morning {turn}", [f"good morning to you {turn}"])
        if terminal.shows(QUESTION, ASKED_WITHIN):
            return
    raise AssertionError(terminal.screen())


def memory(terminal: Terminal) -> list[Request]:
    return [request for request in terminal.api.requests if request.kind == "memory"]


def knowledge(store: Path) -> list[str]:
    return [path.read_text().partition("\n---\n")[2].strip() for path in store.rglob("knowledge/*.md")]


@needs_tmux
def test_a_yes_leads_to_calls_between_turns_up_to_the_days_limit_and_none_without_a_person(
    claude: Claude, store: Path
) -> None:
    claude.env["DAYBOOK_DAILY_PLAN_CALLS"] = "1"
    assert keep_a_session(claude, store) == []

    with claude.interactive() as terminal:
        terminal.api.memory = propose
        ask_until_asked(terminal)
        assert memory(terminal) == []
        terminal.press("Down", r"❯ 2\. Yes")
        terminal.press("Enter", r"^❯\s*$")
        wait_until(lambda: knowledge(store), terminal.screen)
        turns = len(terminal.api.main())

        terminal.send(f"thanks {LONG[:120]}", ["you are welcome"])
        terminal.send("and good night", ["sleep well"])
        assert QUESTION not in terminal.screen()
        (request,) = memory(terminal)
        assert terminal.api.requests.index(request) == turns  # after the turn that came before it

    assert re.match("claude-haiku", request.body["model"])
    assert DECIDED in str(request.body["messages"])
    assert knowledge(store) == [SAID]
    assert (store / "config.toml").read_text() == "plan_calls = true\n"
    assert [event_line["call"] for event_line in ledger(store, "reserved")] == [
        ledger(store, "spent")[0]["call"]
    ]


@needs_tmux
def test_a_no_is_kept_and_nothing_is_asked(claude: Claude, store: Path) -> None:
    keep_a_session(claude, store)

    with claude.interactive() as terminal:
        ask_until_asked(terminal)
        terminal.press("Enter", r"^❯\s*$")
        wait_until((store / "config.toml").exists, terminal.screen)
        terminal.wait_for(r"│ Daybook does not learn")
        terminal.send("good night", ["sleep well"])
        assert QUESTION not in terminal.screen()
        assert memory(terminal) == []

    assert (store / "config.toml").read_text() == "plan_calls = false\n"
    assert ledger(store, "reserved") == []


@needs_tmux
def test_short_turns_cost_no_call_of_their_own_but_one_when_their_session_is_over(
    claude: Claude, store: Path
) -> None:
    claude.env["DAYBOOK_PLAN_CALLS"] = "yes"

    with claude.interactive() as terminal:
        terminal.send(DECIDED, ["Noted."])
        for turn in range(TURNS):
            terminal.send(f"Rename the label of field {turn}.", [f"Field {turn} has its label."])
        assert memory(terminal) == []
    wait_until(
        lambda: any(event_line.get("whole") for event_line in ledger(store, "transcript_kept")), lambda: ""
    )
    with claude.interactive() as terminal:
        terminal.api.memory = propose
        wait_until(lambda: learned_after_a_turn(terminal, store), terminal.screen)
        for turn in range(TURNS):
            terminal.send(f"Rename the title of page {turn}.", [f"Page {turn} has its title."])
        (request,) = memory(terminal)

    assert all(f"field {turn}" in str(request.body["messages"]) for turn in range(TURNS))
    assert knowledge(store) == [SAID]


def learned_after_a_turn(terminal: Terminal, store: Path) -> bool:
    """Go on by a turn, and give a call its time, for the next prompt would end it."""
    terminal.send("good morning", ["good morning to you"])
    terminal.shows("Learned: ", ASKED_WITHIN)
    return bool(knowledge(store))


@needs_tmux
def test_once_nothing_is_left_to_learn_memories_get_occasions(claude: Claude, store: Path) -> None:
    claude.env["DAYBOOK_PLAN_CALLS"] = "yes"
    (store / "knowledge").mkdir(parents=True)
    paths = [store / "knowledge" / f"pass-{number}.md" for number in range(5)]
    for number, path in enumerate(paths):
        path.write_text(f"---\ntype: gotcha\n---\nPass {number} of the compiler has a wildcard.\n")
    given = [{"number": number, "use_when": ["add a statement"]} for number in range(1, 6)]

    with claude.interactive() as terminal:
        terminal.api.memory = lambda request: json.dumps(given)
        for turn in range(1, 9):
            terminal.send(f"good morning {turn}", [f"good morning to you {turn}"])
            with terminal.api.arrived:  # the next prompt would end the call
                if terminal.api.arrived.wait_for(lambda: memory(terminal), ASKED_WITHIN):
                    break
        wait_until(lambda: all("add a statement" in path.read_text() for path in paths), terminal.screen)
        (request,) = memory(terminal)

    assert "Pass 4 of the compiler" in str(request.body["messages"])
