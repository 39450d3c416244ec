"""Each line of the ledger names the session in which its verb ran, unless it is about another session."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_server.actions.capture.mine import run_mining
from mcp_server.actions.changes.undo import last_change
from mcp_server.actions.files import commit, trash
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.memory.forget import forget
from mcp_server.store import Store
from tests.actions.changing_conversations import OF_CONVERSATIONS
from tests.actions.changing_imports import OF_IMPORTS
from tests.actions.changing_ways import WAYS, Place, remembered
from tests.conftest import Clock

VERBS = {**WAYS, **OF_CONVERSATIONS, **OF_IMPORTS}


@pytest.mark.parametrize("verb", VERBS)
def test_every_line_that_a_verb_writes_names_its_session_which_can_take_back_what_it_did(
    store: Store, clock: Clock, tmp_path: Path, verb: str
) -> None:
    act = VERBS[verb](Place(store.in_session("acting"), clock, tmp_path))
    before = _lines(store)
    act()

    new = _lines(store)[len(before) :]
    assert new
    unnamed = {line["event"] for line in new if line.get("session") != "acting"}
    if verb == "forget a session":  # it names the forgotten one, and cannot be taken back
        assert unnamed == {"session_forgotten"}
    else:
        assert unnamed == set()
        assert last_change(store, of_session="acting").name == last_change(store).name


def test_what_is_noted_beside_memories_names_its_session_too(store: Store) -> None:
    acting = store.in_session("acting")
    forget(acting, remembered(acting))
    trash.empty(acting, [trashed for trashed, _ in trash.forgotten(acting, acting.vaults)])
    run_mining(acting)

    named = {line["event"]: line["session"] for line in _lines(store)}
    assert (named["emptied"], named["mining_run"]) == ("acting", "acting")


def test_a_file_that_a_person_changed_names_no_session(store: Store, clock: Clock) -> None:
    file = read(store, remembered(store))
    clock.pass_days(1)
    file.path.write_bytes(file.data.replace(b"thirty", b"sixty"))
    sync(store.in_session("acting"))

    (edited,) = edits(store)
    assert edited["session"] == ""


def test_what_is_seen_while_daybook_changes_it_is_not_taken_for_a_persons_edit(store: Store) -> None:
    memory_id = remembered(store)
    for text in ("It waits.", "It waits longer."):  # written, and not yet in the ledger and the index
        file = read(store, memory_id)
        commit.put(store, file, replace(file.memory, text=text), verb="revised")
    take_in(store, file.vault, file.path, by_hand=True)
    assert edits(store) == []

    file.path.write_bytes(file.path.read_bytes().replace(b"waits", b"sleeps"))
    take_in(store, file.vault, file.path, by_hand=True)
    assert len(edits(store)) == 1


def edits(store: Store) -> list[dict[str, object]]:
    return [line for line in _lines(store) if line["event"] == "edited"]


def _lines(store: Store) -> list[dict[str, object]]:
    return [json.loads(line) for path in store.ledger.paths() for line in path.read_bytes().splitlines()]
