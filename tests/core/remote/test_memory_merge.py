"""Two states of one memory become one: lists united, single values of the later change, texts joined."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.links import CONTRADICTS
from mcp_server.core.memory import Link, Memory
from mcp_server.core.memory_parts import Status
from mcp_server.core.remote.memory_merge import MergedMemory, Placed, merge_memories

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
BASE = Memory(
    id="port", title="The port", text="The port is 80.\n\nThe host is alpha.", created=NOON, updated=NOON
)
PATH = "knowledge/port.md"
ARCHIVE = "archive/port.md"


def changed(later: float = 0, **values: Any) -> Memory:
    return replace(BASE, updated=NOON + timedelta(seconds=later), **values)


def merged(one: Memory, other: Memory, *, base: Memory | None = BASE) -> MergedMemory:
    base_placed = Placed(base, PATH) if base else None
    result = merge_memories(base_placed, Placed(one, PATH), Placed(other, PATH))
    assert result == merge_memories(base_placed, Placed(other, PATH), Placed(one, PATH))
    return result


def test_tags_of_both_are_there_and_what_one_took_out_is_not() -> None:
    base = changed(tags=("a", "b"))

    result = merged(changed(1, tags=("a", "b", "c")), changed(2, tags=("b", "d")), base=base)

    assert set(result.memory.tags) == {"b", "c", "d"}


def test_links_are_united_with_their_notes() -> None:
    link = Link("refines", "host", ("first",))
    one = changed(1, links=(replace(link, notes=("first", "second")),))
    other = changed(2, links=(link, Link("relates-to", "web")))

    result = merged(one, other, base=changed(links=(link,)))

    assert set(result.memory.links) == {
        Link("refines", "host", ("first", "second")),
        Link("relates-to", "web"),
    }


def test_a_single_value_is_that_of_the_later_change() -> None:
    assert merged(changed(2, type="decision"), changed(1, type="gotcha")).memory.type == "decision"
    assert merged(changed(1, pinned=True), changed(2, text="Other.")).memory.pinned


def test_the_dates_of_change_and_check_are_the_latest() -> None:
    result = merged(changed(5, verified=NOON), changed(9))

    assert (result.memory.updated, result.memory.verified) == (NOON + timedelta(seconds=9), NOON)


def test_the_same_words_changed_twice_stay_beside_each_other() -> None:
    result = merged(
        changed(2, text=BASE.text.replace("80", "90")), changed(1, text=BASE.text.replace("80", "70"))
    )

    assert result.beside
    assert ("90" in result.memory.text, "70" in result.beside.text) == (True, True)
    assert result.beside.id.startswith("port-")
    assert result.beside.links == (Link(CONTRADICTS, "port"),)


def test_nothing_stands_beside_when_one_says_all_of_both() -> None:
    shorter, longer = "The port is 90", "The port is 90 for the web"

    result = merged(changed(2, text=shorter), changed(1, text=longer), base=changed(text="The port is 80"))

    assert (result.memory.text, result.beside) == (longer, None)


def test_a_title_that_both_changed_is_kept_twice() -> None:
    result = merged(changed(1, title="The web port"), changed(2, title="The gate"))

    assert result.memory.title == "The gate"
    assert result.beside and result.beside.title == "The web port"


def test_putting_away_moves_the_file_and_the_other_change_goes_along() -> None:
    away = changed(status=Status.ARCHIVED, archived_reason="by hand")

    result = merge_memories(
        Placed(BASE, PATH), Placed(away, ARCHIVE), Placed(changed(1, tags=("web",)), PATH)
    )

    assert (result.path, result.memory.status, result.memory.tags) == (ARCHIVE, Status.ARCHIVED, ("web",))


def test_new_words_are_not_put_away() -> None:
    away = changed(5, status=Status.ARCHIVED, archived_reason="aged")

    result = merge_memories(Placed(BASE, PATH), Placed(away, ARCHIVE), Placed(changed(1, text="New."), PATH))

    assert (result.path, result.memory.status, result.memory.text) == (PATH, Status.ACTIVE, "New.")


WORDS = st.lists(st.sampled_from(["one", "two", "three", "four", "\n", "five"]), max_size=7).map(" ".join)
MEMORY = st.builds(
    changed,
    st.integers(0, 3),
    title=st.sampled_from(["The port", "The gate", "A door"]),
    text=WORDS.map(lambda text: text.strip() or "none"),
    tags=st.lists(st.sampled_from("abcd"), unique=True, max_size=3).map(tuple),
    type=st.sampled_from(["note", "decision"]),
    pinned=st.booleans(),
)


@given(st.none() | MEMORY, MEMORY, MEMORY)
def test_the_order_makes_no_difference_and_no_new_word_is_lost(
    base: Memory | None, one: Memory, other: Memory
) -> None:
    result = merged(one, other, base=base)

    memories = [result.memory, *([result.beside] if result.beside else [])]
    words_kept = {word for memory in memories for word in f"{memory.title} {memory.text}".split()}
    base_words = {*f"{base.title} {base.text}".split()} if base else set()
    assert {
        word for memory in (one, other) for word in f"{memory.title} {memory.text}".split()
    } - base_words <= words_kept


@given(MEMORY, MEMORY, MEMORY)
def test_joining_again_what_was_joined_changes_no_word(base: Memory, one: Memory, other: Memory) -> None:
    first = merged(one, other, base=base)
    again = merged(first.memory, first.newer.memory, base=base)

    assert {*first.memory.text.split()} <= {*again.memory.text.split()} | {*base.text.split()}
