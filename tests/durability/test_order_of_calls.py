"""
What a verb acknowledges outlives a power failure: every name on the way to it was made durable before.

A name is durable when the folder it stands in was made durable after it got there. Disks keep names in
any order until then, so the order of the calls is what is looked at; `programs/call_order.py` hears them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_server.adapters.guarded_replace import is_temporary

PROMISES = (
    "remember", "remember for the user", "revise", "forget", "restore", "save_session", "save_conversation",
    "propose", "setup", "init CLAUDE.md", "import", "export", "export as JSON", "init --repository", "share",
    "revise in the repository", "change level", "init --no-repository", "undo", "archive", "merge",
)  # fmt: skip
Calls = list[list[str]]


def not_durable(calls: Calls) -> list[str]:
    """Return the names that were made, still stand, and were not made durable."""
    waiting: dict[str, None] = {}
    for word, path, *_ in calls:
        if word == "made" and not is_temporary(Path(path).name):
            waiting[path] = None
        elif word == "gone":
            waiting.pop(path, None)
        elif word == "synced":
            waiting = {name: None for name in waiting if str(Path(name).parent) != path}
    return list(waiting)


def unfinished(calls: Calls) -> list[str]:
    """Return the files that got their name before their bytes were on the disk."""
    synced, early = set(), []
    for word, path, *source in calls:
        if word == "synced":
            synced.add(path)
        elif word == "made" and source and is_temporary(Path(source[0]).name):
            if source[0] in synced:
                synced.add(path)
            elif not is_temporary(Path(path).name) or source[0].count("-") == 1:
                early.append(path)
    return early


def removed_too_early(calls: Calls) -> list[str]:
    """Return the files whose first name went before their second was durable."""
    early: list[str] = []
    moved: dict[str, str] = {}
    for number, (word, path, *source) in enumerate(calls):
        if word == "made" and source and not is_temporary(Path(source[0]).name):
            if is_temporary(Path(path).name):  # it is taken away
                if source[0] in moved and moved[source[0]] in not_durable(calls[:number]):
                    early.append(source[0])
            else:
                moved[source[0]] = path
        elif word == "gone" and path in moved and moved[path] in not_durable(calls[:number]):
            early.append(path)
    return early


@pytest.mark.feature("A-52")
@pytest.mark.parametrize("verb", PROMISES)
def test_everything_on_the_way_to_what_is_acknowledged_is_durable(
    run_program: Callable[..., Any], tmp_path: Path, verb: str
) -> None:
    """In a store that is made for it, where every folder is new."""
    (report,) = run_program("call_order", tmp_path, verb)
    calls: Calls = [
        call for call in report["calls"] if "/.rebuild" not in call[1]
    ]  # the index promises nothing

    assert [call for call in calls if call[0] == "made"], "nothing was written: the test tells nothing"
    assert not_durable(calls) == []
    assert unfinished(calls) == []
    assert removed_too_early(calls) == []


def test_what_is_moved_keeps_its_first_name_until_the_second_is_durable(
    run_program: Callable[..., Any], tmp_path: Path
) -> None:
    (report,) = run_program("call_order", tmp_path, "forget")
    calls: Calls = report["calls"]
    moved = [call for call in calls if call[0] == "made" and "/trash/" in call[1] and len(call) == 3]
    ((_, target, source),) = moved

    move_at = calls.index(moved[0])
    synced = calls.index(["synced", str(Path(target).parent)], move_at)
    assert synced < calls.index(["gone", source], move_at)


@pytest.mark.parametrize(
    ("verb", "deed"),
    [
        ("change level", ("gone", "/crossing.json")),
        ("init --repository", ("made", "/shop/.claude-memory/knowledge/known-")),
        ("init --no-repository", ("gone", "/shop/.claude-memory/knowledge/known-")),
    ],
)
def test_what_was_known_of_a_memory_is_under_its_new_name_before_its_move_can_no_longer_be_seen(
    run_program: Callable[..., Any], tmp_path: Path, verb: str, deed: tuple[str, str]
) -> None:
    """Its history, its use and what takes the move back hang on one line of the ledger."""
    (report,) = run_program("call_order", tmp_path, verb)
    calls: Calls = report["calls"]
    word, place = deed
    at = next(number for number, call in enumerate(calls) if call[0] == word and place in call[1])
    appended = max(
        number for number, call in enumerate(calls[:at]) if call[0] == "appended" and "/ledger/" in call[1]
    )

    assert ["synced", calls[appended][1]] in calls[appended:at]


def test_the_checks_catch_each_fault() -> None:
    folder, file, temporary = "/m/k", "/m/k/a.md", "/m/k/.daybook-0123456789abcdef"
    good: Calls = [
        ["made", folder], ["synced", "/m"], ["synced", temporary], ["made", file, temporary],
        ["gone", temporary], ["synced", folder],
    ]  # fmt: skip
    assert (not_durable(good), unfinished(good)) == ([], [])
    assert not_durable([call for call in good if call != ["synced", "/m"]]) == [folder]
    assert not_durable(good[:-1]) == [file]
    assert unfinished([call for call in good if call != ["synced", temporary]]) == [file]
    moved: Calls = [["made", "/t/a.md", file], ["gone", file], ["synced", "/t"]]
    assert removed_too_early(moved) == [file]
    assert removed_too_early([moved[0], moved[2], moved[1]]) == []


def test_what_came_from_another_machine_is_durable_before_it_is_noted_that_it_came(
    run_program: Callable[..., Any], tmp_path: Path
) -> None:
    (report,) = run_program("call_order", tmp_path, "take")
    calls: Calls = [call for call in report["calls"] if "/.rebuild" not in call[1]]
    noted = max(
        number
        for number, (word, text, *_) in enumerate(calls)
        if (word, "fast-import" in text) == ("ran", True)
    )
    written_at = [
        number for number, (word, path, *_) in enumerate(calls) if word == "made" and "/fact-" in path
    ]

    assert len(written_at) == 3 and max(written_at) < noted
    assert not_durable(calls[:noted]) == unfinished(calls[:noted]) == []
