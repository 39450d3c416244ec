"""The pane beside the chat: what the server says is drawn, and what a button does."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review.review import review
from mcp_server.core.authors import MODEL
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.conftest import Open
from tests.doors.called import connected
from tests.durability.served import eventually

Said = dict[str, Any]
Tell = Callable[..., Said]
SESSION = "0f1e2d3c-0000-4000-8000-000000000001"
BY_THE_MODULE, BY_THE_MODEL = "toolu_plugin_x", "toolu_0123"
DEPLOYS = "Production deploys run on Tuesdays only."
PROMPT = "On which day do production deploys run?"


@pytest.fixture
def serve(open_here: Open) -> Iterator[Callable[..., Tell]]:
    """Start a server, and return what tells it of an event as the module does, or *by* somebody else."""
    with ExitStack() as running:

        def start(**settings: str) -> Tell:
            call = running.enter_context(connected(open_here(**settings)))

            def tell(event: str, *, by: str = BY_THE_MODULE, **given: Any) -> Said:
                meta = {"claudecode/toolUseId": by}
                said: Said = json.loads(call("hook", meta=meta, event=event, session_id=SESSION, given=given))
                return said

            return tell

        yield start


@pytest.fixture
def told(serve: Callable[..., Tell]) -> Tell:
    return serve()


@pytest.fixture
def deploys(store: Store) -> str:
    return remember(store, Draft("Deploys", DEPLOYS)).memory.id


@pytest.fixture
def shared(open_here: Open) -> Path:
    """A memory that came with the repository, and waits."""
    init(open_here().store())
    path = open_here().store().vaults[-1].root / "knowledge" / "staging-a1b2.md"
    path.write_text(
        "---\nid: staging-a1b2\ntitle: Staging\n---\nStaging listens on 5433.\n", encoding="utf-8"
    )
    return path


def labels(drawn: Said) -> list[str]:
    return [tab["label"] for tab in drawn["tabs"]]


def actions(drawn: Said, row: int = 0) -> dict[str, Said]:
    return {action["label"]: action for action in drawn["rows"][row]["actions"]}


def test_what_claude_was_told_is_shown_with_its_words_and_why(told: Tell, store: Store, deploys: str) -> None:
    assert labels(told("pane"))[0] == "Shown 0"
    assert inject(store, PROMPT, session=SESSION)
    recall(store, Query("production deploys"), session=SESSION)
    inject(store, PROMPT, session="another")

    drawn = told("pane", tab="told", open=deploys)

    assert (labels(drawn)[0], drawn["status"]) == ("Shown 1", "1 shown")
    (row,) = drawn["rows"]
    assert DEPLOYS in row["text"]
    searched, asked = row["about"].split("; ")
    assert searched.startswith("Claude searched “production deploys”, score ")
    assert asked.startswith(f"for your prompt “{PROMPT}”, score ")


def test_nothing_but_the_mark_is_said_until_something_changes(told: Tell, store: Store, deploys: str) -> None:
    mark = ""

    def nothing_changed() -> bool:  # the server takes in what is new and compares it, beside its answers
        nonlocal mark
        seen, answer = mark, told("pane", tab="search", seen=mark)
        mark = answer["mark"]
        return answer == {"mark": seen}

    eventually(nothing_changed, "nothing but the mark is said")
    assert told("pane", tab="search", words="deploys", seen=mark)["rows"]
    assert told("pane", tab="told", seen=mark)["mark"] != mark
    remember(store, Draft("Builds", "Builds run at night."))
    assert len(told("pane", tab="search", seen=mark)["rows"]) == 2


def test_looking_and_searching_leaves_no_trace(told: Tell, store: Store, deploys: str) -> None:
    def lines() -> list[bytes]:
        return [path.read_bytes() for path in store.ledger.paths()]

    told("pane")
    before = lines()
    drawn = told("pane", tab="search", words="deploys", open=deploys)

    assert drawn["rows"][0]["text"][0] == DEPLOYS
    assert lines() == before


def test_a_button_accepts_what_came_with_a_repository_and_takes_that_back(
    told: Tell, store: Store, shared: Path
) -> None:
    drawn = told("pane", tab="waits")
    assert (labels(drawn)[1], drawn["status"]) == ("Waits 1", "1 waits")
    assert "text" not in drawn["rows"][0]
    drawn = told("pane", tab="waits", open=drawn["rows"][0]["id"])
    assert "Staging listens on 5433." in drawn["rows"][0]["text"]
    assert actions(drawn).keys() == {"Accept", "Reject"}

    done = told("act", **actions(drawn)["Accept"])

    assert done["text"] == "staging-a1b2: accepted."
    assert told("pane", tab="waits")["notes"] == ["Nothing waits for you."]
    told("act", **done["actions"][0])
    assert labels(told("pane"))[1] == "Waits 1"


def test_what_changed_after_it_was_shown_is_not_accepted(told: Tell, store: Store, shared: Path) -> None:
    row = told("pane", tab="waits")["rows"][0]["id"]
    accept = actions(told("pane", tab="waits", open=row))["Accept"]
    shared.write_text(shared.read_text(encoding="utf-8").replace("5433", "6666"), encoding="utf-8")

    assert "not settled: its file changed after it was shown" in told("act", **accept)["text"]
    shared.unlink()
    assert told("act", **accept)["text"] == "staging-a1b2: not settled, because it no longer waits."


def test_no_call_of_the_models_does_or_tells_anything(told: Tell, open_here: Open, shared: Path) -> None:
    row = told("pane", tab="waits")["rows"][0]["id"]
    accept = actions(told("pane", tab="waits", open=row))["Accept"]

    for event, given in (("act", accept), ("pane", {}), ("status", {})):
        said = told(event, by=BY_THE_MODEL, **given)
        assert said == {"text": "This is for Daybook's module in the client."}
    assert [entry.id for entry in review(open_here().store()).entries] == ["staging-a1b2"]


def test_a_question_has_a_button_for_each_answer_and_shows_what_merging_would_say(
    told: Tell, store: Store
) -> None:
    for seconds in (30, 60):
        remember(store, Draft("Gateway timeout", f"The payment gateway times out after {seconds} seconds."))
    (row,) = told("pane", tab="waits")["rows"]
    drawn = told("pane", tab="waits", open=row["id"])

    assert actions(drawn).keys() == {"Replaces", "Keep both", "Merge"}
    assert len({action["key"] for action in actions(drawn).values()}) == 3
    words, merged = "\n".join(drawn["rows"][0]["text"]).split("The merged text would be:")
    assert "30 seconds" in words and "60 seconds" in words
    assert "30 seconds" in merged and "60 seconds" in merged
    assert told("act", **actions(drawn)["Merge"])["text"].endswith(": merged.")
    assert told("pane", tab="waits")["rows"] == []


def test_a_memory_is_pinned_forgotten_and_brought_back(told: Tell, store: Store, deploys: str) -> None:
    def offered() -> dict[str, Said]:
        return actions(told("pane", tab="today", open=deploys))

    assert told("act", **offered()["Pin"])["text"] == f"{deploys}: pinned."
    assert read(store, deploys).memory.pinned
    assert "Unpin" in offered()
    gone = told("act", **offered()["Forget"])
    with pytest.raises(NotFound):
        read(store, deploys)
    assert told("pane", tab="today")["rows"] == []
    (undo,) = gone["actions"]
    assert told("act", **undo)["text"] == "Taken back: 1 memory."
    assert read(store, deploys).memory.text == DEPLOYS


def test_undo_takes_back_what_was_shown_and_nothing_newer(told: Tell, store: Store, deploys: str) -> None:
    undo = actions(told("pane", tab="today", open=deploys))["Undo"]
    told("act", **actions(told("pane", tab="today", open=deploys))["Pin"])

    assert "not undone" in told("act", **undo)["text"]
    assert read(store, deploys).memory.pinned


def test_what_is_learned_is_told_once_as_a_toast(told: Tell, store: Store, deploys: str) -> None:
    assert told("status") == {"status": "", "toast": ""}
    remember(store, Draft("Builds", "Builds run at night."))
    assert told("status")["toast"] == ""

    learning = replace(store, by=lambda: MODEL)
    for title in ("Caches", "Locks"):
        remember(learning, Draft(title, f"{title} live for an hour."))

    assert told("status")["toast"] == "Learned: Locks and 1 more. /daybook shows it, with its undo."
    assert told("status")["toast"] == ""
    about = [row["about"] for row in told("pane", tab="today")["rows"]]
    assert about == ["learned from a session", "learned from a session", "by you", "by you"]


@pytest.mark.parametrize("name", ["DAYBOOK_STATUS_LINE", "DAYBOOK_HOOKS"])
def test_a_setting_leaves_the_status_line_empty(
    serve: Callable[..., Tell], store: Store, deploys: str, name: str
) -> None:
    inject(store, PROMPT, session=SESSION)
    off = serve(**{name: "off"})

    assert serve()("status")["status"] == "1 shown"
    assert off("status")["status"] == off("pane")["status"] == ""


def test_what_a_key_may_cost_today_is_told(serve: Callable[..., Tell]) -> None:
    without, paid = serve(), serve(DAYBOOK_MODEL_CALLS="true", ANTHROPIC_API_KEY="dummy")

    nothing = "No model is called and nothing was spent."
    assert without("pane", tab="today")["notes"][-1] == nothing
    spent = "Model calls today: 0 of 60, $0.0000 of $0.20 spent."
    assert paid("pane", tab="today")["notes"][-1] == spent
    on_plan = serve(DAYBOOK_PLAN_CALLS="true")
    assert on_plan("pane", tab="today")["notes"][-1] == "Calls on your plan today: 0 of 40."


def test_a_button_that_there_is_not_is_refused(told: Tell) -> None:
    assert "There is no button 'delete'." in told("act", act="delete", id="x")["text"]
