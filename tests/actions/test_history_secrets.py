"""What is to be gone is gone from the history, too: secrets, what is forgotten for good, what has no room."""

import os
from pathlib import Path

import pytest

from mcp_server.actions.changes.history import history_of
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.read import read
from mcp_server.actions.files.size_limit import prune
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.upkeep.maintain import clean_up
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters import places
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.actions.tidy.knowledge import twins
from tests.conftest import Clock

TOKEN = "ghp_" + "q7Zt4LwX9bKe2MnV6RsY" + "1cPdFhJ8uGaT3oBi"


def everything(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def remembered(store: Store, text: str, **more: object) -> str:
    draft = Draft("A rule", text, **{"level": Level.USER, **more})  # type: ignore[arg-type]
    return remember(store, draft, keep_secrets=True).memory.id


def test_a_secret_that_is_revised_away_is_masked_in_every_version(store: Store) -> None:
    memory_id = remembered(store, f"The key is {TOKEN}, and the port 8080.")
    revise(store, memory_id, Revision(tags=("net",)), keep_secrets=True)
    revise(store, memory_id, Revision(text="The key is in the safe, and the port 8080."))

    versions = history_of(store, memory_id).versions
    assert [version.masked for version in versions] == [True, True]
    assert all(version.memory and "secret removed" in version.memory.text for version in versions)
    assert all(version.memory and "the port 8080" in version.memory.text for version in versions)
    for path in (store.home / "history").rglob("*.md"):
        assert TOKEN.encode() not in path.read_bytes()
    assert undo(store, last_change(store, memory_id)).masked == [memory_id]
    assert "secret removed" in read(store, memory_id).memory.text
    assert undo(store, last_change(store, memory_id)).masked == []


def test_a_secret_that_stays_is_kept_and_comes_back(store: Store) -> None:
    memory_id = remembered(store, f"The key is {TOKEN}.")
    before = read(store, memory_id).data
    revise(store, memory_id, Revision(pinned=True), keep_secrets=True)
    assert undo(store, last_change(store, memory_id)).masked == []
    assert read(store, memory_id).data == before


def test_a_secret_that_goes_by_hand_is_masked_with_the_next_change(store: Store) -> None:
    memory_id = remembered(store, f"The key is {TOKEN}.")
    path = revise(store, memory_id, Revision(tags=("net",)), keep_secrets=True).path
    path.write_text(path.read_text("utf-8").replace(TOKEN, "elsewhere"), "utf-8")
    sync(store)
    revise(store, memory_id, Revision(pinned=True))
    assert TOKEN.encode() not in everything(store.home / "history")


@pytest.mark.parametrize("trashed", [False, True])
def test_forgetting_for_good_leaves_no_version(store: Store, trashed: bool) -> None:
    memory_id = remembered(store, "zanzibarine is the word.")
    revise(store, memory_id, Revision(text="another word."))
    assert b"zanzibarine" in everything(store.home / "history")
    if trashed:
        forget(store, memory_id)

    forget(store, memory_id, forever=True)

    assert list((store.home / "history").rglob("*.md")) == []
    assert not places.history_folder(store.home, f"user/{memory_id}").exists()
    with pytest.raises(NotFound):
        history_of(store, memory_id)


def test_what_another_was_merged_into_loses_the_versions_that_say_it_and_is_named(
    store: Store, clock: Clock
) -> None:
    goes, stays = twins(store)
    clock.pass_days(1)
    tidy(store)
    revise(store, stays, Revision(text="Something else altogether."))
    own = [version.number for version in history_of(store, stays).versions]
    assert own == [2, 1]

    gone = forget(store, goes, forever=True)

    assert gone.heirs == (stays,)
    assert [version.number for version in history_of(store, stays).versions] == [1]  # of before the merge


def test_what_is_deleted_from_the_trash_takes_its_history_along(
    store: Store, clock: Clock, steady_use: None
) -> None:
    memory_id = remembered(store, "zanzibarine is the word.")
    revise(store, memory_id, Revision(text="another word."))
    forget(store, memory_id)
    clock.pass_days(91)
    clean_up(store, dry_run=False)
    assert list((store.home / "history").rglob("*.md")) == []


def test_a_project_that_moves_into_its_repository_keeps_its_history(
    store: Store, open_here: type[Opened], project: Path
) -> None:
    memory_id = remembered(store, "One.", level=Level.PROJECT)
    revise(store, memory_id, Revision(text="Two."))
    init(store)
    store = open_here().store()
    revise(store, memory_id, Revision(text="Three."))

    versions = history_of(store, memory_id).versions
    assert [version.memory and version.memory.text for version in versions] == ["Two.", "One."]
    assert all(version.path.is_relative_to(store.home) for version in versions)
    assert not list((project / ".claude-memory").rglob("*history*"))


def test_nothing_is_pruned_without_a_limit_and_a_persons_words_last_with_one(
    store: Store, open_here: type[Opened], clock: Clock
) -> None:
    big = "word " * 60_000  # 300 kB, in a conversation
    ids: dict[str, str] = {}
    for name, source in (("person", "manual"), ("machine", "extracted"), ("by hand", "extracted")):
        memory_id = ids[name] = remembered(store, f"{name} one", source=source)
        file = read(store, memory_id)
        moment = file.memory.updated.timestamp()
        os.utime(file.path, (moment, moment))  # the clock of the test stands still
        if name == "by hand":
            file.path.write_text(file.path.read_text("utf-8").replace("one", "two"), "utf-8")
            sync(store)
        clock.pass_days(1)
        revise(store, memory_id, Revision(text=big[:60_000]))
        revise(store, memory_id, Revision(text="short"), source="extracted" if name == "machine" else "")
    assert prune(store) == 0
    limited = open_here(MAX_HISTORY_SIZE_MB="1").store()
    assert prune(limited) == 0, "there is room"
    for _ in range(20):
        revise(limited, ids["person"], Revision(text=big[:60_000] + str(_)), source="manual")

    assert prune(limited) > 0

    paths_left = {
        name: [version.path for version in history_of(store, memory_id).versions]
        for name, memory_id in ids.items()
    }
    assert sum(path.lstat().st_size for paths in paths_left.values() for path in paths) <= 1024 * 1024
    assert paths_left["machine"] == []
    assert paths_left["person"]
