"""A project that gets a remote is known by that from then on, and keeps what it has."""

from pathlib import Path

import pytest

from mcp_server.actions.capture.capture import is_kept_here, keep
from mcp_server.actions.changes.history import history_of
from mcp_server.actions.context import claude_md
from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.in_context_already import chosen
from mcp_server.actions.context.notice import notice, offered
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.upkeep.adopt import adopt
from mcp_server.adapters.places import all_vaults
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Filter
from mcp_server.doors.shown.needs import notice as sentence
from mcp_server.store import Store
from tests.adapters.project.repositories import git, needs_git, repository
from tests.conftest import Open
from tests.recorded import Recorded, seen

pytestmark = needs_git
WEBHOOK = Draft("Webhook", "The webhook needs the raw body.", type="gotcha")


def pushed(open_here: Open, project: Path) -> Store:
    """Give *project* a remote, and return the store as it is seen then."""
    git(project, "remote", "add", "origin", "https://github.com/acme/shop.git")
    store = open_here().store()
    sync(store)
    return store


def test_memories_of_the_time_before_are_found_changed_and_forgotten(open_here: Open, project: Path) -> None:
    repository(project)
    before = open_here().store()
    remembered = remember(before, WEBHOOK)

    store = pushed(open_here, project)

    assert f"[{remembered.memory.id}]" in brief(store).text
    assert (
        revise(store, remembered.memory.id, Revision(text="It needs the raw body.")).path == remembered.path
    )
    forget(store, remembered.memory.id)
    assert restore(store, remembered.memory.id).path == remembered.path
    new = remember(store, Draft("Carts", "Carts live for a day."))
    assert store.project
    assert new.path.parent.parent.name == store.project.key != before.vaults[-1].key


def test_its_block_and_the_knowledge_in_the_repository_go_on(open_here: Open, project: Path) -> None:
    repository(project)
    init(open_here().store())
    claude_md.choose(open_here().store(), claude_md.CLAUDE_MD)
    remembered = remember(open_here().store(), WEBHOOK)

    store = pushed(open_here, project)

    assert f"[{remembered.memory.id}]" in brief(store).text
    assert sync(store, vaults=all_vaults(store.home, store.vaults)).changed == 0
    new = remember(store, Draft("Carts", "Carts live for a day.", type="decision"))
    assert new.path.is_relative_to(project)
    assert claude_md.refresh(store).changed
    assert "Carts" in (project / "CLAUDE.md").read_text(encoding="utf-8")


def test_what_another_remote_was_remembered_for_is_named_and_not_mixed_in(
    open_here: Open, project: Path
) -> None:
    repository(project, "https://github.com/acme/shop.git")
    first = open_here().store()
    remember(first, WEBHOOK)
    git(project, "remote", "set-url", "origin", "https://github.com/other/shop.git")

    store = open_here().store()

    assert store.project and first.project
    assert "Webhook" not in brief(store).text
    assert f"'daybook adopt {first.project.key}'" in sentence(notice(store, identity=""))
    assert adopt(store).moved == 1
    assert "Webhook" in brief(open_here().store()).text
    assert offered(open_here().store()) == []


def test_another_repository_at_the_same_path_takes_over_only_until_it_has_memories(
    open_here: Open, project: Path
) -> None:
    repository(project, "https://github.com/acme/shop.git")
    remember(open_here().store(), WEBHOOK)
    aside = project.rename(project.with_name("aside"))
    repository(project, "https://github.com/other/shop.git")

    store = open_here().store()
    assert [former.here for former in offered(store)] == [True]
    remember(store, Draft("Carts", "Carts live for a day."))
    assert offered(open_here().store()) == []
    assert "Webhook" in brief(open_here(aside).store()).text


@pytest.mark.parametrize("remote", ["", "https://github.com/acme/shop.git"])
@pytest.mark.parametrize("change", ["renamed", "another remote"])
def test_what_is_known_of_memories_in_the_repository_comes_along(
    open_here: Open, project: Path, remote: str, change: str
) -> None:
    repository(project, remote)
    gone = remember(open_here().store(), Draft("Carts", "Carts live for a day."))
    kept = remember(open_here().store(), WEBHOOK)
    init(open_here().store())
    claude_md.choose(open_here().store(), "CLAUDE.md")
    revise(open_here().store(), kept.memory.id, Revision(text="It needs the raw bytes."))
    forget(open_here().store(), gone.memory.id)
    if change == "renamed":
        project = project.rename(project.with_name("renamed"))
    else:
        git(project, "remote", "set-url" if remote else "add", "origin", "https://github.com/acme/cart.git")
    opened = open_here(project)
    sync(opened.store())

    if remote or change == "renamed":  # where a remote is new, the project goes on as it is
        assert len(offered(opened.store(), thorough=False)) == 1
        assert adopt(opened.store()).moved == 1

    store = opened.store()
    assert offered(store) == []
    assert store.vaults[-1].adopted
    assert chosen(store) == "CLAUDE.md"
    assert history_of(store, kept.memory.id).versions[-1].memory == kept.memory
    restore(store, gone.memory.id)
    assert list_memories(store, Filter()).total == 2
    assert list_memories(store.everywhere(), Filter()).total == 2


def test_a_session_of_the_time_before_is_still_learned_from(
    open_here: Open, project: Path, recorded: Recorded
) -> None:
    repository(project)
    before = open_here().store()
    recorded.user("The webhook needs the raw body.")
    transcript = seen(before, recorded)
    keep(before, transcript)

    assert is_kept_here(pushed(open_here, project), transcript)
