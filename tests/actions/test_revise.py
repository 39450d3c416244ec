import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise, version
from mcp_server.actions.recall.recall import recall
from mcp_server.core.errors import Conflict, NotFound, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.conftest import Clock


@pytest.fixture
def deploys(store: Store) -> str:
    return remember(store, Draft("Deploys", "We deploy from main.", tags=("ci",))).memory.id


def test_only_what_is_given_changes(store: Store, deploys: str, clock: Clock) -> None:
    before = read(store, deploys).memory
    clock.pass_days(1)

    after = revise(store, deploys, Revision(text="We deploy from release.")).memory

    assert (after.title, after.tags, after.created) == (before.title, before.tags, before.created)
    assert (after.text, after.updated) == ("We deploy from release.", clock.now)
    assert [hit.id for hit in recall(store, Query("release")).hits] == [deploys]


def test_a_revision_that_changes_nothing_writes_nothing(store: Store, deploys: str) -> None:
    before = read(store, deploys)

    after = revise(store, deploys, Revision(title="Deploys"))

    assert after.data == before.data


def test_unknown_keys_and_comments_survive(store: Store, deploys: str) -> None:
    path = read(store, deploys).path
    text = path.read_text(encoding="utf-8").replace(
        "tags: [ci]", "# mine\nreviewed-by: Ada   # twice\ntags: [ci]"
    )
    path.write_text(text, encoding="utf-8")

    revise(store, deploys, Revision(tags=("ci", "release")))

    assert "# mine\nreviewed-by: Ada   # twice\ntags: [ci, release]\n" in path.read_text(encoding="utf-8")


def test_whoever_read_an_older_version_is_told_and_overwrites_nothing(store: Store, deploys: str) -> None:
    read_version = version(read(store, deploys))
    revise(store, deploys, Revision(text="Edited meanwhile."), version=read_version)

    with pytest.raises(Conflict, match="changed since"):
        revise(store, deploys, Revision(text="Late."), version=read_version)

    assert read(store, deploys).memory.text == "Edited meanwhile."


def test_an_edit_by_hand_before_a_revision_is_kept(store: Store, deploys: str) -> None:
    path = read(store, deploys).path
    path.write_text(path.read_text(encoding="utf-8").replace("main", "trunk"), encoding="utf-8")

    revise(store, deploys, Revision(tags=("release",)))

    assert "trunk" in path.read_text(encoding="utf-8")


def test_a_memory_that_is_not_there_is_named_with_its_nearest(store: Store, deploys: str) -> None:
    with pytest.raises(NotFound) as refusal:
        revise(store, deploys[:-4] + "0000", Revision(text="x"))

    assert deploys in refusal.value.hint


@pytest.mark.parametrize(
    "revision",
    [
        Revision(title=" "),
        Revision(text=" "),
        Revision(type="idea"),
        Revision(text="ghp_" + "k3J9xQ2mV7bT5nR8wL4cY6zD1fH0sG2pA9eU"),
        Revision(text="[secret removed: a GitHub token]"),
    ],
)
def test_a_revision_that_cannot_be_stored_is_refused(store: Store, deploys: str, revision: Revision) -> None:
    before = read(store, deploys).data

    with pytest.raises(Rejected):
        revise(store, deploys, revision)

    assert read(store, deploys).data == before
