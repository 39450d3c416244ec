"""Memories are found by parts of what they are called, as somebody types it."""

import pytest

from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.list import named_like
from mcp_server.store import Store
from tests.memories import stored


def ids(store: Store, words: str, limit: int = 8) -> list[str]:
    return [row.id for row in named_like(store, words, limit=limit)]


@pytest.mark.parametrize("words", ["keys strip", "STRIPE", "ripe-ke", "  keys  "])
def test_all_words_occur_in_the_title_or_the_id_in_any_order_and_case(store: Store, words: str) -> None:
    keys = stored(store, "Stripe keys", "They are rotated.")
    stored(store, "Strips of film", "Cut them.")
    assert ids(store, words) == [keys]


def test_letters_with_accents_are_found_in_either_case(store: Store) -> None:
    memory = stored(store, "Über Änderungen")
    assert ids(store, "über änd") == [memory]


def test_active_memories_come_first_and_no_more_than_asked_for(store: Store) -> None:
    old, new = stored(store, "Cache one"), stored(store, "Cache two")
    archive(store, [old])
    assert ids(store, "cache") == [new, old]
    assert ids(store, "cache", limit=1) == [new]


@pytest.mark.parametrize("words", ["", "  ", "%", "nothing like it"])
def test_no_words_and_unknown_ones_find_nothing(store: Store, words: str) -> None:
    stored(store, "Stripe keys")
    assert ids(store, words) == []
