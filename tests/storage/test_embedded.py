"""What the person's own store adds to the contract: files, and an undo for what came through the port."""

from dataclasses import replace

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.storage.embedded import EmbeddedStorage
from mcp_server.adapters.places import project_notes
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.storage.test_contract import WEBHOOK


def test_what_came_through_the_port_is_taken_back(store: Store) -> None:
    storage = EmbeddedStorage(store)
    first = storage.save(WEBHOOK)
    storage.save(replace(WEBHOOK, text="Skip it."), replaces=first.digest)

    undo(store, last_change(store))
    assert storage.load(WEBHOOK.id) == first

    undo(store, last_change(store, memory_id=WEBHOOK.id))
    assert storage.load(WEBHOOK.id).memory.text == "Skip it."


def test_a_new_memory_is_a_file_of_the_level(store: Store) -> None:
    EmbeddedStorage(store).save(WEBHOOK)
    file = read(store, WEBHOOK.id)
    assert file.vault.level is Level.USER
    assert file.path.name == f"{WEBHOOK.id}.md"


def test_a_project_that_is_first_met_here_is_noted(store: Store) -> None:
    assert store.project
    assert not project_notes(store.home, store.project.key)

    EmbeddedStorage(store, Level.PROJECT).save(WEBHOOK)

    assert project_notes(store.home, store.project.key)["root"] == str(store.project.root)


def test_a_secret_is_refused(store: Store) -> None:
    secret = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789"
    with pytest.raises(Rejected):
        EmbeddedStorage(store).save(replace(WEBHOOK, text=f"The key is {secret}"))
    with pytest.raises(NotFound):
        read(store, WEBHOOK.id)
