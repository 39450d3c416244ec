"""A day of 100 short turns, as Claude Code writes them down: how many calls it takes to learn from it."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mcp_server.actions.capture.note import note_answer
from mcp_server.actions.upkeep.work import note_left_behind, note_quiet
from mcp_server.adapters.index.events import transcripts
from mcp_server.bootstrap import Opened
from mcp_server.core.sessions.chunks import OVERLAP, SIZE
from tests.actions.work.worked import ended, worked
from tests.conftest import Clock, Open
from tests.doors.learning_asked import ledger, module
from tests.recorded import Recorded
from tests.scripted_model import ScriptedModel, agreed

TURNS = 100
MOST_CALLS = 10
SILENT = (13, 38, 63, 88)  # turns before which the person is away for an hour and a half
MINUTE = 1 / 24 / 60  # of a day
ASKED = "Turn {0}: please rename the label of field {0} in the form, and keep the tests green."
ANSWERED = "I renamed the label of field {0} in the form and in its two translations. The tests are green."
PLAN = {"CLAUDE_CODE_ENTRYPOINT": "cli", "DAYBOOK_PLAN_CALLS": "yes"}

Learn = Callable[[], None]


class Day:
    """One day in one project: a person who works, goes away, and comes back."""

    def __init__(self, opened: Opened, clock: Clock, folder: Path, project: Path, learn: Learn) -> None:
        self.opened, self.clock, self.folder, self.project, self.learn = opened, clock, folder, project, learn

    def session(self, turns: range) -> Recorded:
        """Let a session have these *turns*, with Stop after each and silence before some, and no end."""
        recorded = Recorded(self.folder, cwd=self.project)
        for turn in turns:
            if turn in SILENT:
                self.wait(recorded, 90)
            recorded.user(ASKED.format(turn))
            recorded.call("Edit", file_path=f"src/field{turn}.ts")
            recorded.call("Bash", command="npm test", result="ok " * 600)
            recorded.claude(ANSWERED.format(turn))
            recorded.turn_ends()
            self.wait(recorded, 2)
            store = self.opened.store().in_session(recorded.session)
            if note_answer(store, recorded.path, folder=str(self.project)):
                worked(self.opened)
            self.learn()
        return recorded

    def end(self, recorded: Recorded) -> None:
        ended(self.opened.store(), recorded)
        worked(self.opened)

    def wait(self, recorded: Recorded, minutes: int) -> None:
        """Let *minutes* pass, in which the server looks at what was left every five."""
        if recorded.path.exists():
            os.utime(recorded.path, (self.clock.now.timestamp(),) * 2)
        for _ in range(minutes // 5):
            self.clock.pass_days(5 * MINUTE)
            if note_quiet(self.opened.store()):
                worked(self.opened)
        self.clock.pass_days(minutes % 5 * MINUTE)

    def unlearned(self) -> int:
        with self.opened.store().database.read() as db:
            return len(transcripts.unlearned(db, paid=False))


def pieces(prompts: list[str]) -> Iterator[str]:
    for prompt in prompts:
        texts = re.findall(r"<transcript>\n(.*?)\n</transcript>", prompt, re.DOTALL)
        assert sum(map(len, texts)) <= SIZE
        before = re.findall(r"<told_before>\n(.*?)\n</told_before>", prompt, re.DOTALL)
        assert all(len(overlap) <= OVERLAP for overlap in before)
        yield from texts


@pytest.mark.parametrize("sessions", [1, 20])
@pytest.mark.parametrize("road", ["key", "plan"])
def test_a_day_of_short_turns_is_ten_calls_and_nothing_of_it_stays_unlearned(
    open_here: Open,
    model: ScriptedModel,
    clock: Clock,
    tmp_path: Path,
    project: Path,
    road: str,
    sessions: int,
) -> None:
    opened = open_here(**(agreed(model) if road == "key" else PLAN))
    prompts: list[str] = []
    with ExitStack() as stack:
        tell = stack.enter_context(module(opened)) if road == "plan" else None

        def learn() -> None:
            """Do what the module does between two turns."""
            if tell and (handed := tell("learn")):
                prompts.append(handed["request"]["prompt"])
                usage = {"input_tokens": 1500, "output_tokens": 10}
                assert tell("learned", call=handed["call"], isAnswered=True, text="[]", usage=usage) == {
                    "stored": []
                }

        day = Day(opened, clock, tmp_path / "transcripts", project, learn)
        of_one = TURNS // sessions
        for first in range(0, TURNS, of_one):
            day.end(day.session(range(first, first + of_one)))
        learn()  # the first turn of whoever comes next
        on_that_day = len(ledger(opened, "reserved"))
        unlearned = day.unlearned()

        clock.pass_days(1)
        if note_left_behind(opened.store()):
            worked(opened)
        while road == "plan" and day.unlearned():
            learn()
    prompts += [request.prompt for request in model.asked]
    calls = len(ledger(opened, "reserved"))

    print(f"{road}, {sessions} sessions: {on_that_day} calls, {unlearned} left over, {calls} in all")
    assert calls == len(prompts) and calls <= MOST_CALLS
    assert unlearned == 0 or sessions == 20
    assert day.unlearned() == 0
    sent_text = "\n".join(pieces(prompts))
    assert [sent_text.count(f"Turn {turn}: ") for turn in range(TURNS)] == [1] * TURNS
