"""What a prompt as people type it is accompanied by: a text, a title to look up, or nothing."""

import json
import re
from pathlib import Path

import pytest

from mcp_server.actions.capture.note import note_fork
from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read, read_told
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import embed_pending
from mcp_server.core.context.brief import INDEX
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.conftest import Clock

LUMEN = Path(__file__).resolve().parents[1] / "data" / "prompts" / "lumen" / "memories.jsonl"
TUESDAYS = Draft(
    "Production deploys only on Tuesdays after 10:00 UTC",
    "The support team is complete then; every other day needs a word from Ines.",
    type="decision",
)
POINTER = re.compile(r"^- [^\[].* \(([a-z0-9-]+)\)$", re.MULTILINE)


def drafts() -> list[Draft]:
    records = map(json.loads, LUMEN.read_text(encoding="utf-8").splitlines())
    return [
        Draft(record["title"], record["text"], type=record["type"], tags=tuple(record["tags"]))
        for record in records
    ]


@pytest.fixture
def lamps(meaning_store: Store) -> Store:
    """A project of some size: the gate looks at what stands out."""
    for draft in (TUESDAYS, *drafts()[:9]):
        remember(meaning_store, draft)
    embed_pending(meaning_store)
    return meaning_store


def test_an_order_of_three_words_finds_what_it_touches_under_its_other_names(lamps: Store) -> None:
    for number, prompt in enumerate(("deploy to prod", "ship the release now")):
        assert TUESDAYS.title in inject(lamps.in_session(f"s{number}"), prompt)


@pytest.mark.parametrize(
    "prompt", ["continue", "yes", "go on", "run the tests", "rename this variable to total", "thanks!"]
)
def test_a_prompt_that_calls_for_nothing_gets_nothing(lamps: Store, prompt: str) -> None:
    assert inject(lamps.in_session("s1"), prompt) == ""


def test_a_title_is_pointed_to_once_in_a_session_and_again_when_it_was_edited(lamps: Store) -> None:
    prompt = "make it available to everyone"

    ids = POINTER.findall(inject(lamps.in_session("s1"), prompt))

    assert 1 <= len(ids) <= 3
    assert read(lamps, ids[0]).memory.id == ids[0]
    assert inject(lamps.in_session("s1"), prompt) == ""
    assert POINTER.findall(inject(lamps.in_session("s2"), prompt)) == ids

    revise(lamps, ids[0], Revision(tags=("release",)))
    embed_pending(lamps)
    context = inject(lamps.in_session("s1"), prompt)

    assert ids[0] in context


def test_a_fork_is_not_pointed_again_to_what_its_conversation_names(
    lamps: Store, tmp_path: Path, clock: Clock
) -> None:
    assert POINTER.findall(inject(lamps.in_session("s1"), "make it available to everyone"))
    answer = {"type": "assistant", "timestamp": f"{clock.now:%Y-%m-%dT%H:%M:%S.000Z}"}
    (tmp_path / "s1.jsonl").write_text(f"{json.dumps(answer)}\n", encoding="utf-8")
    clock.pass_days(1 / 24)

    note_fork(lamps.in_session("fork"), tmp_path / "fork.jsonl", silent_for=3600)

    assert inject(lamps.in_session("fork"), "make it available to everyone") == ""


def test_a_prompt_of_a_few_letters_gets_a_title_at_most(lamps: Store) -> None:
    context = inject(lamps.in_session("s1"), "ship it")

    assert POINTER.findall(context)
    assert "Ines" not in context


def test_a_title_that_was_pointed_to_may_come_as_a_text_later(lamps: Store) -> None:
    assert POINTER.findall(inject(lamps.in_session("s1"), "make it available to everyone"))

    assert "Ines" in inject(lamps.in_session("s1"), "On which days do production deploys happen?")


@pytest.mark.parametrize("number", [0, 1, 10, 40, 400])
def test_a_brief_names_as_many_memories_as_fit(store: Store, number: int) -> None:
    memories = [
        remember(store, Draft(f"Rule {at} of the warehouse robots", f"Text {at}. " * 30, type=type)).memory
        for at, type in zip(range(number), ["decision", "gotcha", "reference", "pattern"] * 100, strict=False)
    ]

    start_brief = brief(store)

    assert len(start_brief.text) <= (1196 if number <= 10 else 4000)
    named = [
        memory
        for memory in memories
        if start_brief.text.count(f"{memory.title} (") + start_brief.text.count(f"[{memory.id}]")
    ]
    assert len(named) >= min(number, 60)
    assert all(
        start_brief.text.count(f"{memory.title} (") + start_brief.text.count(f"[{memory.id}]") == 1
        for memory in named
    )
    if len(named) < number:
        assert f"and {number - len(named)} more" in start_brief.text
    assert (INDEX in start_brief.text) == (len(start_brief.refs) < len(named))


def test_a_preference_is_told_in_full(store: Store) -> None:
    text = "No abbreviations in names, neither in code nor in tests. " * 9 + "Only ids may be short."
    remember(store, Draft("Names are words", text, type="preference"))
    remember(store, Draft("Widgets", text.replace("names", "widgets"), type="pattern"))

    brief_text = brief(store).text

    assert "Only ids may be short." in brief_text.partition("Settled")[0]
    assert "Only ids may be short." not in brief_text.partition("Settled")[2]


def test_the_ending_of_an_id_is_enough_to_read_a_memory_and_not_to_change_it(store: Store) -> None:
    memory_id = remember(store, TUESDAYS).memory.id
    ending = memory_id[-4:]

    assert read_told(store, ending).memory.id == memory_id
    with pytest.raises(NotFound):
        read(store, ending)
    with pytest.raises(NotFound):
        read_told(store, "zzzz")


@pytest.mark.parametrize(
    "prompt", ["deploy to prod", "add a table for customers", "make the login page dark"]
)
def test_an_order_is_not_pointed_to_whatever_a_small_store_has(meaning_store: Store, prompt: str) -> None:
    remember(meaning_store, Draft("Invoice rounding", "Amounts on an invoice are rounded half to even."))
    embed_pending(meaning_store)

    assert inject(meaning_store.in_session("s1"), prompt) == ""
