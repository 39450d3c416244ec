"""history and undo in a terminal and as tools: what is told, and whose word is needed."""

import json
from typing import Any

import pytest
from mcp_types import ElicitResult

from mcp_server.actions.files.read import read
from mcp_server.actions.files.runs import Undone
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.doors.shown.history import undone
from mcp_server.store import Store
from tests.conftest import Open
from tests.doors.called import connected
from tests.doors.shell import Run, output_of
from tests.person import Person


def call(opened: Opened, person: Person | None, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """Return what the tools answer, one after the other, to a client whose person is *person*."""
    with connected(opened, person) as caller:
        return [caller(tool, **arguments) for tool, arguments in calls]


def test_what_was_taken_back_is_told_with_its_verb_and_where_a_new_memory_is_now(
    run: Run, retry_rule: str, store: Store
) -> None:
    at = f"{store.clock():%Y-%m-%d}"

    first, again = output_of(run("undo")), output_of(run("undo"))

    assert f"Taken back: 1 memory. The change was: remembered, {at}" in first
    assert f"{retry_rule}  in the trash" in first
    assert "Taken back: 1 memory. The change was: undone, " in again
    assert f"{retry_rule}  as before" in again


def test_of_a_thousand_taken_back_those_that_differ_stand_first(store: Store) -> None:
    masked, ids = "key-1", [f"note-{number}" for number in range(1000)]

    shown = undone(Undone("run-1", [*ids, masked], [("webhook-2", "it is gone")], [masked]))

    assert shown.head.startswith("Taken back: 1,001 memories.")
    assert [row[0] for row in shown.rows[:3]] == ["webhook-2", masked, "note-0"]
    assert (len(shown.rows), shown.notes[0]) == (100, "902 more: the command with --json lists all.")


def test_a_terminal_tells_versions_shows_one_and_takes_the_change_back(run: Run, retry_rule: str) -> None:
    assert "Nothing that" in output_of(run("history", retry_rule))
    output_of(run("revise", retry_rule, "--text", "Wait a minute."))

    output = output_of(run("history", retry_rule))
    assert 'text "Wait thirty seconds." -> "Wait a minute."' in output
    assert "person  revised" in output
    assert output_of(run("history", retry_rule, "--version", "1")).endswith("Wait thirty seconds.\n")
    assert (
        json.loads(output_of(run("history", retry_rule, "--json")))["versions"][0]["text"]
        == "Wait thirty seconds."
    )

    assert "Taken back: 1 memory." in output_of(run("undo"))
    assert "Wait thirty seconds." in output_of(run("read", retry_rule))
    assert json.loads(output_of(run("undo", retry_rule, "--json")))["restored"] == [retry_rule]
    assert "Wait a minute." in output_of(run("read", retry_rule))


def test_what_was_done_is_told_of_all_of_a_session_and_of_what_was_deleted_for_good(
    run: Run, store: Store, retry_rule: str
) -> None:
    learned = remember(store, Draft("Cache", "An hour.", level=Level.USER, session="8d7cabcd-1")).memory.id
    forget(store, retry_rule, forever=True)

    def rows(*words: str) -> list[tuple[str, str]]:
        history = json.loads(output_of(run("history", *words, "--json")))
        return [
            (row["id"], row["did"]) for row in (history["done"] if isinstance(history, dict) else history)
        ]

    assert rows() == [(retry_rule, "forgotten for good"), (learned, "remembered"), (retry_rule, "remembered")]
    assert rows("--session", "8d7cabcd") == [(learned, "remembered")]
    assert rows(retry_rule) == [(retry_rule, "forgotten for good"), (retry_rule, "remembered")]
    assert "deleted for good" in output_of(run("history", retry_rule))
    assert learned in output_of(run("audit"))  # what the command was called before


def test_a_file_that_another_program_deleted_is_said_to_be_gone_and_not_deleted_by_daybook(
    run: Run, store: Store, retry_rule: str
) -> None:
    read(store, retry_rule).path.unlink()

    told = output_of(run("history", retry_rule))

    assert f"Nothing that '{retry_rule}' said is kept: its file is gone, and Daybook did not" in told
    assert "for good" not in told


def test_a_terminal_names_both_texts_of_what_was_edited_since(
    run: Run, store: Store, retry_rule: str
) -> None:
    output_of(run("revise", retry_rule, "--text", "Wait a minute."))
    path = read(store, retry_rule).path
    path.write_text(path.read_text("utf-8").replace("a minute", "two minutes"), "utf-8")

    refused = run("undo", retry_rule)

    assert refused.returncode == 5
    assert str(path) in refused.stderr
    assert "/history/" in refused.stderr
    assert "--anyway" in refused.stderr
    output_of(run("undo", retry_rule, "--anyway"))
    assert "Wait thirty seconds." in output_of(run("read", retry_rule))


def test_what_is_not_known_is_said(run: Run) -> None:
    for words in (["undo", "nothing-there"], ["history", "nothing-there"], ["undo"]):
        refused = run(*words)
        assert refused.returncode in (3, 4)
        assert refused.stderr.startswith("daybook: No ")


def test_claude_takes_back_its_own_change_at_once(opened: Opened, retry_rule: str) -> None:
    answers = call(
        opened,
        None,
        ("revise", {"id": retry_rule, "tags": "net"}),
        ("history", {"id": retry_rule}),
        ("undo", {"id": retry_rule}),
        ("history", {"id": retry_rule, "version": 1}),
    )
    assert "claude · revised\n   | tags +net" in answers[1]
    assert "Taken back: 1 memory." in answers[2]
    assert "Wait thirty seconds." in answers[3]
    assert read(opened.store(), retry_rule).memory.tags == ()


@pytest.mark.parametrize(
    ("person", "is_taken_back"),
    [
        (Person("yes"), True),
        (Person("no"), False),
        (Person(ElicitResult(action="cancel")), False),
        (None, False),
    ],
    ids=["yes", "no", "closed", "nobody"],
)
def test_what_the_person_did_goes_back_only_with_their_yes(
    opened: Opened, store: Store, retry_rule: str, person: Person | None, is_taken_back: bool
) -> None:
    revise(store, retry_rule, Revision(text="Wait a minute."), source="manual")

    (answer,) = call(opened, person, ("undo", {"id": retry_rule}))

    text = "Wait thirty seconds." if is_taken_back else "Wait a minute."
    assert read(store, retry_rule).memory.text == text
    assert ("Taken back" in answer) is is_taken_back
    if not is_taken_back:
        assert f"daybook undo {retry_rule}" in answer
    assert person is None or person.saw


def test_claude_in_a_shell_takes_back_nothing_of_the_persons(run: Run, store: Store, retry_rule: str) -> None:
    refused = run("undo", retry_rule, CLAUDECODE="1")
    assert refused.returncode == 12
    assert "needs the person's consent" in refused.stderr
    assert read(store, retry_rule).memory.text == "Wait thirty seconds."

    output_of(run("revise", retry_rule, "--tags", "net", CLAUDECODE="1"))
    output_of(run("undo", retry_rule, CLAUDECODE="1"))
    assert read(store, retry_rule).memory.tags == ()


def test_without_an_id_a_session_takes_back_what_it_did_itself(
    open_here: Open, store: Store, retry_rule: str
) -> None:
    opened = open_here(CLAUDE_CODE_SESSION_ID="11111111-aaaa")
    call(opened, None, ("revise", {"id": retry_rule, "tags": "net"}))
    other = remember(store, Draft("Another", "of somebody else", session="22222222-bbbb")).memory.id

    (answer,) = call(opened, None, ("undo", {}))

    assert retry_rule in answer
    assert read(store, retry_rule).memory.tags == ()
    assert read(store, other).memory.text == "of somebody else"
