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
from mcp_server.core.link_outcome import After, LinkOutcome
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import Level, Status
from mcp_server.store import Store
from tests.actions.link.linked import add_by_hand, links_of, remembered
from tests.conftest import Clock


def test_a_link_stands_in_the_file_and_is_told_from_both_ends(store: Store) -> None:
    webhook, billing = remembered(store, "Webhook"), remembered(store, "Billing")

    outcome = link(store, webhook, billing, "depends_on")

    assert outcome == Linked(webhook, "depends-on", billing, changed=True, added=True)
    assert read(store, webhook).memory.links == (Link("depends-on", billing),)
    assert links_of(store, webhook) == [("depends-on", True, billing)]
    assert links_of(store, billing) == [("depends-on", False, webhook)]


@pytest.mark.feature("B-41")
@pytest.mark.parametrize(
    ("label", "rel"),
    [
        ("", "relates-to"),
        ("relates_to", "relates-to"),
        ("Must load before", "must-load-before"),
        ("refines", "refines"),
    ],
)
def test_labels_are_kebab_case(store: Store, label: str, rel: str) -> None:
    webhook, billing = remembered(store, "Webhook"), remembered(store, "Billing")

    assert link(store, webhook, billing, label).rel == rel


def test_linking_again_changes_nothing(store: Store) -> None:
    webhook, billing = remembered(store, "Webhook"), remembered(store, "Billing")
    link(store, webhook, billing)
    before = read(store, webhook).data

    assert not link(store, webhook, billing, "relates to").changed
    assert link(store, webhook, billing, "refines").changed
    assert read(store, webhook).memory.links == (Link("relates-to", billing), Link("refines", billing))
    assert read(store, webhook).data != before


@pytest.mark.parametrize("path", ["src/lib/stripe.ts:42", "docs/billing.md"])
def test_a_link_may_lead_to_a_file(store: Store, path: str) -> None:
    webhook = remembered(store, "Webhook")

    link(store, webhook, path, "implemented-in")

    assert links_of(store, webhook) == [("implemented-in", True, path)]
    assert unlink(store, webhook, path).changed
    assert links_of(store, webhook) == []


def test_ends_are_named_by_id_title_or_alias_in_any_case(store: Store) -> None:
    webhook, billing = remembered(store, "Webhook"), remembered(store, "How we bill")
    add_by_hand(store, billing, "aliases: [Billing]")

    assert link(store, "webhook", "BILLING", "uses") == Linked(
        webhook, "uses", billing, changed=True, added=True
    )
    assert read(store, webhook).memory.links == (Link("uses", billing),)
    assert not link(store, f"{webhook}.md", "how we bill", "uses").changed
    assert unlink(store, "Webhook", "Billing").changed
    assert links_of(store, webhook) == []


def test_a_link_may_begin_at_a_file(store: Store) -> None:
    webhook = remembered(store, "Webhook")

    assert link(store, "src/a.ts", "src/b.ts", "loads").source == "src/a.ts"
    link(store, "src/a.ts", webhook, "shows")

    stands = read(store, artifact_id("src/a.ts")).memory
    assert stands.links == (Link("loads", "src/b.ts"), Link("shows", webhook))
    assert links_of(store, webhook) == [("shows", False, stands.id)]
    assert unlink(store, "src/a.ts", "src/b.ts").changed
    assert unlink(store, "src/a.ts", "Webhook").changed
    assert not unlink(store, "src/a.ts", webhook).changed
    with pytest.raises(NotFound):
        read(store, stands.id)


@pytest.mark.parametrize("path", ["a/\x07b", "../" + "x" * 500])
def test_a_path_that_nobody_could_read_is_refused(store: Store, path: str) -> None:
    with pytest.raises(Rejected, match="cannot be linked"):
        link(store, remembered(store, "Webhook"), path)


def test_notes_are_kept_until_others_are_given(store: Store) -> None:
    webhook, billing = remembered(store, "Webhook", "See [[Billing]]."), remembered(store, "Billing")

    assert not link(store, webhook, billing).changed, "it is written in the text"
    noted = link(store, webhook, billing, notes=["since May"])
    again = link(store, webhook, billing)

    assert (noted.changed, noted.added, again.changed) == (True, False, False)
    assert read(store, webhook).memory.links == (Link("relates-to", billing, ("since May",)),)
    assert links_of(store, webhook) == [("relates-to", True, billing)]


@pytest.mark.parametrize("rel", ["supersedes", "contradicts"])
def test_a_file_supersedes_and_contradicts_nothing(store: Store, rel: str) -> None:
    with pytest.raises(Rejected, match="only memories can"):
        link(store, remembered(store, "Webhook"), "src/app.py", rel)


def test_both_ends_must_be_there(store: Store) -> None:
    webhook = remembered(store, "Webhook")

    with pytest.raises(NotFound) as refused:
        link(store, webhook, webhook.replace("webhook", "webhok"))
    assert webhook in refused.value.hint
    with pytest.raises(NotFound):
        link(store, "no-such-memory", webhook)
    with pytest.raises(Rejected, match="itself"):
        link(store, webhook, webhook)
    with pytest.raises(Rejected, match="label"):
        link(store, webhook, remembered(store, "Billing"), "→ ★")
    assert read(store, webhook).memory.links == ()


def test_what_a_link_supersedes_is_superseded_and_comes_back(store: Store, clock: Clock) -> None:
    old, new = (
        remembered(store, "Database", "We use MySQL."),
        remembered(store, "Database now", "We use Postgres."),
    )
    clock.pass_days(1)

    outcome = link(store, new, old, "supersedes")

    assert outcome.became == (LinkOutcome(old, After.SUPERSEDED),)
    before = read(store, old).memory
    assert (before.status, before.superseded_by) == (Status.SUPERSEDED, new)
    assert before.valid_to == clock()
    assert read(store, new).memory.supersedes == (old,)
    assert links_of(store, old) == [("supersedes", False, new)]

    back = unlink(store, new, old, "supersedes")

    assert back.became == (LinkOutcome(old, After.ACTIVE),)
    after = read(store, old).memory
    assert (after.status, after.superseded_by, after.valid_to) == (Status.ACTIVE, "", None)
    assert read(store, new).memory.supersedes == ()


def test_two_do_not_supersede_each_other(store: Store) -> None:
    old, new = remembered(store, "Database"), remembered(store, "Database now")
    link(store, new, old, "supersedes")

    with pytest.raises(Rejected, match="already"):
        link(store, old, new, "supersedes")


def test_nothing_supersedes_what_came_after_it(store: Store) -> None:
    first, second, third = remembered(store, "First"), remembered(store, "Second"), remembered(store, "Third")
    link(store, second, first, "supersedes")
    link(store, third, second, "supersedes")

    with pytest.raises(Rejected, match=f"'{third}' supersedes '{first}' already"):
        link(store, first, third, "supersedes")
    assert read(store, third).memory.status is Status.ACTIVE


def test_what_another_superseded_stays_so(store: Store) -> None:
    old, new, newest = remembered(store, "First"), remembered(store, "Second"), remembered(store, "Third")
    link(store, new, old, "supersedes")

    (became,) = link(store, newest, old, "supersedes").became
    assert became == LinkOutcome(old, After.AWAY, Status.SUPERSEDED, new)
    assert unlink(store, newest, old).became == (LinkOutcome(old, After.STAYS, Status.SUPERSEDED),)


def test_unlinking_what_is_not_linked_changes_nothing(store: Store) -> None:
    webhook, billing = remembered(store, "Webhook"), remembered(store, "Billing")
    before = read(store, webhook).data

    assert not unlink(store, webhook, billing).changed
    assert read(store, webhook).data == before


def test_a_link_to_what_is_gone_can_be_taken_back(store: Store) -> None:
    webhook, billing = remembered(store, "Webhook"), remembered(store, "Billing")
    link(store, webhook, billing)
    forget(store, billing)

    assert links_of(store, webhook) == [("relates-to", True, billing)]
    assert unlink(store, webhook, billing).changed


def test_a_link_to_an_archived_memory_stays_as_a_trace(store: Store) -> None:
    webhook, billing = remembered(store, "Webhook"), remembered(store, "Billing")
    file = read(store, billing)
    target = file.vault.root / "archive" / file.path.name
    target.parent.mkdir(exist_ok=True)
    file.path.rename(target)
    sync(store)

    assert link(store, webhook, billing).became == (LinkOutcome(billing, After.TRACE, Status.ARCHIVED),)
    (edge,) = get_related(store, webhook).edges
    assert edge.other is not None
    assert edge.other.status is Status.ARCHIVED


def test_links_are_in_the_history(store: Store) -> None:
    webhook, billing = remembered(store, "Webhook"), remembered(store, "Billing")
    link(store.in_session("s1"), webhook, billing, "refines")
    unlink(store.in_session("s1"), webhook, billing)
    sync(store)

    with store.database.read() as db:
        listed_deeds = deeds.listed(db, session="s1", events=("linked", "unlinked"), limit=9)
    assert [(deed.event, deed.id, deed.detail) for deed in listed_deeds] == [
        ("unlinked", webhook, {"rel": "refines", "to": billing, "by": "person"}),
        ("linked", webhook, {"rel": "refines", "to": billing, "by": "person"}),
    ]


def test_the_person_and_the_project_may_be_linked(store: Store) -> None:
    mine = remembered(store, "Mine", level=Level.USER)
    ours = remembered(store, "Ours", level=Level.PROJECT)

    link(store, ours, mine)

    assert links_of(store, mine) == [("relates-to", False, ours)]
