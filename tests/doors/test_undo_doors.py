"""history and undo in a terminal and as tools: what is told, and whose word is needed."""

import json
from typing import Any

import pytest
from mcp_types import ElicitResult

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft, Level
from mcp_server.store import Store
from tests.conftest import Open
from tests.doors.called import connected
from tests.doors.shell import Run, said
from tests.person import Person


@pytest.fixture
def known(store: Store) -> str:
    return remember(store, Draft("Retry rule", "Wait thirty seconds.", level=Level.USER)).memory.id


def call(opened: Opened, person: Person | None, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """Return what the tools answer, one after the other, to a client whose person is *person*."""
    with connected(opened, person) as caller:
        return [caller(tool, **given) for tool, given in calls]


def test_what_was_taken_back_is_told_with_its_verb_and_where_a_new_memory_is_now(
    run: Run, known: str, store: Store
) -> None:
    at = f"{store.clock():%Y-%m-%d}"

    taken, again = said(run("undo")), said(run("undo"))

    assert f"Taken back: 1 memory. The change was: remembered, {at}" in taken
    assert f"{known}  in the trash" in taken
    assert "Taken back: 1 memory. The change was: undone, " in again
    assert f"{known}  as before" in again


def test_a_terminal_tells_versions_shows_one_and_takes_the_change_back(run: Run, known: str) -> None:
    assert "Nothing that" in said(run("history", known))
    said(run("revise", known, "--text", "Wait a minute."))

    told = said(run("history", known))
    assert 'text "Wait thirty seconds." -> "Wait a minute."' in told
    assert "person  revised" in told
    assert said(run("history", known, "--version", "1")).endswith("Wait thirty seconds.\n")
    assert json.loads(said(run("history", known, "--json")))["versions"][0]["text"] == "Wait thirty seconds."

    assert "Taken back: 1 memory." in said(run("undo"))
    assert "Wait thirty seconds." in said(run("read", known))
    assert json.loads(said(run("undo", known, "--json")))["restored"] == [known]
    assert "Wait a minute." in said(run("read", known))


def test_what_was_done_is_told_of_all_of_a_session_and_of_what_was_deleted_for_good(
    run: Run, store: Store, known: str
) -> None:
    learned = remember(store, Draft("Cache", "An hour.", level=Level.USER, session="8d7cabcd-1")).memory.id
    forget(store, known, forever=True)

    def told(*words: str) -> list[tuple[str, str]]:
        done = json.loads(said(run("history", *words, "--json")))
        return [(each["id"], each["did"]) for each in (done["done"] if isinstance(done, dict) else done)]

    assert told() == [(known, "forgotten for good"), (learned, "remembered"), (known, "remembered")]
    assert told("--session", "8d7cabcd") == [(learned, "remembered")]
    assert told(known) == [(known, "forgotten for good"), (known, "remembered")]
    assert "deleted for good" in said(run("history", known))
    assert learned in said(run("audit"))  # what the command was called before


def test_a_terminal_names_both_texts_of_what_was_edited_since(run: Run, store: Store, known: str) -> None:
    said(run("revise", known, "--text", "Wait a minute."))
    path = read(store, known).path
    path.write_text(path.read_text("utf-8").replace("a minute", "two minutes"), "utf-8")

    refused = run("undo", known)

    assert refused.returncode == 5
    assert str(path) in refused.stderr
    assert "/history/" in refused.stderr
    assert "--anyway" in refused.stderr
    said(run("undo", known, "--anyway"))
    assert "Wait thirty seconds." in said(run("read", known))


def test_what_is_not_known_is_said(run: Run) -> None:
    for words in (["undo", "nothing-there"], ["history", "nothing-there"], ["undo"]):
        refused = run(*words)
        assert refused.returncode in (3, 4)
        assert refused.stderr.startswith("daybook: No ")


def test_claude_takes_back_its_own_change_at_once(opened: Opened, known: str) -> None:
    answers = call(
        opened,
        None,
        ("revise", {"id": known, "tags": "net"}),
        ("history", {"id": known}),
        ("undo", {"id": known}),
        ("history", {"id": known, "version": 1}),
    )
    assert "claude · revised\n   | tags +net" in answers[1]
    assert "Taken back: 1 memory." in answers[2]
    assert "Wait thirty seconds." in answers[3]
    assert read(opened.store(), known).memory.tags == ()


@pytest.mark.parametrize(
    ("person", "taken"),
    [
        (Person("yes"), True),
        (Person("no"), False),
        (Person(ElicitResult(action="cancel")), False),
        (None, False),
    ],
    ids=["yes", "no", "closed", "nobody"],
)
def test_what_the_person_did_goes_back_only_with_their_yes(
    opened: Opened, store: Store, known: str, person: Person | None, taken: bool
) -> None:
    revise(store, known, Revision(text="Wait a minute."), source="manual")

    (answer,) = call(opened, person, ("undo", {"id": known}))

    text = "Wait thirty seconds." if taken else "Wait a minute."
    assert read(store, known).memory.text == text
    assert ("Taken back" in answer) is taken
    if not taken:
        assert f"daybook undo {known}" in answer
    assert person is None or person.saw


def test_claude_in_a_shell_takes_back_nothing_of_the_persons(run: Run, store: Store, known: str) -> None:
    refused = run("undo", known, CLAUDECODE="1")
    assert refused.returncode == 12
    assert "needs the person's consent" in refused.stderr
    assert read(store, known).memory.text == "Wait thirty seconds."

    said(run("revise", known, "--tags", "net", CLAUDECODE="1"))
    said(run("undo", known, CLAUDECODE="1"))
    assert read(store, known).memory.tags == ()


def test_without_an_id_a_session_takes_back_what_it_did_itself(
    open_here: Open, store: Store, known: str
) -> None:
    opened = open_here(CLAUDE_CODE_SESSION_ID="11111111-aaaa")
    call(opened, None, ("revise", {"id": known, "tags": "net"}))
    other = remember(store, Draft("Another", "of somebody else", session="22222222-bbbb")).memory.id

    (answer,) = call(opened, None, ("undo", {}))

    assert known in answer
    assert read(store, known).memory.tags == ()
    assert read(store, other).memory.text == "of somebody else"
