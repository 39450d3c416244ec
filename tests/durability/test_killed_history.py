"""A process that is killed while it changes a memory, at any line, loses no word of what the memory said."""

from collections.abc import Callable

import pytest

from mcp_server.actions.changes.history import history_of
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import history, leftovers, places
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.durability.stepped import killed, stepped

WRITING = ("replace", "write_new", "_write_temporary", "swap_in", "_check", "exchange")


def remembered(store: Store, number: int) -> str:
    return remember(store, Draft(f"Rule {number}", f"Text {number}.", level=Level.USER)).memory.id


def revised(store: Store, memory_id: str) -> None:
    revise(store, memory_id, Revision(text="Another text."))


def taken_back(store: Store, memory_id: str) -> None:
    undo(store, last_change(store, memory_id))


def versions_of(store: Store, memory_id: str) -> list[bytes]:
    return [version.path.read_bytes() for version in history.versions(store.home, f"user/{memory_id}")]


@pytest.mark.parametrize("verb", [revised, taken_back])
def test_no_kill_between_two_lines_destroys_what_a_file_said(
    store: Store, verb: Callable[[Store, str], None]
) -> None:
    def prepared(number: int) -> str:
        memory_id = remembered(store, number)
        if verb is taken_back:
            revised(store, memory_id)
        return memory_id

    verb(store, prepared(-1))  # which makes the folders
    first = prepared(0)
    names = stepped(lambda: verb(store, first), {})
    lines = [number for number, name in enumerate(names, start=1) if name in WRITING]
    assert len(lines) > 30, "the lines of the road are not looked at"
    after = []
    for line in lines:
        memory_id = prepared(line)
        path = read(store, memory_id).path
        before = path.read_bytes()
        assert killed(lambda: verb(store, memory_id), {}, line), names[line - 1]  # noqa: B023
        # As the next process does, an hour later.
        leftovers.sweep([path.parent, places.history_folder(store.home, f"user/{memory_id}")], age=-1)
        now = path.read_bytes()
        assert before == now or before in versions_of(store, memory_id), f"killed before line {line}"
        after.append((memory_id, before, now))
    assert 5 < sum(before != now for _, before, now in after) < len(lines) - 5

    sync(store)
    for memory_id, before, now in after:
        versions = history_of(store, memory_id).versions
        changes = (before != now) + (verb is taken_back)
        assert len(versions) == changes, "what was not done is told, or what was done is not"
        revise(store, memory_id, Revision(title="Another title"))
        undo(store, last_change(store, memory_id))
        assert read(store, memory_id).data == now
