"""What the person is told at a start can be looked at without being noted; told, each is noted once."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.context.notice import (
    KeyOffered,
    NeedKind,
    Numbered,
    next_notice,
    notice,
)
from mcp_server.actions.context.start import start
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.judge.candidate import propose, review_candidates
from mcp_server.actions.upkeep.tidy import tidy_when_due
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.provenance.provenance import SETTLED_ONCE
from mcp_server.store import Store
from tests.actions.tidy.test_bounds import notes
from tests.conftest import Clock, Open
from tests.memories import files_of_store, stored

pytestmark = pytest.mark.usefixtures("steady_use")

KEY = "a key"


def gone(store: Store, clock: Clock) -> None:
    del clock
    shutil.rmtree(read(store, stored(store, "Lamps")).path.parent)
    sync(store)


def put_away(store: Store, clock: Clock) -> None:
    notes(store, 3)
    clock.pass_days(91)
    assert tidy_when_due(store)


def settled(store: Store, clock: Clock) -> None:
    del clock
    propose(store, Draft("pnpm", "Use pnpm."), key=16 * "a", confidence=0.9, why=SETTLED_ONCE)


def broken(store: Store, clock: Clock) -> None:
    del clock
    path = read(store, stored(store, "Lamps")).path
    path.write_bytes("They are lit at dusk.".encode("utf-16"))
    path.with_name("empty.md").touch()
    sync(store)


def crowded(store: Store, clock: Clock) -> None:
    del clock
    for number in range(3):
        stored(store, f"Long {number}", f"part{number} " * 60_000, kind=Kind.CONVERSATION)


def nothing(store: Store, clock: Clock) -> None:
    del store, clock


@pytest.mark.parametrize(
    ("prepare", "identity", "expected"),
    [
        (gone, "", "Vanished(losses=(GoneMemories("),
        (put_away, "", "PutAway("),
        (settled, "", repr(Numbered(NeedKind.SETTLED, 1))),
        (broken, "", repr(Numbered(NeedKind.UNREAD, 2))),
        (crowded, "", "Size("),
        (nothing, KEY, repr(KeyOffered(0.2))),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_look_notes_nothing_and_telling_notes_once(
    open_here: Open,
    clock: Clock,
    prepare: Callable[[Store, Clock], None],
    identity: str,
    expected: str,
) -> None:
    store = open_here(MAX_MEMORY_SIZE_MB="1").store()
    prepare(store, clock)
    before = files_of_store(store.home)

    looked = [next_notice(store, identity=identity) for _ in range(2)]

    assert files_of_store(store.home) == before
    assert repr(looked[0]).startswith(expected)
    assert looked[1] == looked[0] == notice(store, identity=identity)
    assert notice(store, identity=identity) != looked[0]
    assert files_of_store(store.home) != before


def test_of_the_files_not_taken_in_those_that_the_session_can_see_are_told_once_in_each_vault(
    store: Store, open_here: Open, clock: Clock, tmp_path: Path
) -> None:
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    other = open_here(other_folder).store()
    broken(store, clock)
    assert next_notice(other, identity="") is None
    assert start(other).unreadable == 0

    read(store, stored(store, "Tabs", level=Level.USER)).path.with_name("empty.md").touch()
    sync(store)
    assert notice(other, identity="") == Numbered(NeedKind.UNREAD, 1)
    assert notice(store, identity="") == Numbered(NeedKind.UNREAD, 3)
    assert [next_notice(each, identity="") for each in (store, other)] == [None, None]


@pytest.mark.parametrize("name", ["Pnpm, mine.md", "Aaaa.md", "aaaa.sync-conflict-20261128-101010-AB.md"])
def test_a_start_counts_as_said_what_review_asks_about(store: Store, clock: Clock, name: str) -> None:
    settled(store, clock)
    (proposed,) = review_candidates(store)
    shutil.copy(proposed.path, proposed.path.with_name(name))

    assert next_notice(store, identity="") == Numbered(NeedKind.SETTLED, len(review_candidates(store)))
