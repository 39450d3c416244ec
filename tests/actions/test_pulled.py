"""A pull that changes or deletes what the person accepted of a repository: it waits, is told, comes back."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from mcp_server.actions.changes.history import ByOthers, history_of, version_of
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.inject import inject
from mcp_server.actions.context.notice import notice
from mcp_server.actions.files.read import read
from mcp_server.actions.files.size_limit import prune
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.files.vanished_folders import take_losses
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init, share, trust
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.review.review import ORIGIN, review
from mcp_server.adapters import places
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.remarks import GoneAccepted
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.doors.shown.review import about, why
from mcp_server.store import Store
from tests.adapters.project.repositories import git
from tests.conftest import Clock, Open

OURS = "The gateway ends large uploads after 30 seconds."
THEIRS = "The gateway ends large uploads after 60 seconds."
PROMPT = "why does the gateway end large uploads so early?"


class Teammate:
    """A clone of the project, whose pushes the person's checkout pulls."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.project, self.folder = project, folder
        git(project, "clone", "-q", str(project), str(folder))

    @property
    def knowledge(self) -> Path:
        return self.folder / ".claude-memory" / "knowledge"

    def push(self) -> None:
        """Let the person have pulled all that the clone says now."""
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-qm", "changed")
        git(self.project, "pull", "-q", "--no-rebase", str(self.folder), "HEAD")


def changed(project: Path, tmp_path: Path) -> Teammate:
    """Let a teammate have changed the memory that is shared, and not pushed it yet."""
    mate = Teammate(project, tmp_path / "mate")
    file = next(mate.knowledge.glob("*.md"))
    file.write_text(file.read_text().replace("30 seconds", "60 seconds"))
    return mate


def commit_all(project: Path) -> None:
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first", "--allow-empty"]):
        git(project, *arguments)


def own(open_here: Open, project: Path) -> tuple[Store, str]:
    """Share a memory of the person's own through the repository; return the store and its id."""
    store = open_here().store()
    memory_id = remember(store, Draft("Gateway uploads", OURS, type="gotcha", level=Level.PROJECT)).memory.id
    init(store)
    store = open_here().store()
    share(store)
    commit_all(project)
    return store, memory_id


def trusted(open_here: Open, project: Path) -> tuple[Store, str]:
    """Accept a memory that came with the repository; return the store and its id."""
    folder = project / ".claude-memory" / "knowledge"
    folder.mkdir(parents=True)
    (folder / "gateway-uploads.md").write_text(f"---\ntitle: Gateway uploads\ntype: gotcha\n---\n{OURS}\n")
    commit_all(project)
    store = open_here().store()
    trust(store)
    return store, "gateway-uploads"


WAYS = pytest.mark.parametrize("way", [own, trusted])
Way = Callable[[Open, Path], tuple[Store, str]]


def context_of(store: Store, session: str) -> str:
    return brief(store).text + inject(store.in_session(session), PROMPT)


@WAYS
def test_what_a_pull_changes_waits_and_the_start_and_review_say_what_differs(
    way: Way, open_here: Open, project: Path, tmp_path: Path
) -> None:
    store, memory_id = way(open_here, project)
    mate = changed(project, tmp_path)
    assert "30 seconds" in context_of(store, "before")

    mate.push()
    sync(store)

    assert "60 seconds" not in context_of(store, "after")
    notice_text = sentence(notice(store, identity=""))
    assert "1 memory, of which 1 changed since you accepted" in notice_text
    (entry,) = [entry for entry in review(store).entries if entry.kind == ORIGIN]
    assert "since you accepted it" in why(entry)
    assert entry.before and "30 seconds" in entry.before.differs and "60 seconds" in entry.before.differs
    assert f"daybook restore {memory_id}" in about(entry)[-1]
    rebuild(store)
    assert sentence(notice(store, identity="")) == notice_text
    latest = history_of(store, memory_id).versions[0]
    assert "60 seconds" in latest.differs
    assert OURS in version_of(store, memory_id, latest.number)[1]


@WAYS
def test_restore_brings_back_what_was_accepted_before_a_pull_changed_it(
    way: Way, open_here: Open, project: Path, tmp_path: Path
) -> None:
    store, memory_id = way(open_here, project)
    path = read(store, memory_id).path
    accepted = path.read_bytes()
    mate = changed(project, tmp_path)
    mate.push()
    sync(store)
    pulled = path.read_bytes()

    restore(store, memory_id)

    assert path.read_bytes() == accepted
    assert "30 seconds" in context_of(store, "after")
    undo(store, last_change(store, memory_id))
    assert path.read_bytes() == pulled
    assert "60 seconds" not in context_of(store, "later")


@WAYS
def test_what_a_pull_deletes_is_told_once_and_comes_back_as_it_was_accepted(
    way: Way, open_here: Open, project: Path, tmp_path: Path
) -> None:
    store, memory_id = way(open_here, project)
    path = read(store, memory_id).path
    accepted = path.read_bytes()
    mate = Teammate(project, tmp_path / "mate")
    next(mate.knowledge.glob("*.md")).unlink()
    mate.push()
    store = open_here().store()

    sync(store)

    notice_text = sentence(notice(store, identity=""))
    assert "1 memory that you accepted is gone" in notice_text and f": {memory_id}" in notice_text
    assert "accepted" not in sentence(notice(store, identity=""))
    sync(store)
    assert take_losses(store.home) == []
    (version,) = history_of(store, memory_id).versions
    assert version.others is ByOthers.REMOVED

    restore(store, memory_id)

    assert path.read_bytes() == accepted
    store = open_here().store()
    assert "30 seconds" in context_of(store, "after")
    undo(store, last_change(store, memory_id))
    assert not path.exists()


def test_a_pull_that_deletes_some_of_many_names_those(open_here: Open, project: Path, tmp_path: Path) -> None:
    store, _ = own(open_here, project)
    more = [
        remember(store, Draft(f"Port {letter}", f"Service {letter} listens on 80{letter}."))
        for letter in "abc"
    ]
    commit_all(project)
    mate = Teammate(project, tmp_path / "mate")
    for remembered in more[:2]:
        (mate.knowledge / remembered.path.name).unlink()
    (mate.knowledge / "new.md").write_text("---\ntitle: New\n---\nA new memory.\n")
    mate.push()
    sync(store)
    (mate.knowledge / more[2].path.name).unlink()
    (mate.knowledge / "new.md").unlink()  # nobody had accepted it
    mate.push()

    sync(store)

    (loss,) = take_losses(store.home)
    assert isinstance(loss, GoneAccepted) and {*loss.ids} == {memory.memory.id for memory in more}


def test_what_another_branch_lacks_and_this_one_has_again_is_as_before(
    open_here: Open, project: Path, tmp_path: Path
) -> None:
    store, _ = own(open_here, project)
    folder = project / ".claude-memory"
    shutil.move(folder, tmp_path / "away")
    without_folder = open_here().store()
    sync(without_folder)
    shutil.move(tmp_path / "away", folder)

    store = open_here().store()
    sync(store)

    assert take_losses(store.home) == []
    assert "30 seconds" in context_of(store, "back")


def test_what_daybook_itself_moved_away_or_deleted_is_not_told(open_here: Open, project: Path) -> None:
    store, memory_id = own(open_here, project)
    other = remember(store, Draft("Another", "It goes for good.", level=Level.PROJECT))
    third = remember(store, Draft("A third", "Somebody renames its file.", level=Level.PROJECT))
    forget(store, memory_id)
    forget(store, other.memory.id, forever=True)
    third.path.rename(third.path.with_name("another-name.md"))
    killed = remember(store, Draft("A fourth", "Who forgot it was killed before the index knew."))
    trash = places.trash_folder(store.home, read(store, killed.memory.id).vault) / "knowledge"
    trash.mkdir(parents=True, exist_ok=True)
    killed.path.rename(trash / killed.path.name)

    sync(store)

    assert take_losses(store.home) == []
    with pytest.raises(NotFound):
        restore(store, other.memory.id)
    assert restore(store, memory_id).memory.text.strip() == OURS


def test_each_accepted_state_is_kept_and_the_last_comes_back_also_from_a_new_index(
    open_here: Open, project: Path, clock: Clock
) -> None:
    store, memory_id = own(open_here, project)
    for seconds in (40, 50):
        clock.now += timedelta(hours=1)
        revise(store, memory_id, Revision(text=OURS.replace("30", str(seconds))))
    path = read(store, memory_id).path
    accepted = path.read_bytes()
    before = sorted(path.name for path in (store.home / "history").rglob("*.md"))

    rebuild(store)
    path.unlink()
    sync(store)

    assert sorted(path.name for path in (store.home / "history").rglob("*.md")) == before
    assert take_losses(store.home)
    restore(store, memory_id)
    assert path.read_bytes() == accepted


def test_pruning_spares_what_was_accepted_last(open_here: Open, project: Path) -> None:
    store, memory_id = own(open_here, project)
    for number in range(30):
        revise(store, memory_id, Revision(text=f"{OURS} {number} {'words ' * 10_000}"))
    store = open_here(MAX_HISTORY_SIZE_MB="1").store()
    path = read(store, memory_id).path
    accepted = path.read_bytes()

    assert prune(store)

    path.unlink()
    sync(store)
    restore(store, memory_id)
    assert path.read_bytes() == accepted
