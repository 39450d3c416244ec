"""What survives when a conversation is shortened."""

import os
from pathlib import Path

from mcp_server.actions.context.compaction import (
    KEEP,
    after_compaction,
    before_compaction,
    forget_compactions,
)
from mcp_server.adapters import files, places
from mcp_server.store import Store
from tests.conftest import Clock
from tests.recorded import Recorded


def lines_told(store: Store, recorded: Recorded) -> list[str]:
    before_compaction(store.in_session(recorded.session), recorded.path)
    return after_compaction(store.in_session(recorded.session))


def test_what_was_asked_changed_and_failed_is_told_again(store: Store, recorded: Recorded) -> None:
    recorded.user("Make the totals round half to even")
    recorded.call("Edit", file_path="src/total.py")
    recorded.call("Bash", command="pytest tests/total", failed=True)
    recorded.claude("One test fails still.")

    summary = before_compaction(store.in_session(recorded.session), recorded.path)

    assert summary.startswith(KEEP)
    assert after_compaction(store.in_session(recorded.session)) == [
        "Before this conversation was shortened:",
        "asked: Make the totals round half to even",
        "changed: src/total.py",
        "failed: [Bash]: pytest tests/total",
    ]
    assert all(line in summary for line in after_compaction(store.in_session(recorded.session))[1:])


def test_only_the_last_prompts_and_files_are_told(store: Store, recorded: Recorded) -> None:
    for number in range(30):
        recorded.user(f"Prompt number {number} of the day")
        recorded.call("Write", file_path=f"src/file{number}.py")

    lines = lines_told(store, recorded)

    assert [line for line in lines if line.startswith("asked")] == [
        f"asked: Prompt number {number} of the day" for number in range(25, 30)
    ]
    assert "src/file29.py" in lines[-1]
    assert "src/file3.py" not in lines[-1]
    assert len("\n".join(lines)) < 1500


def test_another_session_is_told_nothing(store: Store, recorded: Recorded) -> None:
    recorded.user("Something only for this session")
    lines_told(store, recorded)

    assert after_compaction(store.in_session("another")) == []


def test_what_was_not_to_be_kept_is_not_told(store: Store, recorded: Recorded) -> None:
    recorded.user("A secret plan #skip")
    recorded.noise("x" * 600_000)
    recorded.claude("The answer to the secret plan")
    recorded.user("An open <private>salary</private> question")

    lines = "\n".join(lines_told(store, recorded))

    assert "secret plan" not in lines
    assert "salary" not in lines
    assert "An open" in lines


def test_a_second_compaction_tells_what_came_since(store: Store, recorded: Recorded) -> None:
    recorded.user("First thing")
    lines_told(store, recorded)
    recorded.user("Second thing")

    assert lines_told(store, recorded)[1:] == ["asked: First thing", "asked: Second thing"]


def test_a_missing_transcript_still_tells_the_summary_what_to_keep(store: Store, tmp_path: Path) -> None:
    assert before_compaction(store.in_session("s"), tmp_path / "gone.jsonl") == KEEP
    assert after_compaction(store.in_session("s")) == []


def test_a_compaction_waits_for_no_process_that_holds_the_folder(store: Store, recorded: Recorded) -> None:
    recorded.user("First thing")
    lines_told(store, recorded)
    with files.lock(places.compaction(store.home, recorded.session).parent / files.LOCK_NAME):
        recorded.user("Second thing")

        assert lines_told(store, recorded)[1:] == ["asked: First thing", "asked: Second thing"]


def test_a_broken_note_is_no_note(store: Store, recorded: Recorded) -> None:
    recorded.user("Something to be told")
    lines_told(store, recorded)
    (note,) = (store.home / "work").iterdir()
    note.write_text('{"not": "a list"', encoding="utf-8")

    assert after_compaction(store.in_session(recorded.session)) == []


def test_what_was_saved_goes_after_a_day_and_that_the_session_was_shortened_after_a_month(
    store: Store, recorded: Recorded, clock: Clock
) -> None:
    recorded.user("Something to be told")
    lines_told(store, recorded)
    (note,) = (store.home / "work").iterdir()
    os.utime(note, (store.now() - 86_000, store.now() - 86_000))
    forget_compactions(store)
    assert "Something to be told" in note.read_text()

    clock.pass_days(0.1)
    forget_compactions(store)
    assert note.read_text() == "[]"
    assert after_compaction(store.in_session(recorded.session)) == []

    os.utime(note, (store.now(), store.now()))
    clock.pass_days(31)
    forget_compactions(store)
    assert not note.exists()
