"""One word says that two memories are both right; the person is not asked about the pair again."""

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.judge.compare_and_store import near_now
from mcp_server.actions.judge.contradiction import find_contradictions, mark_contradiction, tell_apart
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import fingerprint
from mcp_server.store import Store

LEFT = "Server left of the door answers on port 8080 in the office network."
RIGHT = "Server right of the door answers on port 9090 in the office network."


@pytest.fixture
def pair(store: Store) -> tuple[str, str]:
    first, second = (
        remember(store, Draft(text[:12], text, type="decision")).memory.id for text in (LEFT, RIGHT)
    )
    return first, second


def is_asked(store: Store, pair: tuple[str, str]) -> bool:
    """Tell whether somebody would be asked how the two stand."""
    near = {memory.id for memory in near_now(store, pair[1])}
    pairs = {
        frozenset((contradiction.first.id, contradiction.other.id))
        for contradiction in find_contradictions(store)
    }
    assert (pair[0] in near) == (frozenset(pair) in pairs)
    return pair[0] in near


def test_it_is_asked_until_somebody_tells_them_apart(store: Store, pair: tuple[str, str]) -> None:
    assert is_asked(store, pair)

    assert tell_apart(store, pair[1], [pair[0]]) == (pair[0],)

    assert not is_asked(store, pair)
    assert all(read(store, memory_id).memory.links == () for memory_id in pair)


def test_it_is_asked_again_only_when_a_telling_word_changes(store: Store, pair: tuple[str, str]) -> None:
    tell_apart(store, pair[1], [pair[0]])

    revise(store, pair[0], Revision(text=LEFT.replace("in the office", "in our office")))
    assert not is_asked(store, pair)
    revise(store, pair[0], Revision(text=LEFT.replace("8080", "8081")))
    assert is_asked(store, pair)


def test_what_an_earlier_version_settled_stays_settled_until_a_word_changes(
    store: Store, pair: tuple[str, str]
) -> None:
    pair_files = [read(store, memory_id) for memory_id in pair]
    store.ledger.append(
        "contradiction_resolved",
        store.clock(),
        refs=[file.ref for file in pair_files],
        said=[fingerprint(file.memory.title, file.memory.text) for file in pair_files],
        how="keep_both",
    )
    sync(store)
    assert not is_asked(store, pair)

    revise(store, pair[0], Revision(text=LEFT.replace("in the office", "in our office")))
    assert is_asked(store, pair)


def test_what_cannot_be_told_apart_is_said(store: Store, pair: tuple[str, str]) -> None:
    with pytest.raises(Rejected, match="not distinct from itself"):
        tell_apart(store, pair[0], [pair[0]])
    with pytest.raises(NotFound):
        tell_apart(store, pair[0], ["no-such-memory"])
    mark_contradiction(store, *pair)
    with pytest.raises(Rejected, match="are marked as contradicting each other"):
        tell_apart(store, pair[0], [pair[1]])
