"""What a new memory takes the place of may be named by its id, or quoted."""

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.judge.draft_outcome import Action, DraftOutcome
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Status
from mcp_server.doors.shown.draft_outcome import note
from mcp_server.store import Store

OLD = "Packages are installed with `npm ci`, and\nthe lock file is committed. It is slow."


def remembered(store: Store, title: str, text: str) -> str:
    return remember(store, Draft(title, text, type="decision")).memory.id


def replacing(store: Store, quote: str) -> DraftOutcome:
    return compare_and_store(store, Draft("Bun", "Everything moved to Bun last week.", supersedes=(quote,)))


@pytest.mark.parametrize(
    "quote",
    ["and the lock file is committed", "packages are INSTALLED with `npm ci`", "“It is slow.”", "Packages"],
)
def test_a_quote_of_exactly_one_memory_names_it(store: Store, quote: str) -> None:
    old = remembered(store, "Packages", OLD)
    remembered(store, "Pictures", "Pictures are stored in a bucket.")

    outcome = replacing(store, quote)

    assert (outcome.action, outcome.superseded) == (Action.REPLACE, (old,))
    assert read(store, old).memory.status is Status.SUPERSEDED
    assert read(store, outcome.id).memory.supersedes == (old,)


def test_a_quote_in_another_script_names_it_too(store: Store) -> None:
    old = remembered(store, "端口", "预发布服务器的数据库监听在端口五四三二上。")

    assert replacing(store, "服务器的数据库监听在端口").superseded == (old,)


def test_a_quote_of_two_memories_names_none_and_says_which(store: Store) -> None:
    packages, locks = (
        remembered(store, "Packages", OLD),
        remembered(store, "Locks", "The lock file is committed to git."),
    )

    outcome = replacing(store, "the lock file is committed")

    assert (outcome.action, outcome.superseded) == (Action.ADD, ())
    assert set(outcome.several["the lock file is committed"]) == {packages, locks}
    assert "“the lock file is committed” is in" in note(outcome)
    assert "name the one you mean by its id" in note(outcome)
    assert read(store, outcome.id).memory.supersedes == ()


def test_what_is_only_like_a_memory_names_it_without_replacing_it(store: Store) -> None:
    old = remembered(store, "Packages", "Packages are installed with npm and the lock file is committed.")

    outcome = replacing(store, "the lock file is committed and packages are installed with npm")

    assert (outcome.action, outcome.superseded) == (Action.ADD, ())
    assert [near.id for near in outcome.near] == [old]
    assert "No active memory contains “the lock file is committed and packages" in note(outcome)
    assert read(store, old).memory.status is Status.ACTIVE


@pytest.mark.parametrize("name", ["npm", "was-never-there", "slow", "a: b", '"', "!!!", "OR NOT AND ("])
def test_a_name_that_is_none_is_said_and_the_new_one_is_stored(store: Store, name: str) -> None:
    old = remembered(store, "Packages", OLD)

    outcome = replacing(store, name)

    assert (outcome.action, outcome.unmoved) == (Action.ADD, (name,))
    assert "so nothing was replaced" in note(outcome)
    assert read(store, old).memory.status is Status.ACTIVE


def test_a_quote_of_what_was_put_away_is_none(store: Store) -> None:
    remembered(store, "Packages", OLD)
    replacing(store, "the lock file is committed")
    again = compare_and_store(
        store, Draft("Yarn", "Everything moved to Yarn.", supersedes=("the lock file is committed",))
    )

    assert again.superseded == ()
