"""A worker that is killed while it adds occasions: each memory gets them once, and they are paid for once."""

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.capture.learn_on_plan import hand_out
from mcp_server.actions.capture.occasions import STEP
from mcp_server.actions.files import runs
from mcp_server.actions.files.read import is_shown, read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.repository import accept
from mcp_server.actions.upkeep.work import work
from mcp_server.adapters.index.memories import selections
from mcp_server.core.capture import occasions as rules
from mcp_server.core.memory_parts import Level
from mcp_server.core.provenance.provenance import ASSISTANT
from mcp_server.store import Store
from tests.durability.stepped import killed, stepped
from tests.memories import decided
from tests.opened import opened_at
from tests.scripted_model import Answer, ScriptedModel, agreed, reply

WRITING = ("_give_name", "write_new", "append_line", "replace", "swap_in", "link", "_write_temporary", "move")


def giving(body: dict[str, Any]) -> Answer:
    """Give every memory of a question the occasions that its title names."""
    numbered = re.findall(r"^\[(\d+)\] (.*?):", body["messages"][0]["content"], re.MULTILINE)
    given = [{"number": int(number), "use_when": [f"light {title}"]} for number, title in numbered]
    return reply(json.dumps(given))


def lamps(home: Path) -> dict[str, tuple[str, ...]]:
    """Store memories that the person accepted; return the occasions that each is to get, by its id."""
    opened = opened_at(home)
    store = opened.store()
    wanted = {}
    for number in range(rules.LEAST):
        title = f"Lamp {number}"
        memory_id = decided(
            store, f"{title} hangs in hall {number}.", title=title, source=ASSISTANT, level=Level.USER
        )
        with store.database.read() as db:
            row = selections.with_ref(db, f"user/{memory_id}")
        assert row
        accept(store, [row])
        wanted[memory_id] = (f"light {title}",)
    opened.database.close()
    return wanted


class Hall:
    """A home with lamps that are to get occasions, and how it was before a worker came."""

    def __init__(self, folder: Path, model: ScriptedModel) -> None:
        self.home, self.before, self.model = folder / "memory", folder / "before", model
        self.wanted = lamps(self.home)
        shutil.copytree(self.home, self.before)
        self.lines = self._lines()

    def _lines(self) -> list[int]:
        names = stepped(self.worked, {})
        return [number for number, name in enumerate(names, start=1) if name in WRITING]

    def killed_at(self, line: int) -> bool:
        """Let a worker begin anew and kill it at *line*; tell whether it came so far."""
        shutil.rmtree(self.home)
        shutil.copytree(self.before, self.home)
        return killed(self.worked, {}, line)

    def worked(self) -> None:
        with self.opened() as store:
            work(lambda _: store)

    @contextlib.contextmanager
    def opened(self, **more: str) -> Iterator[Store]:
        opened = opened_at(self.home, **(more or agreed(self.model)))
        yield opened.store()
        opened.database.close()

    def given(self, store: Store) -> dict[str, tuple[str, ...]]:
        """Return the occasions of each memory that is whole and may still be shown."""
        assert sync(store).unreadable == []
        lamp_files = [read(store, memory_id) for memory_id in self.wanted]
        return {file.memory.id: file.memory.use_when for file in lamp_files if is_shown(store, file)}


def runs_of(store: Store) -> list[str]:
    """Return the runs that added occasions, by the ledger."""
    lines = [line for path in store.ledger.paths() for line in path.read_text(encoding="utf-8").splitlines()]
    events = map(json.loads, lines)
    return list(dict.fromkeys(event["run"] for event in events if event.get("step") == STEP))


@pytest.fixture
def hall(quick_folder: Path) -> Iterator[Hall]:
    with ScriptedModel(giving) as model:
        yield Hall(quick_folder, model)


def test_every_memory_gets_them_in_one_run_and_an_answer_that_is_kept_is_not_paid_for_again(
    hall: Hall,
) -> None:
    kept = 0
    for line in hall.lines[::15]:
        if not hall.killed_at(line):
            break  # the first worker made folders, too
        before = hall.model.calls
        with hall.opened() as store:
            begun = bool(runs_of(store))
        is_kept = begun or any(hall.home.glob("work/occasions-*.json"))
        kept += is_kept

        hall.worked()

        assert hall.model.calls - before == (0 if is_kept else 1), f"killed before line {line}"
        with hall.opened() as store:
            assert hall.given(store) == hall.wanted, f"killed before line {line}"
            (run,) = runs_of(store)
            assert runs.undo(store, run).skipped == []
            assert hall.given(store) == dict.fromkeys(hall.wanted, ())
        hall.worked()
        assert hall.model.calls - before == (0 if is_kept else 1), "they are asked about once"
        assert not any(hall.home.glob("work/occasions-*"))
    # An answer is lost only between its arrival and its first byte on the disk.
    assert kept > len(hall.lines) // 15 // 2


def halfway(hall: Hall) -> str:
    """Kill a worker that gave some of the memories occasions; return its run."""
    assert hall.killed_at(hall.lines[len(hall.lines) * 2 // 3])
    with hall.opened() as store:
        assert 0 < len([*filter(None, hall.given(store).values())]) < len(hall.wanted)
        return runs_of(store)[0]


def test_a_session_on_the_persons_plan_gives_what_a_killed_process_left(hall: Hall) -> None:
    halfway(hall)

    with hall.opened(CLAUDE_CODE_ENTRYPOINT="cli", DAYBOOK_PLAN_CALLS="yes") as store:
        assert hand_out(store) is None
        assert hall.given(store) == hall.wanted


def test_what_the_person_took_back_meanwhile_is_not_gone_on_with(hall: Hall) -> None:
    run, calls = halfway(hall), hall.model.calls
    with hall.opened() as store:
        runs.undo(store, run)

    hall.worked()

    with hall.opened() as store:
        assert hall.given(store) == dict.fromkeys(hall.wanted, ())
    assert hall.model.calls == calls
