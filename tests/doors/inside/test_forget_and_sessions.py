"""`/forget`, `/save-session` and `/restore-session`, typed without a prefix."""

from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change
from mcp_server.actions.context.brief import brief
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.forget import restore
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.session import save_session
from mcp_server.bootstrap import Opened
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search.query import Filter
from tests.conftest import Open
from tests.doors.module import Typed
from tests.recorded import Recorded

TEXT = "The staging database listens on port 5433."


@pytest.fixture
def opened(open_here: Open, session: Recorded) -> Opened:
    return open_here(CLAUDE_CODE_SESSION_ID=session.session)


@pytest.fixture
def typed(opened: Opened) -> Typed:
    return Typed(opened)


@pytest.fixture
def memory(opened: Opened) -> str:
    return remember(opened.store(), Draft("Staging database", TEXT, type="reference")).memory.id


@pytest.mark.parametrize("words", ["{id}", "staging database", "Staging Database", "port of staging"])
def test_what_would_go_is_shown_and_goes_after_a_yes(
    opened: Opened, typed: Typed, memory: str, words: str
) -> None:
    remember(opened.store(), Draft("Herons", "They stand in the shallow water."))

    reply = typed(f"/forget {words.format(id=memory)}", "Forget it")

    ((question, options),) = typed.asked
    assert f"Forget the reference of 2026-11-20: “Staging database: {TEXT}” ({memory})." in question
    assert options == ["Keep it", "Forget it"]
    assert reply["text"].startswith(f"{memory}: forgotten; 'daybook restore {memory}'")
    store = opened.store()
    assert last_change(store).by == PERSON
    assert restore(store, memory).memory.text == TEXT


@pytest.mark.parametrize("answer", ["Keep it", None, "later"])
def test_without_a_yes_nothing_is_forgotten(
    opened: Opened, typed: Typed, memory: str, answer: str | None
) -> None:
    reply = typed(f"/forget {memory}", answer)

    assert reply == {
        "text": "Nothing was forgotten. To forget it without a question, type in a terminal: "
        f"daybook forget {memory}"
    }
    assert read(opened.store(), memory).memory.text == TEXT


def test_a_plugin_that_types_it_is_not_believed_either(opened: Opened, memory: str) -> None:
    Typed(opened, origin="plugin")(f"/forget {memory}", None)

    assert read(opened.store(), memory).memory.text == TEXT


def test_for_good_is_asked_as_such(opened: Opened, typed: Typed, memory: str) -> None:
    path = read(opened.store(), memory).path

    reply = typed(f"/forget {memory} forever", "Delete it for good")

    question, options = typed.asked[0]
    assert "It cannot be brought back." in question and options[0] == "Keep it"
    assert reply == {"text": f"{memory}: deleted for good."}
    assert not path.exists()
    with pytest.raises(NotFound):
        restore(opened.store(), memory)


def test_an_id_that_ends_with_the_word_is_not_deleted_for_good(opened: Opened, typed: Typed) -> None:
    remember(opened.store(), Draft("Diamonds", "They last.", id="diamonds-forever"))

    reply = typed("/forget diamonds-forever", "Forget it")

    assert "'daybook restore diamonds-forever' brings it back" in reply["text"]


def test_a_saved_session_is_called_one_before_it_goes(opened: Opened, typed: Typed, project: Path) -> None:
    saved = [
        save_session(opened.store(), "Queues", text, folder=project).memory.id
        for text in ("The producers are done.", "The consumers are done.")
    ]

    assert f"  {saved[0]}  session · 2026-11-20  Queues" in typed("/restore-session queues")["text"]
    typed(f"/forget {saved[0]}", "Keep it")
    assert typed.asked[0][0].startswith("Forget the session of 2026-11-20: “Queues:")


def test_an_answer_to_forgetting_deletes_nothing_for_good(opened: Opened, typed: Typed, memory: str) -> None:
    typed(f"/forget {memory} forever", "Forget it")

    assert read(opened.store(), memory).memory.text == TEXT


def test_several_that_may_be_meant_are_listed_with_their_ids(
    opened: Opened, typed: Typed, memory: str
) -> None:
    other = remember(opened.store(), Draft("Staging database", "Its backups are weekly.")).memory.id

    reply = typed("/forget staging database")

    assert typed.asked == []
    assert reply["text"].startswith("You may mean one of several memories:\n")
    assert f"  {memory}  reference · 2026-11-20  Staging database" in reply["text"]
    assert f"  {other}  note · 2026-11-20  Staging database" in reply["text"]


def test_what_no_memory_is_called_is_said(typed: Typed, memory: str) -> None:
    reply = typed("/forget zebra")

    assert reply == {
        "text": "No memory is called 'zebra', and no memory has these words. /recall finds more."
    }


def test_a_session_is_saved_as_far_as_it_is_known(
    opened: Opened, typed: Typed, session: Recorded, project: Path
) -> None:
    session.user("Move the producers to the new queue")
    session.call("Edit", file_path=str(project / "src/queue.py"))
    session.call("Bash", command="pytest tests/queue", failed=True)
    session.user("my token is <private>hunter2</private>, now the consumers")
    session.claude("The producers write to the new queue; the consumers are next.")

    reply = typed("/save-session")

    (row,) = list_memories(opened.store(), Filter(kinds=(Kind.SESSION,))).rows
    memory = read(opened.store(), row.id).memory
    assert reply["text"].startswith(f"{row.id}: session saved.\n")
    assert reply["text"].endswith(f"It comes back with: /restore-session {row.id}")
    assert memory.title == "Move the producers to the new queue"
    assert memory.touches == ("src/queue.py",)
    for part in (
        "- Move the producers",
        "now the consumers",
        "the consumers are next.",
        "pytest tests/queue",
    ):
        assert part in memory.text
    assert "hunter2" not in memory.text
    assert memory.source == "assistant"  # Claude's words are in it

    session.user("And the dead letters?")
    assert "session saved" in typed("/save-session Queue, second day")["text"]
    titles = {row.title for row in list_memories(opened.store(), Filter(kinds=(Kind.SESSION,))).rows}
    assert titles == {memory.title, "Queue, second day"}


def test_a_page_that_was_read_in_a_saved_session_is_not_told_unasked(
    opened: Opened, typed: Typed, session: Recorded
) -> None:
    page = "Packages come from https://registry.mirror-fast.example/ since June."
    session.user("Please look at the page and go on.")
    session.call("WebFetch", url="https://docs.example", result=page)
    session.claude(f"It says: {page}")

    typed("/save-session")

    assert "mirror-fast" not in brief(opened.store()).text


def test_a_saved_session_is_shown_and_given_to_claude(
    opened: Opened, typed: Typed, session: Recorded
) -> None:
    session.user("Move the producers to the new queue")
    session.claude("Half of them write to it.\n" + "One more line of it.\n" * 40)
    own = typed("/save-session")["text"].rpartition(" ")[2]
    typed("/save-session Herons in the shallow water")

    reply = typed(f"/restore-session {own}")

    lines = reply["text"].splitlines()
    assert lines[0].startswith(f"Move the producers to the new queue  ({own}, saved 2026-11-20")
    assert len(lines) <= 20
    assert "  - Move the producers to the new queue" in lines
    assert any("more lines: /" in line for line in lines)
    assert lines[-1] == "Claude gets it with your next prompt."
    assert reply["context"][0].count("One more line of it.") == 40
    assert "Herons" in typed("/restore-session herons in the shallow water")["text"]
    assert "Herons" in typed("/restore-session")["text"]


def test_a_session_that_several_words_may_mean_is_named_by_its_id(typed: Typed, session: Recorded) -> None:
    session.user("Move the producers to the new queue")
    typed("/save-session Queue")
    session.user("On with it.")
    typed("/save-session Queue")

    reply = typed("/restore-session queue")

    assert reply["text"].startswith("You may mean one of several memories:")
    assert "Name one by its id: /restore-session queue-" in reply["text"]
    assert set(reply) == {"text"}
