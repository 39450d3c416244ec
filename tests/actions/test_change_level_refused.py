"""What moves to no other level and why, and what a move into or out of a repository means."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.context.brief import brief
from mcp_server.actions.files.between_vaults import NOTE
from mcp_server.actions.files.read import is_accepted, is_shown, read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.files.vanished_folders import take_losses
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.change_level import change_level, check_level
from mcp_server.actions.memory.conversation import save_conversation
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.repository import init, share, trust
from mcp_server.actions.memory.session import save_session
from mcp_server.core.errors import Conflict, NotFound, PlaceTaken, Rejected
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.actions.test_change_level import LONGER, level, of_project, of_user
from tests.conftest import Open
from tests.durability.stepped import stepped


@dataclass(frozen=True)
class Here:
    store: Store
    project: Path


def _archived(place: Here) -> str:
    memory_id = of_project(place.store)
    archive(place.store, [memory_id])
    return memory_id


def _superseded(place: Here) -> str:
    memory_id = of_project(place.store)
    of_project(place.store, "Later", LONGER, supersedes=(memory_id,))
    return memory_id


def _forgotten(place: Here) -> str:
    memory_id = of_project(place.store)
    forget(place.store, memory_id)
    return memory_id


def _conversation(place: Here) -> str:
    return save_conversation(place.store, "Talk", [{"role": "user", "content": "Hello."}]).memory.id


def _session(place: Here) -> str:
    return save_session(place.store, "Half done", "Going on.", folder=place.project).memory.id


def _said_there(place: Here) -> str:
    of_user(place.store)
    return of_project(place.store)


def _named_alike(place: Here) -> str:
    of_user(place.store, "Other", LONGER, id="uploads")
    path = place.store.vaults[-1].root / "knowledge" / "uploads.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\nid: uploads\n---\nOf the project.\n", encoding="utf-8")
    sync(place.store)
    return "uploads"


@pytest.mark.parametrize(
    ("prepare", "why", "hint"),
    [
        (_archived, "'{id}' is archived; only active memories move between levels.", "daybook restore {id}"),
        (_superseded, "'{id}' is superseded; only active memories move", "daybook restore {id}"),
        (_forgotten, "'{id}' is in the trash.", "daybook restore {id}"),
        (_conversation, "'{id}' is a conversation; only knowledge moves between levels.", "Remember what"),
        (_session, "'{id}' is a session; only knowledge moves between levels.", "Remember what matters"),
        (_said_there, "already says the same at user level.", "Forget one of the two."),
        (_named_alike, "Another memory has the id '{id}' at user level.", "another id in its file"),
    ],
)
def test_what_cannot_move_stays_and_the_answer_says_why(
    store: Store, project: Path, prepare: Callable[[Here], str], why: str, hint: str
) -> None:
    memory_id = prepare(Here(store, project))
    before = {path: path.read_bytes() for path in store.home.rglob("*.md")}

    for attempt in (change_level, check_level):
        with pytest.raises(Rejected) as refused:
            attempt(store, memory_id, Level.USER)
        assert why.format(id=memory_id) in str(refused.value)
        assert hint.format(id=memory_id) in refused.value.hint

    assert {path: path.read_bytes() for path in store.home.rglob("*.md")} == before


def test_what_nobody_knows_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        change_level(store, "nothing-a1b2", Level.USER)


def test_without_a_project_there_is_nowhere_to_move(open_here: Open, scratch_home: Path) -> None:
    store = open_here(scratch_home).store()
    memory_id = of_user(store)

    with pytest.raises(Rejected, match=f"There is no project here to move '{memory_id}' to."):
        change_level(store, memory_id, Level.PROJECT)


def test_what_is_shadowed_here_cannot_move_here(store: Store) -> None:
    old = of_user(store)
    new = of_project(store, "Here", LONGER, supersedes=(old,))

    with pytest.raises(Rejected, match=f"In this project '{new}' shadows '{old}'"):
        change_level(store, old, Level.PROJECT)
    assert level(store, old) is Level.USER


def test_at_its_own_level_nothing_is_done(store: Store) -> None:
    memory_id = of_project(store)
    last_name = last_change(store, memory_id).name

    change = change_level(store, memory_id, Level.PROJECT)

    assert (change.old_vault, change.file) == (None, read(store, memory_id))
    assert last_change(store, memory_id).name == last_name


def test_a_file_in_the_way_is_left_alone(store: Store) -> None:
    memory_id = of_project(store)
    path = store.home / "knowledge" / f"{memory_id}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("---\nid: other\n---\nIn the way.\n", encoding="utf-8")
    before = path.read_bytes()

    with pytest.raises(PlaceTaken):
        change_level(store, memory_id, Level.USER)

    assert path.read_bytes() == before
    assert level(store, memory_id) is Level.PROJECT
    assert not (store.home / "work" / NOTE).exists()


def test_of_two_that_move_it_at_once_the_later_is_told(store: Store) -> None:
    memory_id = of_project(store)
    place = read(store, memory_id).path
    elsewhere = store.home / "knowledge" / "theirs.md"
    elsewhere.parent.mkdir(exist_ok=True)
    road = stepped(lambda: check_level(store, memory_id, Level.USER), {})

    with pytest.raises(Conflict, match="was moved or forgotten meanwhile"):
        stepped(
            lambda: change_level(store, memory_id, Level.USER),
            {len(road) + 1: lambda: place.rename(elsewhere)},
        )

    assert level(store, memory_id) is Level.USER
    assert not (store.home / "work" / NOTE).exists()


@pytest.fixture
def shared(open_here: Open, store: Store) -> Store:
    """A project that shares its knowledge through its repository."""
    init(store)
    reopened = open_here().store()
    share(reopened)
    return reopened


def test_a_move_into_a_shared_repository_is_told_and_what_was_shown_stays_so(shared: Store) -> None:
    own = of_user(shared)
    waiting = of_user(shared, "Claude's", LONGER, source="assistant")
    by_hand = shared.home / "knowledge" / "by hand.md"
    by_hand.write_text("# By hand\n\nWritten in an editor.\n", encoding="utf-8")
    sync(shared)

    for memory_id, is_told in ((own, True), ("by-hand", True), (waiting, False)):
        change = change_level(shared, memory_id, Level.PROJECT)
        assert change.shared
        assert change.file.vault.in_repository
        assert is_shown(shared, change.file) is is_told
    undo(shared, last_change(shared, own))
    assert is_shown(shared, read(shared, own))
    undo(shared, last_change(shared, own))
    assert is_shown(shared, read(shared, own))


def test_a_private_repository_and_a_private_project_share_nothing(open_here: Open, store: Store) -> None:
    assert not change_level(store, of_user(store), Level.PROJECT).shared
    init(store)
    reopened = open_here().store()
    change = change_level(reopened, of_user(reopened, "Other", LONGER), Level.PROJECT)
    assert change.file.vault.in_repository and not change.shared


def test_a_move_out_of_the_repository_keeps_what_was_accepted_and_reports_no_loss(shared: Store) -> None:
    memory_id = of_project(shared)
    sync(shared)

    change = change_level(shared, memory_id, Level.USER)
    sync(shared)

    assert change.shared and is_accepted(shared, change.file) and is_shown(shared, change.file)
    assert take_losses(shared.home) == []
    forget(shared, memory_id)
    assert restore(shared, memory_id).vault == shared.user_vault
    undo(shared, last_change(shared, memory_id))
    undo(shared, last_change(shared, memory_id))
    assert memory_id not in brief(shared).text


def test_what_the_person_accepted_of_a_document_is_told_outside_the_repository_too(shared: Store) -> None:
    memory_id = of_project(shared, source="seeded")
    trust(shared, [memory_id])
    assert is_shown(shared, read(shared, memory_id))

    assert is_shown(shared, change_level(shared, memory_id, Level.USER).file)

    undo(shared, last_change(shared, memory_id))
    file = read(shared, memory_id)
    assert (file.memory.source, file.vault.in_repository) == ("seeded", True)
    assert is_shown(shared, file)


def test_what_others_wrote_into_the_repository_does_not_become_the_persons_by_a_move(
    shared: Store, open_here: Open
) -> None:
    memory_id = of_project(shared)
    path = read(shared, memory_id).path
    path.write_bytes(path.read_bytes().replace(b"30 seconds", b"45 seconds"))
    sync(shared)

    with pytest.raises(Rejected, match="is in the repository and is not accepted yet") as refused:
        change_level(shared, memory_id, Level.USER)
    assert f"daybook trust {memory_id}" in refused.value.hint
    trust(shared, [memory_id])
    assert is_shown(shared, change_level(shared, memory_id, Level.USER).file)


def test_from_a_repository_that_is_only_read_nothing_is_taken(
    store: Store, open_here: Open, project: Path
) -> None:
    folder = project / ".claude-memory" / "knowledge"
    folder.mkdir(parents=True)
    path = folder / "theirs.md"
    path.write_text("---\nid: theirs\n---\nCame with a clone.\n", encoding="utf-8")
    reopened = open_here().store()
    sync(reopened)

    with pytest.raises(Rejected, match="'theirs' came with the repository"):
        change_level(reopened, "theirs", Level.USER)
    assert path.is_file()
    change = change_level(reopened, of_user(reopened), Level.PROJECT)
    assert not change.file.vault.in_repository


def test_a_secret_goes_into_the_repository_only_when_it_was_said_so(shared: Store) -> None:
    text = "The gateway's key is AKIAIOSFODNN7EXAMPLQ."
    memory_id = of_user(shared, "Key", "It has one.")
    path = read(shared, memory_id).path
    path.write_text(path.read_text().replace("It has one.", text), encoding="utf-8")

    with pytest.raises(Rejected, match="This seems to contain"):
        change_level(shared, memory_id, Level.PROJECT)
    assert level(shared, memory_id) is Level.USER
    assert change_level(shared, memory_id, Level.PROJECT, keep_secrets=True).file.vault.in_repository
    change_level(shared, memory_id, Level.USER)
