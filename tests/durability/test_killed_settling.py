"""A merge that the person agreed to, killed at any line, is completed by whatever looks at what waits."""

from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.judge.candidate import propose, reject, review_candidates
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.review.answer import joined
from mcp_server.actions.review.entries import Entry, Verdict
from mcp_server.actions.review.review import QUESTION, review, settle
from mcp_server.core.errors import Conflict
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.durability.stepped import killed, stepped
from tests.opened import opened_at

WRITING = ("_give_name", "write_new", "append_line", "replace", "swap_in", "link", "_write_temporary")


def question(store: Store, number: int) -> Entry:
    """Ask whether two new memories are about the same."""
    for seconds in (30, 60):
        text = f"The timeout is {seconds} seconds."
        remember(store, Draft(f"Timeout of gateway {number}", text, type="decision", level=Level.USER))
    return next(entry for entry in review(store).entries if entry.kind == QUESTION)


def answered(store: Store, entry: Entry) -> None:
    settle(store, entry, Verdict.MERGE)


def test_a_killed_merge_is_completed_or_the_pair_is_asked_about_again(quick_folder: Path) -> None:
    store = opened_at(quick_folder / "memory").store()
    first = question(store, 0)
    names = stepped(lambda: answered(store, first), {})
    lines = [number for number, name in enumerate(names, start=1) if name in WRITING][::6]
    completed = asked_again = 0
    for line in lines:
        entry = question(store, line)
        if not killed(lambda: answered(store, entry), {}, line):  # noqa: B023
            break  # the first merge made folders, too

        waits = [again for again in review(store).entries if entry.id in again.ids]
        if waits:
            answered(store, waits[0])
            asked_again += 1
        else:
            completed += 1

        assert entry.against
        old = [read(store, memory_id).memory for memory_id in (entry.id, entry.against.id)]
        assert [memory.status for memory in old] == [Status.SUPERSEDED] * 2, f"{line}, {names[line - 1]}"
        heirs = [row for row in list_memories(store, Filter(), limit=1000).rows if str(line) in row.title]
        assert [row.id for row in heirs] == [old[0].superseded_by] == [old[1].superseded_by]
        assert "30 seconds" in heirs[0].text and "60 seconds" in heirs[0].text
    assert completed > 3 and asked_again


def test_a_pair_that_another_process_merged_while_this_one_waited_is_not_merged_twice(
    quick_folder: Path,
) -> None:
    store = opened_at(quick_folder / "memory").store()
    entry = question(store, 1)
    assert entry.against and entry.merged
    compared = [read(store, memory_id) for memory_id in (entry.id, entry.against.id)]
    answered(store, entry)

    with pytest.raises(Conflict):
        joined(store, compared, *entry.merged, vault=store.user_vault)

    (row,) = list_memories(store, Filter(), limit=1000).rows
    assert row.id == read(store, entry.id).memory.superseded_by


def test_a_candidate_that_another_process_settles_at_this_moment_is_told_and_no_fault_of_the_disk(
    quick_folder: Path,
) -> None:
    store = opened_at(quick_folder / "memory").store()
    for key in ("one", "two"):
        propose(store, Draft("Roofs", f"Roof {key} is made of slate."), key=key, confidence=0.5, why="waits")
    line = 1 + stepped(lambda: reject(store, ["one"]), {}).index("move_many")
    (path,) = (entry.path for entry in review_candidates(store))

    with pytest.raises(Conflict, match="settled by another process"):
        stepped(lambda: reject(store, ["two"]), {line: path.unlink})
