"""The pane beside the chat: what the server says is drawn, and what a button does."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.candidate import propose
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init
from mcp_server.actions.memory.session import save_session
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review.review import review
from mcp_server.adapters.index.database.schema import SCHEMA
from mcp_server.core.authors import MODEL
from mcp_server.core.errors import IndexOfNewer, NotFound
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

            def tell(event: str, *, by: str = BY_THE_MODULE, **given_values: Any) -> Said:
                meta = {"claudecode/toolUseId": by}
                answer: Said = json.loads(
                    call("hook", meta=meta, event=event, session_id=SESSION, given=given_values)
                )
                return answer

            return tell

        yield start


@pytest.fixture
def tell(serve: Callable[..., Tell]) -> Tell:
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


def test_what_claude_was_told_is_shown_with_its_words_and_why(tell: Tell, store: Store, deploys: str) -> None:
    assert labels(tell("pane"))[0] == "Shown 0"
    assert inject(store.in_session(SESSION), PROMPT)
    recall(store, Query("production deploys"), given_to=SESSION)
    inject(store.in_session("another"), PROMPT)

    drawn = tell("pane", tab="told", open=deploys)

    assert (labels(drawn)[0], drawn["status"]) == ("Shown 1", "1 shown")
    (row,) = drawn["rows"]
    assert DEPLOYS in row["text"]
    searched, reason = row["about"].split("; ")
    assert searched.startswith("for the search “production deploys”, score ")
    assert reason.startswith(f"for your prompt “{PROMPT}”, score ")


def test_nothing_but_the_mark_is_said_until_something_changes(tell: Tell, store: Store, deploys: str) -> None:
    mark = ""

    def nothing_changed() -> bool:  # the server takes in what is new and compares it, beside its answers
        nonlocal mark
        mark_seen, answer = mark, tell("pane", tab="search", seen=mark)
        mark = answer["mark"]
        return answer == {"mark": mark_seen}

    eventually(nothing_changed, "nothing but the mark is said")
    assert tell("pane", tab="search", words="deploys", seen=mark)["rows"]
    assert tell("pane", tab="told", seen=mark)["mark"] != mark
    remember(store, Draft("Builds", "Builds run at night."))
    assert len(tell("pane", tab="search", seen=mark)["rows"]) == 2


def test_looking_and_searching_leaves_no_trace(tell: Tell, store: Store, deploys: str) -> None:
    def lines() -> list[bytes]:
        return [path.read_bytes() for path in store.ledger.paths()]

    tell("pane")
    before = lines()
    drawn = tell("pane", tab="search", words="deploys", open=deploys)

    assert drawn["rows"][0]["text"][0] == DEPLOYS
    assert lines() == before


def test_a_proposal_of_a_model_says_nothing_of_how_often_it_was_seen(tell: Tell, store: Store) -> None:
    key = 16 * "a"
    propose(store, Draft("Builds", "Builds run at night."), key=key, confidence=0.9, why="of a model")

    drawn = tell("pane", tab="waits", open=f"candidate {key}")
    settled = tell("act", **actions(drawn)["Reject"])

    assert "seen" not in json.dumps(drawn["rows"])
    assert settled["actions"][0]["meaning"] == "takes back: a candidate was settled"


def test_a_button_accepts_what_came_with_a_repository_and_takes_that_back(
    tell: Tell, store: Store, shared: Path
) -> None:
    drawn = tell("pane", tab="waits")
    assert (labels(drawn)[1], drawn["status"]) == ("Waits 1", "1 waits")
    assert "text" not in drawn["rows"][0]
    drawn = tell("pane", tab="waits", open=drawn["rows"][0]["id"])
    assert "Staging listens on 5433." in drawn["rows"][0]["text"]
    assert actions(drawn).keys() == {"Accept", "Reject"}

    answer = tell("act", **actions(drawn)["Accept"])

    assert answer["text"] == "staging-a1b2: accepted."
    assert tell("pane", tab="waits")["notes"] == ["Nothing waits for you."]
    tell("act", **answer["actions"][0])
    shared.with_name("second.md").write_text("Staging sleeps at night.\n", encoding="utf-8")
    eventually(lambda: labels(tell("pane"))[1] == "Waits 2", "the second file waits, too")
    assert tell("pane")["status"] == "2 wait"


def test_what_was_settled_since_it_was_shown_is_told_so(tell: Tell, shared: Path) -> None:
    row = tell("pane", tab="waits")["rows"][0]["id"]
    accept = actions(tell("pane", tab="waits", open=row))["Accept"]

    assert tell("act", **accept)["text"] == "staging-a1b2: accepted."
    assert tell("act", **accept)["text"] == "staging-a1b2: accepted already."


def test_what_changed_after_it_was_shown_is_not_accepted(tell: Tell, store: Store, shared: Path) -> None:
    row = tell("pane", tab="waits")["rows"][0]["id"]
    accept = actions(tell("pane", tab="waits", open=row))["Accept"]
    shared.write_text(shared.read_text(encoding="utf-8").replace("5433", "6666"), encoding="utf-8")

    assert "not settled: its file changed after it was shown" in tell("act", **accept)["text"]
    shared.unlink()
    assert tell("act", **accept)["text"] == "staging-a1b2: not settled, because it no longer waits."


def test_no_call_of_the_models_does_or_tells_anything(tell: Tell, open_here: Open, shared: Path) -> None:
    row = tell("pane", tab="waits")["rows"][0]["id"]
    accept = actions(tell("pane", tab="waits", open=row))["Accept"]

    for event, arguments in (("act", accept), ("pane", {}), ("status", {})):
        answer = tell(event, by=BY_THE_MODEL, **arguments)
        assert answer == {"text": "This is for Daybook's module in the client."}
    assert [entry.id for entry in review(open_here().store()).entries] == ["staging-a1b2"]


def test_a_question_has_a_button_for_each_answer_and_shows_what_merging_would_say(
    tell: Tell, store: Store
) -> None:
    for seconds in (30, 60):
        remember(store, Draft("Gateway timeout", f"The payment gateway times out after {seconds} seconds."))
    (row,) = tell("pane", tab="waits")["rows"]
    drawn = tell("pane", tab="waits", open=row["id"])

    assert actions(drawn).keys() == {"Replaces", "Keep both", "Merge"}
    assert len({action["key"] for action in actions(drawn).values()}) == 3
    words, merged = "\n".join(drawn["rows"][0]["text"]).split("The merged text would be:")
    assert "30 seconds" in words and "60 seconds" in words
    assert "30 seconds" in merged and "60 seconds" in merged
    assert tell("act", **actions(drawn)["Merge"])["text"].endswith(": merged.")
    assert tell("pane", tab="waits")["rows"] == []


def test_a_memory_is_pinned_forgotten_and_brought_back(tell: Tell, store: Store, deploys: str) -> None:
    def offered() -> dict[str, Said]:
        return actions(tell("pane", tab="today", open=deploys))

    assert tell("act", **offered()["Pin"])["text"] == f"{deploys}: pinned."
    assert read(store, deploys).memory.pinned
    assert "Unpin" in offered()
    assert len({action["key"] for action in offered().values()}) == 3
    gone = tell("act", **offered()["Forget"])
    with pytest.raises(NotFound):
        read(store, deploys)
    assert tell("pane", tab="today")["rows"] == []
    (undo,) = gone["actions"]
    assert tell("act", **undo)["text"] == "Taken back: 1 memory."
    assert read(store, deploys).memory.text == DEPLOYS


def test_a_forgotten_memory_that_claude_was_shown_can_still_be_brought_back(
    tell: Tell, store: Store, deploys: str
) -> None:
    recall(store, Query("production deploys"), given_to=SESSION)
    tell("act", **actions(tell("pane", open=deploys))["Forget"])

    drawn = tell("pane", open=deploys)

    assert drawn["rows"][0]["about"].endswith("it is gone since")
    tell("act", **actions(drawn)["Undo"])
    assert read(store, deploys).memory.text == DEPLOYS


def test_an_empty_store_is_not_said_to_lack_words_that_nobody_typed(tell: Tell) -> None:
    assert tell("pane", tab="search")["notes"] == ["Nothing is stored yet."]
    assert tell("pane", tab="search", words="deploys")["notes"] == ["No memory says that."]


def test_a_saved_session_is_called_one(tell: Tell, store: Store) -> None:
    save_session(store, "Queues", "The producers are done.", folder=store.home)

    assert [row["about"] for row in tell("pane", tab="search")["rows"]] == ["session"]


def test_undo_takes_back_what_was_shown_and_nothing_newer(tell: Tell, store: Store, deploys: str) -> None:
    undo = actions(tell("pane", tab="today", open=deploys))["Undo"]
    tell("act", **actions(tell("pane", tab="today", open=deploys))["Pin"])

    assert "nothing was undone" in tell("act", **undo)["text"]
    assert read(store, deploys).memory.pinned


def test_what_is_learned_is_told_once_as_a_toast(tell: Tell, store: Store, deploys: str) -> None:
    assert tell("status") == {"status": "", "toast": ""}
    remember(store, Draft("Builds", "Builds run at night."))
    assert tell("status")["toast"] == ""

    learning = store._replace(by=lambda: MODEL)
    for title in ("Caches", "Locks"):
        remember(learning, Draft(title, f"{title} live for an hour."))

    assert tell("status")["toast"] == "Learned: Locks and 1 more. /daybook shows it, with its undo."
    assert tell("status")["toast"] == ""
    about = [row["about"] for row in tell("pane", tab="today")["rows"]]
    assert about == ["learned from a session", "learned from a session", "by you", "by you"]


@pytest.mark.parametrize("name", ["DAYBOOK_STATUS_LINE", "DAYBOOK_HOOKS"])
def test_a_setting_leaves_the_status_line_empty(
    serve: Callable[..., Tell], store: Store, deploys: str, name: str
) -> None:
    inject(store.in_session(SESSION), PROMPT)
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


def test_while_the_index_cannot_be_used_the_pane_says_why_and_no_other_answer_does(
    tell: Tell, store: Store, deploys: str
) -> None:
    before = tell("pane", tab="told")
    with closing(sqlite3.connect(store.database.path)) as newer:
        newer.execute("PRAGMA user_version = 999")

    drawn = tell("pane", tab="told", seen=before["mark"])
    typed = tell("command", name="recall", words=PROMPT, origin="human")["text"]
    with closing(sqlite3.connect(store.database.path)) as newer:
        newer.execute(f"PRAGMA user_version = {SCHEMA}")

    newer_index = str(IndexOfNewer(999))
    assert (drawn["notes"], drawn["rows"], drawn["tabs"]) == ([newer_index], [], [])
    assert DEPLOYS in typed
    assert typed.endswith(f"\n{newer_index} This answer comes from your files, by words only.")
    assert tell("command", name="recall", words=PROMPT, origin="human")["text"].endswith(DEPLOYS)
    assert labels(tell("pane", tab="told", seen=drawn["mark"]))[0] == "Shown 1"


def test_a_button_that_there_is_not_is_refused(tell: Tell) -> None:
    assert "There is no button 'delete'." in tell("act", act="delete", id="x")["text"]
