"""A link where a repository's vault needs a folder is neither read nor written, and told."""

import contextlib
import hashlib
import shutil
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init, refused, share, trust
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.status.doctor import doctor
from mcp_server.actions.status.status import status
from mcp_server.actions.upkeep.maintain import clean_up
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.errors import DaybookError, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Filter, Query
from mcp_server.doors.shown.state import needs as needs_of
from mcp_server.store import Store
from tests.conftest import Open
from tests.durability.served import Served, eventually
from tests.live import ROOT

PLACES = (".claude-memory", ".claude-memory/knowledge", ".claude-memory/archive")


@pytest.fixture
def foreign(tmp_path: Path, open_here: Open) -> Path:
    """The vault of another project: private, with one memory, which the person would not have seen here."""
    other = tmp_path / "other"
    other.mkdir()
    remembered = remember(open_here(other).store(), Draft("Salary", "Flamingo earns a hundred."))
    (remembered.path.parents[1] / "archive").mkdir(exist_ok=True)
    return remembered.path.parents[1]


def print_of(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".daybook.lock"]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def put_link(project: Path, place: str, foreign: Path) -> Path:
    """Let a link to the *foreign* vault, or to the like folder in it, stand at *place* in the project."""
    link = project / place
    link.parent.mkdir(exist_ok=True)
    if link.exists():
        shutil.rmtree(link)
    link.symlink_to(foreign / Path(place).relative_to(".claude-memory"))
    if place == ".claude-memory/archive":
        (project / ".claude-memory/knowledge").mkdir(exist_ok=True)
    return link


def every_verb(store: Store) -> None:
    """Do all that reads and writes memories here; what is refused is refused."""
    for verb in (
        lambda: sync(store),
        lambda: rebuild(store),
        lambda: remember(store, Draft("New", "a pelican")),
        lambda: revise(store, "new", Revision(text="a pelican dives")),
        lambda: forget(store, "new"),
        lambda: restore(store, "new"),
        lambda: forget(store, "kept"),
        lambda: restore(store, "kept"),
        lambda: revise(store, "kept", Revision(text="a grey heron")),
        lambda: trust(store),
        lambda: init(store),
        lambda: share(store),
        lambda: tidy(store),
        lambda: clean_up(store, dry_run=False),
    ):
        with contextlib.suppress(DaybookError):
            verb()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("moment", ["with the clone", "by a pull", "while a store is open"])
def test_a_link_is_neither_read_nor_written_and_told(
    place: str, moment: str, foreign: Path, project: Path, open_here: Open
) -> None:
    opened = open_here()
    if moment != "with the clone":
        init(opened.store())
        path = remember(opened.store(), Draft("Kept", "a heron")).path
        assert path.is_relative_to(project)
    before = print_of(foreign)
    store = opened.store()
    link = put_link(project, place, foreign)

    every_verb(store if moment == "while a store is open" else opened.store())

    assert print_of(foreign) == before
    assert link.is_symlink()
    reopened = opened.store()
    sync(reopened)
    assert recall(reopened, Query("flamingo salary")).hits == ()
    assert "Salary" not in [row.title for row in list_memories(reopened, Filter()).rows]
    assert remember(reopened, Draft("Another", "a stork")).path.is_relative_to(reopened.home)
    sentence = f"{link} is a symbolic link, so it is neither read nor written."
    assert sentence in str(refused(reopened))
    assert sentence in " ".join(needs_of(status(reopened, has_key=False)))
    assert sentence in " ".join(str(check.seen) for check in doctor(reopened, plugin=ROOT))
    for verb in (init, share):
        with pytest.raises(Rejected, match="symbolic link"):
            verb(reopened)
    assert print_of(foreign) == before


@pytest.mark.parametrize("target", ["kept.txt", "missing.txt"])
def test_a_link_for_the_file_that_tells_git_what_to_ignore_is_refused(
    target: str, project: Path, open_here: Open
) -> None:
    init(open_here().store())
    (project / "kept.txt").write_text("*\n", encoding="utf-8")
    ignore = project / ".claude-memory/.gitignore"
    ignore.unlink()
    ignore.symlink_to(f"../{target}")
    for verb in (init, share):
        with pytest.raises(Rejected, match="symbolic link"):
            verb(open_here().store())
    assert (project / "kept.txt").read_text(encoding="utf-8") == "*\n"
    assert not (project / "missing.txt").exists()


def test_a_link_into_the_repository_itself_is_one_too(project: Path, open_here: Open) -> None:
    memories = project / "docs/knowledge"
    memories.mkdir(parents=True)
    (memories / "a.md").write_text("a flamingo", encoding="utf-8")
    (project / ".claude-memory").symlink_to("docs")
    store = open_here().store()
    sync(store)

    assert recall(store, Query("flamingo")).hits == ()
    (project / ".claude-memory").unlink()
    (project / "docs").rename(project / ".claude-memory")
    store = open_here().store()
    sync(store)
    assert len(recall(store, Query("flamingo")).hits) == 1


def test_the_watcher_does_not_follow_a_link_that_comes_while_it_watches(
    project: Path, foreign: Path, memory_dir: Path, open_here: Open
) -> None:
    init(open_here().store())
    with Served(memory_dir, project) as server:
        server.greet()
        server.call("remember", title="Kept", content="a heron")
        before = print_of(foreign)
        put_link(project, ".claude-memory", foreign)
        (memory_dir / "knowledge").mkdir(exist_ok=True)
        (memory_dir / "knowledge/stork.md").write_text("a stork", encoding="utf-8")
        eventually(
            lambda: "stork" in server.call("recall", query="stork"), "the watcher takes in what is ours"
        )

        assert "Flamingo" not in server.call("recall", query="flamingo salary")
        assert "remembered" in server.call("remember", title="New", content="a pelican")
    assert print_of(foreign) == before
