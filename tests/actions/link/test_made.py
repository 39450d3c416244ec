"""Links are made and taken back."""

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.link import Linked, link, unlink
from mcp_server.actions.memory.related import get_related
from mcp_server.adapters.index.events import deeds
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.graph.graph import artifact_id
from mcp_server.core.links import After, LinkOutcome
from mcp_server.core.memory import Level, Link, Status
from mcp_server.store import Store
from tests.actions.link.linked import add_by_hand, known, told
from tests.conftest import Clock


def test_a_link_stands_in_the_file_and_is_told_from_both_ends(store: Store) -> None:
    one, other = known(store, "Webhook"), known(store, "Billing")

    done = link(store, one, other, "depends_on")

    assert done == Linked(one, "depends-on", other, changed=True, added=True)
    assert read(store, one).memory.links == (Link("depends-on", other),)
    assert told(store, one) == [("depends-on", True, other)]
    assert told(store, other) == [("depends-on", False, one)]


@pytest.mark.feature("B-41")
@pytest.mark.parametrize(
    ("said", "rel"),
    [
        ("", "relates-to"),
        ("relates_to", "relates-to"),
        ("Must load before", "must-load-before"),
        ("refines", "refines"),
    ],
)
def test_labels_are_kebab_case(store: Store, said: str, rel: str) -> None:
    one, other = known(store, "Webhook"), known(store, "Billing")

    assert link(store, one, other, said).rel == rel


def test_linking_again_changes_nothing(store: Store) -> None:
    one, other = known(store, "Webhook"), known(store, "Billing")
    link(store, one, other)
    before = read(store, one).data

    assert not link(store, one, other, "relates to").changed
    assert link(store, one, other, "refines").changed
    assert read(store, one).memory.links == (Link("relates-to", other), Link("refines", other))
    assert read(store, one).data != before


@pytest.mark.parametrize("path", ["src/lib/stripe.ts:42", "docs/billing.md"])
def test_a_link_may_lead_to_a_file(store: Store, path: str) -> None:
    one = known(store, "Webhook")

    link(store, one, path, "implemented-in")

    assert told(store, one) == [("implemented-in", True, path)]
    assert unlink(store, one, path).changed
    assert told(store, one) == []


def test_ends_are_named_by_id_title_or_alias_in_any_case(store: Store) -> None:
    one, other = known(store, "Webhook"), known(store, "How we bill")
    add_by_hand(store, other, "aliases: [Billing]")

    assert link(store, "webhook", "BILLING", "uses") == Linked(one, "uses", other, changed=True, added=True)
    assert read(store, one).memory.links == (Link("uses", other),)
    assert not link(store, f"{one}.md", "how we bill", "uses").changed
    assert unlink(store, "Webhook", "Billing").changed
    assert told(store, one) == []


def test_a_link_may_begin_at_a_file(store: Store) -> None:
    one = known(store, "Webhook")

    assert link(store, "src/a.ts", "src/b.ts", "loads").source == "src/a.ts"
    link(store, "src/a.ts", one, "shows")

    stands = read(store, artifact_id("src/a.ts")).memory
    assert stands.links == (Link("loads", "src/b.ts"), Link("shows", one))
    assert told(store, one) == [("shows", False, stands.id)]
    assert unlink(store, "src/a.ts", "src/b.ts").changed
    assert unlink(store, "src/a.ts", "Webhook").changed
    assert not unlink(store, "src/a.ts", one).changed
    with pytest.raises(NotFound):
        read(store, stands.id)


@pytest.mark.parametrize("path", ["a/\x07b", "../" + "x" * 500])
def test_a_path_that_nobody_could_read_is_refused(store: Store, path: str) -> None:
    with pytest.raises(Rejected, match="cannot be linked"):
        link(store, known(store, "Webhook"), path)


def test_notes_are_kept_until_others_are_given(store: Store) -> None:
    one, other = known(store, "Webhook", "See [[Billing]]."), known(store, "Billing")

    assert not link(store, one, other).changed, "it is written in the text"
    noted = link(store, one, other, notes=["since May"])
    again = link(store, one, other)

    assert (noted.changed, noted.added, again.changed) == (True, False, False)
    assert read(store, one).memory.links == (Link("relates-to", other, ("since May",)),)
    assert told(store, one) == [("relates-to", True, other)]


@pytest.mark.parametrize("rel", ["supersedes", "contradicts"])
def test_a_file_supersedes_and_contradicts_nothing(store: Store, rel: str) -> None:
    with pytest.raises(Rejected, match="only memories can"):
        link(store, known(store, "Webhook"), "src/app.py", rel)


def test_both_ends_must_be_there(store: Store) -> None:
    one = known(store, "Webhook")

    with pytest.raises(NotFound) as refused:
        link(store, one, one.replace("webhook", "webhok"))
    assert one in refused.value.hint
    with pytest.raises(NotFound):
        link(store, "no-such-memory", one)
    with pytest.raises(Rejected, match="itself"):
        link(store, one, one)
    with pytest.raises(Rejected, match="label"):
        link(store, one, known(store, "Billing"), "→ ★")
    assert read(store, one).memory.links == ()


def test_what_a_link_supersedes_is_superseded_and_comes_back(store: Store, clock: Clock) -> None:
    old, new = known(store, "Database", "We use MySQL."), known(store, "Database now", "We use Postgres.")
    clock.pass_days(1)

    done = link(store, new, old, "supersedes")

    assert done.became == (LinkOutcome(old, After.SUPERSEDED),)
    before = read(store, old).memory
    assert (before.status, before.superseded_by) == (Status.SUPERSEDED, new)
    assert before.valid_to == clock()
    assert read(store, new).memory.supersedes == (old,)
    assert told(store, old) == [("supersedes", False, new)]

    back = unlink(store, new, old, "supersedes")

    assert back.became == (LinkOutcome(old, After.ACTIVE),)
    after = read(store, old).memory
    assert (after.status, after.superseded_by, after.valid_to) == (Status.ACTIVE, "", None)
    assert read(store, new).memory.supersedes == ()


def test_two_do_not_supersede_each_other(store: Store) -> None:
    old, new = known(store, "Database"), known(store, "Database now")
    link(store, new, old, "supersedes")

    with pytest.raises(Rejected, match="already"):
        link(store, old, new, "supersedes")


def test_nothing_supersedes_what_came_after_it(store: Store) -> None:
    first, second, third = known(store, "First"), known(store, "Second"), known(store, "Third")
    link(store, second, first, "supersedes")
    link(store, third, second, "supersedes")

    with pytest.raises(Rejected, match=f"'{third}' supersedes '{first}' already"):
        link(store, first, third, "supersedes")
    assert read(store, third).memory.status is Status.ACTIVE


def test_what_another_superseded_stays_so(store: Store) -> None:
    old, new, newest = known(store, "First"), known(store, "Second"), known(store, "Third")
    link(store, new, old, "supersedes")

    (became,) = link(store, newest, old, "supersedes").became
    assert became == LinkOutcome(old, After.AWAY, Status.SUPERSEDED, new)
    assert unlink(store, newest, old).became == (LinkOutcome(old, After.STAYS, Status.SUPERSEDED),)


def test_unlinking_what_is_not_linked_changes_nothing(store: Store) -> None:
    one, other = known(store, "Webhook"), known(store, "Billing")
    before = read(store, one).data

    assert not unlink(store, one, other).changed
    assert read(store, one).data == before


def test_a_link_to_what_is_gone_can_be_taken_back(store: Store) -> None:
    one, other = known(store, "Webhook"), known(store, "Billing")
    link(store, one, other)
    forget(store, other)

    assert told(store, one) == [("relates-to", True, other)]
    assert unlink(store, one, other).changed


def test_a_link_to_an_archived_memory_stays_as_a_trace(store: Store) -> None:
    one, other = known(store, "Webhook"), known(store, "Billing")
    found = read(store, other)
    target = found.vault.root / "archive" / found.path.name
    target.parent.mkdir(exist_ok=True)
    found.path.rename(target)
    sync(store)

    assert link(store, one, other).became == (LinkOutcome(other, After.TRACE, Status.ARCHIVED),)
    ((_, edge),) = get_related(store, one).edges
    assert edge.other is not None
    assert edge.other.status is Status.ARCHIVED


def test_links_are_in_the_history(store: Store) -> None:
    one, other = known(store, "Webhook"), known(store, "Billing")
    link(store, one, other, "refines", session="s1")
    unlink(store, one, other, session="s1")
    sync(store)

    with store.database.read() as db:
        done = deeds.listed(db, session="s1", events=("linked", "unlinked"), limit=9)
    assert [(deed.event, deed.id, deed.detail) for deed in done] == [
        ("unlinked", one, {"rel": "refines", "to": other}),
        ("linked", one, {"rel": "refines", "to": other}),
    ]


def test_the_person_and_the_project_may_be_linked(store: Store) -> None:
    mine = known(store, "Mine", level=Level.USER)
    ours = known(store, "Ours", level=Level.PROJECT)

    link(store, ours, mine)

    assert told(store, mine) == [("relates-to", False, ours)]
