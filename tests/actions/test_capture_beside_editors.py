"""A conversation that a person edits or renames goes on as they left it."""

from datetime import datetime

import pytest

from mcp_server.actions.capture.capture import is_kept_here, keep
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.store import Store
from tests.recorded import Recorded, kept_words, queued, seen


def test_what_a_person_edits_in_a_conversation_stays(store: Store, recorded: Recorded) -> None:
    recorded.user("A question to annotate")
    keep(store, seen(store, recorded))
    file = read(store, recorded.session)
    file.path.write_bytes(file.data.replace(b"A question to annotate", b"A question, annotated by me"))
    recorded.user("The next question")

    keep(store, seen(store, recorded))

    assert kept_words(store, recorded) == ["user: A question, annotated by me", "user: The next question"]


def test_what_a_person_edits_while_a_turn_is_added_stays(store: Store, recorded: Recorded) -> None:
    recorded.user("A question to annotate")
    keep(store, seen(store, recorded))
    path = read(store, recorded.session).path
    recorded.user("The next question")
    waiting = seen(store, recorded)
    edits = ["question, annotated", "question, annotated by me"]
    path.write_text(
        path.read_text(encoding="utf-8").replace("question to annotate", edits[0]), encoding="utf-8"
    )

    def edited_again() -> datetime:
        """Tell the time, which is asked for between reading the conversation and writing it."""
        text = path.read_text(encoding="utf-8")
        if edits[1] not in text:
            path.write_text(text.replace(*edits), encoding="utf-8")
        return store.clock()

    keep(store._replace(clock=edited_again), waiting)

    assert kept_words(store, recorded) == ["user: A question, annotated by me", "user: The next question"]


@pytest.mark.parametrize("name", ["Billing.md", "old/billing.md"])
def test_a_conversation_that_a_person_renames_goes_on_under_its_name(
    store: Store, recorded: Recorded, name: str
) -> None:
    recorded.user("First question about billing")
    keep(store, seen(store, recorded))
    file = read(store, recorded.session)
    path = file.path.parent / name
    path.parent.mkdir(exist_ok=True)
    file.path.rename(path)
    recorded.user("Second question about shipping")

    keep(store, seen(store, recorded))

    assert read(store, recorded.session).path == path
    assert kept_words(store, recorded) == [
        "user: First question about billing", "user: Second question about shipping",
    ]  # fmt: skip
    assert sync(store).unreadable == []
    assert is_kept_here(store, queued(store, recorded))
