import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.context.claude_md import CLAUDE_MD, choose
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.files.trash import forgotten
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.core.errors import Conflict, NotFound, PlaceTaken, Rejected, Unreadable
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Status
from mcp_server.core.search.query import Query
from mcp_server.store import Store

CANARY = "xylophone-quartz-7741"


@pytest.fixture
def retry_rule(store: Store) -> str:
    return remember(store, Draft("Deploys", f"We deploy {CANARY}.")).memory.id


def ids(store: Store) -> list[str]:
    return [hit.id for hit in recall(store, Query("deploy")).hits]


def test_a_link_to_nowhere_in_the_trash_hides_no_file_beside_it(store: Store, retry_rule: str) -> None:
    gone = forget(store, retry_rule)
    assert gone.path
    gone.path.with_name(f"{retry_rule}.2.md").symlink_to("nowhere")

    with pytest.raises(NotFound):
        read(store, retry_rule)
    assert [trashed.path for trashed, _ in forgotten(store, store.vaults)] == [gone.path]
    forget(store, restore(store, retry_rule).memory.id)


@pytest.mark.feature("A-23")
def test_a_forgotten_memory_waits_in_the_trash_and_comes_back_whole(store: Store, retry_rule: str) -> None:
    data = read(store, retry_rule).data

    gone = forget(store, retry_rule)

    assert ids(store) == []
    assert gone.path
    assert gone.path.is_relative_to(store.home / "trash")
    assert restore(store, retry_rule).data == data
    assert ids(store) == [retry_rule]


@pytest.mark.parametrize("folder", ["knowledge", "archive"])
def test_a_file_by_hand_comes_back_under_the_name_that_is_its_title(store: Store, folder: str) -> None:
    path = store.user_vault.root / folder / "Über uns.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"We deploy {CANARY}.", encoding="utf-8")
    sync(store)
    if folder == "knowledge":
        forget(store, "uber-uns")

    back = restore(store, "uber-uns")

    assert (back.memory.id, back.memory.title, back.path.name) == ("uber-uns", "Über uns", "Über uns.md")
    assert ids(store) == ["uber-uns"]


@pytest.mark.parametrize("name", [f"{'long ' * 40}.md", "deploys.markdown", "deploys.MD"])
def test_a_file_by_hand_comes_back_with_its_name_and_byte_for_byte(store: Store, name: str) -> None:
    path = store.user_vault.root / "knowledge" / name
    path.parent.mkdir(parents=True)
    path.write_text("We deploy on Fridays.\n", encoding="utf-8")
    for _ in range(2):
        sync(store)
        (memory_id,) = ids(store)
        title = read(store, memory_id).memory.title

        forget(store, memory_id)
        back = restore(store, memory_id)

        assert (back.path, back.memory.title) == (path, title)
        assert back.data == b"We deploy on Fridays.\n"


@pytest.mark.parametrize("data", [b"", "We deploy.".encode("utf-16")])
def test_a_file_that_cannot_be_read_comes_back_as_it_is_and_the_answer_says_so(
    store: Store, retry_rule: str, data: bytes
) -> None:
    path = read(store, retry_rule).path
    path.write_bytes(data)
    sync(store)
    forget(store, retry_rule)

    with pytest.raises(Unreadable, match=f"^{re.escape(str(path))}:?1?: was restored, and is "):
        restore(store, retry_rule)

    assert path.read_bytes() == data
    assert [problem.path for problem in sync(store).unreadable] == [str(path)]


def test_a_sync_does_not_bring_back_what_was_forgotten(store: Store, retry_rule: str) -> None:
    forget(store, retry_rule)
    sync(store)

    assert ids(store) == []
    with pytest.raises(NotFound):
        read(store, retry_rule)


def test_the_same_id_can_be_forgotten_twice_and_the_newest_comes_back(store: Store) -> None:
    for text in ("First.", "Second."):
        remember(store, Draft("Plan", text, id="plan"))
        forget(store, "plan")

    assert restore(store, "plan").memory.text == "Second."
    with pytest.raises(PlaceTaken):
        restore(store, "plan")


def _undone(store: Store, memory_id: str) -> object:
    return undo(store, last_change(store, memory_id))


@pytest.mark.parametrize(
    ("damage", "take_back"), [(b"", restore), (b"---\nid: [\n", restore), (b"", _undone)]
)
def test_a_file_in_the_way_stays_and_is_named(
    store: Store, damage: bytes, take_back: Callable[[Store, str], object]
) -> None:
    file = read(store, remember(store, Draft("Plan", "First.", id="plan")).memory.id)
    trashed = forget(store, "plan").path
    assert trashed
    trashed.write_bytes(damage + file.data)
    file.path.write_bytes(b"In the way.\n")

    with pytest.raises((PlaceTaken, Conflict), match=re.escape(f"{file.path} exists already.")):
        take_back(store, "plan")

    assert (file.path.read_bytes(), trashed.read_bytes()) == (b"In the way.\n", damage + file.data)


def test_forgetting_for_good_leaves_no_byte_of_the_text(store: Store, retry_rule: str) -> None:
    remember(store, Draft("Other", "Stays."))
    forget(store, retry_rule)
    restore(store, retry_rule)

    assert forget(store, retry_rule, forever=True).path is None

    holders = [path for path in every_file(store.home) if CANARY.encode() in path.read_bytes()]
    assert holders == []
    words = [path for path in every_file(store.home) if b"xylophone" in path.read_bytes()]
    assert words == []


def every_file(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_forgetting_for_good_takes_the_line_out_of_the_block(
    store: Store, project: Path, retry_rule: str
) -> None:
    choose(store, CLAUDE_MD)
    block = project / CLAUDE_MD
    assert CANARY in block.read_text(encoding="utf-8")

    forget(store, retry_rule, forever=True)

    assert CANARY not in block.read_text(encoding="utf-8")


def test_what_lies_in_the_trash_can_be_deleted_for_good(store: Store, project: Path, retry_rule: str) -> None:
    choose(store, CLAUDE_MD)
    forget(store, retry_rule)

    forget(store, retry_rule, forever=True)

    assert [path for path in every_file(project.parent) if CANARY.encode() in path.read_bytes()] == []
    with pytest.raises(NotFound):
        restore(store, retry_rule)


def test_an_active_memory_needs_no_restoring(store: Store, retry_rule: str) -> None:
    with pytest.raises(Rejected, match="is already active"):
        restore(store, retry_rule)


@pytest.mark.parametrize("odd", ["../../etc/passwd", "/etc/passwd", "a/b", "", "*", "nul\0"])
def test_an_id_that_is_a_path_leads_nowhere(store: Store, odd: str) -> None:
    with pytest.raises((NotFound, Rejected)):
        forget(store, odd)
    with pytest.raises((NotFound, Rejected)):
        restore(store, odd)


def test_what_the_forgotten_one_had_superseded_is_told_and_can_be_restored(store: Store) -> None:
    old = remember(store, Draft("Port", "Staging listens on 8080.")).memory.id
    new = remember(store, Draft("Port of staging", "It is 9090 now.", supersedes=(old,))).memory.id

    gone = forget(store, new)

    assert gone.superseded == (old,)
    assert forget(store, remember(store, Draft("Other", "Nothing to do with it.")).memory.id).superseded == ()
    assert restore(store, old).memory.status is Status.ACTIVE


def test_what_was_forgotten_is_said_to_be_and_no_neighbour_is_offered_instead(store: Store) -> None:
    neighbour = remember(store, Draft("Retry rule", "Wait thirty seconds.")).memory.id
    gone = remember(store, Draft("Retry rule of the mailer", "Wait an hour.")).memory.id
    forget(store, gone)

    for verb in (read, forget):
        with pytest.raises(NotFound) as missing:
            verb(store, gone)
        assert f"daybook restore {gone}" in missing.value.hint
        assert neighbour not in missing.value.hint


@pytest.mark.parametrize("verb", [read, forget, restore])
def test_a_title_in_place_of_an_id_is_answered_with_the_id(
    store: Store, verb: Callable[[Store, str], object]
) -> None:
    memory_id = remember(store, Draft("Retry rule", "Wait thirty seconds.")).memory.id
    forget(store, remember(store, Draft("Lamps", "Lit at dusk.")).memory.id)

    with pytest.raises(NotFound) as missing:
        verb(store, "Retry rule")

    assert memory_id in missing.value.hint
