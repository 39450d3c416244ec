"""What never ages, and what keeps alive what does; a new index knows all of it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.context.brief import brief, note_shown
from mcp_server.actions.context.claude_md import CLAUDE_MD, choose
from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import BATCH, catch_up, rebuild, sync
from mcp_server.actions.files.take_in import take_in
from mcp_server.actions.judge.candidate import approve, propose
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.promote import pin
from mcp_server.actions.memory.repository import accept
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.trust import validate
from mcp_server.actions.recall.recall import note_found, recall
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.ledger import read_events
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.search.query import Confidence, Query
from mcp_server.store import Store
from tests.actions.tidy.knowledge import put
from tests.conftest import Clock
from tests.memories import status

pytestmark = pytest.mark.usefixtures("steady_use")

OLD = "created: 2025-01-01\nupdated: 2025-01-01\nsource: mined\ntype: context\n"
GATEWAY = "The gateway of the shop speaks gRPC for now"


def tidied(store: Store) -> dict[str, int]:
    """Tidy twice, the second time with an index rebuilt, which must not say otherwise; return the first."""
    counts = tidy(store).counts
    rebuild(store)
    assert tidy(store).counts == {}
    rebuild(store)
    assert tidy(store).counts == {}
    return counts


def events(store: Store, *names: str) -> list[dict[str, object]]:
    lines = [event for path in store.ledger.paths() for event, _ in read_events(path, 0)]
    return [event.data for event in lines if event.event in names]


def by_hand(store: Store, name: str, text: str) -> Path:
    folder = store.vaults[-1].root / "knowledge"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    return path


LASTING = ("architecture", "decision", "pattern", "gotcha", "preference", "reference")
PASSING = ("progress", "context", "note")


@pytest.mark.parametrize(
    ("type", "source"),
    [
        *((type, "mined") for type in LASTING),
        *((type, own) for type in PASSING for own in ("manual", "imported")),
    ],
)
def test_what_holds_until_it_is_replaced_or_comes_from_the_person_never_ages(
    store: Store, clock: Clock, type: str, source: str
) -> None:
    memory_id = put(store, GATEWAY, type=type, source=source)
    clock.pass_days(2000)

    assert tidied(store) == {}
    assert status(store, memory_id) is Status.ACTIVE


def test_what_the_person_saved_by_name_never_ages(store: Store, clock: Clock) -> None:
    for kind in (Kind.SESSION, Kind.CONVERSATION):
        put(store, "user: hello", title=f"Saved {kind}", kind=kind, source="manual")
    clock.pass_days(2000)

    assert tidied(store) == {}


def test_what_the_person_approved_never_ages(store: Store, clock: Clock) -> None:
    propose(store, Draft("Gateway", GATEWAY, source="mined"), key="k1", confidence=0.6, why="waits")
    (approved,) = approve(store, ["k1"])
    accepted = put(store, "Tests run before each deploy for now", type="context", source="assistant")
    with store.database.read() as db:
        row = selections.with_ref(db, read(store, accepted).ref)
    assert row
    accept(store, [row])
    clock.pass_days(2000)

    assert tidied(store) == {}
    assert status(store, approved.id) is status(store, accepted) is Status.ACTIVE


def look_after(store: Store, memory_id: str, how: str) -> None:
    path = read(store, memory_id).path
    match how:
        case "recalled":
            assert recall(store, Query("gateway gRPC"), given_to="s1").hits[0].id == memory_id
        case "found in a terminal":
            note_found(store, recall(store, Query("gateway gRPC")))
        case "shown at a prompt":
            assert memory_id in inject(store.in_session("s1"), "Does the gateway of the shop speak gRPC?")
        case "told at a start":
            store.ledger.append(
                "injected",
                store.clock(),
                why="session start",
                refs=[read(store, memory_id).ref],
                session="s1",
            )
        case "pinned for a day":
            pin(store, memory_id, pinned=True)
            pin(store, memory_id, pinned=False)
        case "linked":
            link(store, memory_id, put(store, "Clients use the same schema"), "refines")
        case "validated":
            validate(store, memory_id)
        case "restored":
            forget(store, memory_id)
            restore(store, memory_id)
        case "revised":
            revise(store, memory_id, Revision(tags=("grpc",)))
        case "edited in an editor":
            path.write_bytes(path.read_bytes().replace(b"speaks gRPC", b"speaks gRPC and REST"))
            sync(store)
        case "edited and heard of by the watcher":
            path.write_bytes(path.read_bytes().replace(b"speaks gRPC", b"speaks gRPC and REST"))
            take_in(store, read(store, memory_id).vault, path, by_hand=True)
        case "taken away and copied back":
            data = path.read_bytes()
            path.unlink()
            sync(store)
            path.write_bytes(data)
            sync(store)


@pytest.mark.feature("D-24", "3.4-archive-by-activity")
@pytest.mark.parametrize(
    "how",
    [
        "recalled", "found in a terminal", "shown at a prompt", "told at a start", "pinned for a day",
        "linked", "validated", "restored", "revised", "edited in an editor",
        "edited and heard of by the watcher", "taken away and copied back",
    ],
)  # fmt: skip
def test_a_sign_of_life_is_known_for_90_days_by_any_index(store: Store, clock: Clock, how: str) -> None:
    looked_after = put(store, GATEWAY, type="context")
    alone = put(store, "A passing thought about the logo", type="note")
    clock.pass_days(85)
    look_after(store, looked_after, how)
    clock.pass_days(80)

    assert tidied(store) == {"ageing": 1}
    assert (status(store, looked_after), status(store, alone)) == (Status.ACTIVE, Status.ARCHIVED)
    clock.pass_days(11)
    assert tidied(store) == {"ageing": 1}
    assert status(store, looked_after) is Status.ARCHIVED


def test_a_block_tells_on_days_on_which_a_session_starts(store: Store, clock: Clock) -> None:
    in_block = put(store, GATEWAY, type="note")
    choose(store, CLAUDE_MD)
    faded = put(store, "The beta runs on eu-west-3", type="context")
    for _ in range(12):
        clock.pass_days(9)
        note_shown(store, ())
        catch_up(store)  # as the server does that starts with a session
        note_shown(store, ())

    assert tidied(store) == {"ageing": 1}
    assert (status(store, in_block), status(store, faded)) == (Status.ACTIVE, Status.ARCHIVED)
    assert len(events(store, "told")) == 12
    clock.pass_days(91)
    assert tidied(store) == {"ageing": 1}


def test_a_brief_tells_by_title_on_days_on_which_a_session_starts(store: Store, clock: Clock) -> None:
    in_brief = put(store, GATEWAY, type="note")
    faded = put(store, "The beta runs on eu-west-3", type="context")
    for number in range(40):
        put(store, f"Decision {number}: " + "because of what was measured, " * 20, type="decision")
    for _ in range(13):
        clock.pass_days(9)
        start_brief = brief(store)
        note_shown(store, start_brief.titles)
        catch_up(store)

    vault = store.vaults[-1].key
    assert f"{vault}/{in_brief}" in start_brief.titles
    assert f"{vault}/{faded}" not in start_brief.titles
    assert tidied(store) == {"ageing": 1}
    assert (status(store, in_brief), status(store, faded)) == (Status.ACTIVE, Status.ARCHIVED)


@pytest.mark.parametrize("how", ["listed below the gate", "touched without another word"])
def test_what_is_no_sign_of_life(store: Store, clock: Clock, how: str) -> None:
    memory_id = put(store, GATEWAY, type="context")
    clock.pass_days(85)
    if how == "listed below the gate":
        answer = recall(store, Query("which gateway has the best zirconium supply in town"), given_to="s1")
        assert [hit.id for hit in answer.hits] == [memory_id]
        assert answer.hits[0].confidence is Confidence.NONE
    else:
        path = read(store, memory_id).path
        os.utime(path)
        path.write_bytes(path.read_bytes().replace(b"source:", b"category: x\nsource:"))
        sync(store)
    clock.pass_days(6)

    assert tidied(store) == {"ageing": 1}


@pytest.mark.parametrize("copied", ["before there is an index", "beside a running session"])
def test_what_is_copied_in_with_its_old_dates_has_just_arrived(
    store: Store, clock: Clock, copied: str
) -> None:
    if copied != "before there is an index":
        sync(store)
    by_hand(store, "old", f"---\n{OLD}---\nThe beta runs on eu-west-3.\n")
    sync(store)

    assert tidied(store) == {}
    clock.pass_days(89)
    assert tidied(store) == {}
    clock.pass_days(2)
    assert tidied(store) == {"ageing": 1}
    assert status(store, "old") is Status.ARCHIVED


def test_files_of_several_transactions_at_first_sight_are_one_line_and_nothing_is_added_to_it(
    store: Store,
) -> None:
    many = BATCH + 50
    for number in range(many):
        by_hand(store, f"file-{number}", f"---\n{OLD}---\nFact number {number}.\n")
    sync(store)
    rebuild(store)
    sync(store)
    tidy(store)

    assert [len(line["refs"]) for line in events(store, "arrived", "edited")] == [many]  # type: ignore[arg-type]


def test_what_the_ledger_never_named_is_not_known_to_be_old(store: Store, clock: Clock) -> None:
    by_hand(store, "old", f"---\n{OLD}---\nThe beta runs on eu-west-3.\n")
    sync(store)
    for path in store.ledger.paths():  # a backup without it
        lines = [line for line in path.read_bytes().splitlines(keepends=True) if b"arrived" not in line]
        path.write_bytes(b"".join(lines))
    clock.pass_days(91)
    with store.database.write() as db:
        db.execute("DELETE FROM life")

    assert tidy(store, dry_run=True).counts == {}
    assert tidied(store) == {}


def test_a_line_from_a_clock_that_was_ahead_neither_ages_nor_keeps(store: Store, clock: Clock) -> None:
    memory_id = put(store, GATEWAY, type="context")
    clock.now = clock.now.replace(year=2040)
    note_found(store, recall(store, Query("gateway gRPC")))
    clock.now = clock.now.replace(year=2026)
    clock.pass_days(89)
    assert tidied(store) == {}
    clock.pass_days(2)

    assert tidied(store) == {"ageing": 1}
    assert status(store, memory_id) is Status.ARCHIVED


def test_a_date_in_the_future_is_a_slip_of_the_pen(store: Store, clock: Clock) -> None:
    slip = "created: 2026-11-01\nupdated: 2099-01-01\nverified: 2099-01-01\nsource: mined\ntype: context\n"
    path = by_hand(store, "slip", f"---\n{slip}---\nThe beta runs on eu-west-3.\n")
    os.utime(path, (clock.now.timestamp() - 400 * 86_400,) * 2)
    sync(store)
    clock.pass_days(30)
    (hit,) = recall(store, Query("beta eu-west-3")).hits
    assert hit.updated < clock.now
    assert hit.parts.recency < 0.1
    clock.pass_days(61)

    assert tidied(store) == {"ageing": 1}


def test_files_in_a_repository_are_not_noted(
    open_here: Callable[..., object], store: Store, project: Path
) -> None:
    folder = project / ".claude-memory" / "knowledge"
    folder.mkdir(parents=True)
    (folder / "theirs.md").write_text("The build needs Go 1.23.\n", encoding="utf-8")
    reopened = open_here().store()  # type: ignore[attr-defined]
    sync(reopened)

    assert [vault.in_repository for vault in reopened.vaults][-1]
    assert events(reopened, "arrived") == []
    shutil.rmtree(folder)
