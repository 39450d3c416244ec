"""What three projects say in the same words is offered to the person once, for all projects."""

from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review.entries import Became, Entry, Verdict
from mcp_server.actions.review.review import EVERYWHERE, review, settle
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Query
from mcp_server.doors.shown.review import choices, why
from mcp_server.store import Store
from tests.conftest import Clock, Open

RULE = "Commits are signed with the work key."


def remembered(store: Store, text: str = RULE, **more: object) -> str:
    return remember(store, Draft("Signing", text, **{"type": "pattern", **more})).memory.id  # type: ignore[arg-type]


def offered(store: Store) -> list[Entry]:
    return [entry for entry in review(store).entries if entry.kind == EVERYWHERE]


def ids_in_brief(store: Store) -> list[str]:
    return [hit.id for hit in recall(store, Query("commits signed work key")).hits]


@pytest.fixture
def projects(tmp_path: Path, open_here: Open) -> list[Store]:
    """The store as four projects see it."""
    folders = [tmp_path / name for name in ("shop", "office", "lab", "attic")]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    return [open_here(folder).store() for folder in folders]


def test_what_three_projects_say_is_offered_there_alone_and_two_are_no_reason(projects: list[Store]) -> None:
    shop, office, lab, attic = projects
    for store in (shop, office):
        remembered(store, level=Level.PROJECT)
    remembered(shop, "Commits are signed with any key.", level=Level.PROJECT)
    assert offered(shop) == []

    own = remembered(lab, RULE.upper(), level=Level.PROJECT)

    (entry,) = offered(lab)
    assert (entry.id, entry.answers) == (own, (Verdict.ACCEPT, Verdict.REJECT, Verdict.LATER))
    assert all(name in why(entry) for name in ("shop", "office", "lab"))
    assert "for all projects" in choices(entry)["accept"]
    assert [len(offered(store)) for store in projects] == [1, 1, 1, 0]
    rebuild(attic.everywhere())
    assert len(offered(shop)) == 1


def test_kept_once_it_is_the_persons_and_those_of_the_projects_gave_way(projects: list[Store]) -> None:
    ids = [
        remembered(store, level=Level.PROJECT, tags=(f"of-{at}",)) for at, store in enumerate(projects[:3])
    ]
    shop, attic = projects[0], projects[3]
    (entry,) = offered(shop)

    assert settle(shop, entry, Verdict.ACCEPT) is Became.ACCEPTED

    old = [read(store, own).memory for store, own in zip(projects[:3], ids, strict=True)]
    assert {memory.status for memory in old} == {Status.SUPERSEDED}
    (heir,) = {memory.superseded_by for memory in old}
    heirs_file = read(attic, heir)
    assert (heirs_file.vault.level, heirs_file.memory.text) == (Level.USER, RULE)
    assert set(heirs_file.memory.tags) == {"of-0", "of-1", "of-2"}
    assert [ids_in_brief(store) for store in projects] == 4 * [[heir]]
    assert [offered(store) for store in projects] == 4 * [[]]


def test_what_is_said_at_the_user_level_already_is_one_memory_with_it(
    projects: list[Store], clock: Clock
) -> None:
    everywhere = remembered(projects[3], level=Level.USER)
    clock.pass_days(1)
    for store in projects[:3]:
        remembered(store, level=Level.PROJECT)
    (entry,) = offered(projects[0])

    settle(projects[0], entry, Verdict.ACCEPT)

    (heir,) = ids_in_brief(projects[0])
    assert heir != everywhere
    assert read(projects[3], everywhere).memory.status is Status.SUPERSEDED


def test_kept_as_they_are_nobody_is_asked_again_though_a_fourth_says_it(projects: list[Store]) -> None:
    for store in projects[:3]:
        remembered(store, level=Level.PROJECT)
    (entry,) = offered(projects[1])

    assert settle(projects[1], entry, Verdict.REJECT) is Became.REJECTED

    remembered(projects[3], level=Level.PROJECT)
    rebuild(projects[0].everywhere())
    assert [offered(store) for store in projects] == 4 * [[]]


def test_what_changed_in_another_project_after_it_was_shown_settles_nothing(projects: list[Store]) -> None:
    ids = [remembered(store, level=Level.PROJECT) for store in projects[:3]]
    (entry,) = offered(projects[0])
    revise(projects[2], ids[2], Revision(tags=("changed",)))

    assert settle(projects[0], entry, Verdict.ACCEPT) is Became.CHANGED
    assert read(projects[0], ids[0]).memory.status is Status.ACTIVE


def test_what_waits_in_a_project_counts_for_nothing(projects: list[Store]) -> None:
    for store, source in zip(projects, ("manual", "manual", "assistant"), strict=False):
        remembered(store, level=Level.PROJECT, source=source)

    assert offered(projects[0]) == []
