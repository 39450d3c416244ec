"""The figures of the last days, from events that are known."""

from datetime import timedelta

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.sessions.session_history import list_sessions
from mcp_server.actions.status.insight import OneDay, Share, insight
from mcp_server.adapters.places import TEAM_KEY
from mcp_server.adapters.vault import Vault
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.conftest import Clock

DAY = timedelta(days=1)


def remembered(store: Store, title: str, **more: str) -> str:
    """Store a memory; return its ref."""
    memory = remember(store, Draft(title, f"{title} holds here.", **more)).memory
    return f"{store.vaults[-1].key}/{memory.id}"


def note(store: Store, event: str, *, back: int = 0, **data: object) -> None:
    store.ledger.append(event, store.clock() - back * DAY, **data)


def midnight(clock: Clock, back: int) -> int:
    now = int(clock.now.timestamp())
    return now - now % 86400 - back * 86400


def test_an_empty_store_has_no_figures(store: Store) -> None:
    figures = insight(store, days=7)

    assert len(figures.days) == 7
    assert {day.shown + day.answers + day.calls + day.sessions for day in figures.days} == {0}
    assert [
        share.rate for share in (figures.used, figures.rejected, figures.taken_back, figures.forgotten_soon)
    ] == [None] * 4
    assert figures.ages == (0, 0, 0, 0, 0)
    assert sum(folder.files for folder in figures.folders) == 0


def test_what_was_told_and_used_stands_on_its_day(store: Store, elsewhere: Store, clock: Clock) -> None:
    webhooks, invoices = remembered(store, "Webhooks"), remembered(store, "Invoices")
    other = remembered(elsewhere, "Lifts")
    note(
        store,
        "injected",
        back=2,
        why="session start",
        refs=[webhooks, invoices],
        digests=["", ""],
        tokens=[40, 50],
        session="a",
    )
    note(store, "injected", back=2, refs=[webhooks], digests=[""], tokens=[30], prompt="p", session="a")
    note(
        store,
        "recalled",
        back=1,
        refs=[webhooks, invoices],
        confident=[webhooks],
        tokens=[70, 80],
        query="q",
        session="a",
    )
    note(store, "recalled", back=1, refs=[invoices], confident=[invoices], tokens=[5], query="q", session="b")
    note(store, "recalled", back=1, refs=[other], confident=[other], tokens=[900], query="q", session="c")
    note(store, "injected", back=30, refs=[webhooks], digests=[""], tokens=[30], prompt="p", session="z")
    note(store, "used", back=0, refs=[webhooks], session="a")
    sync(store)

    figures = insight(store, days=7)
    days = {day.at: day for day in figures.days if day.shown or day.answers}

    assert days == {
        midnight(clock, 2): OneDay(midnight(clock, 2), start=90, prompts=30, answers=1, used=1),
        midnight(clock, 1): OneDay(midnight(clock, 1), searches=155, answers=1, used=0),
    }
    assert figures.used == Share(1, 2)
    everywhere = insight(store, days=7, everywhere=True)
    assert sum(day.searches for day in everywhere.days) == 1055
    assert everywhere.used == Share(1, 3)


def test_what_models_cost_stands_on_its_day(store: Store, clock: Clock) -> None:
    for back, call, usd in ((3, "one", 0.5), (3, "two", 0.25), (3, "plan-3", 0.0), (9, "four", 4.0)):
        note(store, "reserved", back=back, call=call, item="x", usd=9.0)
        note(store, "spent", back=back, call=call, usd=usd, outcome="ok", input=10, output=1)

    day = next(day for day in insight(store, days=7).days if day.calls)

    assert (day.at, day.usd, day.calls, day.plan_calls) == (midnight(clock, 3), 0.75, 2, 1)


def test_sessions_are_counted_on_the_day_when_they_began(
    store: Store, elsewhere: Store, clock: Clock
) -> None:
    project_key, other_key = store.vaults[-1].key, elsewhere.vaults[-1].key
    for back, session, vault in (
        (4, "a", project_key),
        (4, "b", project_key),
        (2, "c", project_key),
        (2, "d", other_key),
    ):
        note(store, "session_started", back=back, session=session, vault=vault)
    note(store, "session_started", back=1, session="a", vault=project_key)

    began = {day.at: day.sessions for day in insight(store, days=7).days if day.sessions}
    every = {day.at: day.sessions for day in insight(store, days=7, everywhere=True).days if day.sessions}

    assert began == {midnight(clock, 4): 2, midnight(clock, 2): 1}
    assert every == {midnight(clock, 4): 2, midnight(clock, 2): 2}


def test_a_session_of_another_project_that_judged_the_teams_memory_is_none_of_this_project(
    store: Store,
) -> None:
    of_team = store.scoped([*store.vaults, Vault(TEAM_KEY, store.home / TEAM_KEY, Level.TEAM)])
    note(store, "trusted", refs=["team/webhooks"], reason="wrong", session="elsewhere")
    note(store, "trusted", refs=[remembered(store, "Webhooks")], reason="wrong", session="here")

    assert [day.sessions for day in insight(of_team, days=1).days] == [1]
    assert [episode.id for episode in list_sessions(of_team)] == ["here"]


def test_changes_that_were_taken_back_are_counted_once_and_not_when_they_stand_again(store: Store) -> None:
    for title in ("Webhooks", "Invoices", "Lifts", "Plants"):
        remembered(store, title)
    undo(store, last_change(store))
    assert insight(store, days=7).taken_back == Share(1, 4)
    undo(store, last_change(store))
    assert insight(store, days=7).taken_back == Share(0, 4)
    undo(store, last_change(store))
    assert insight(store, days=7).taken_back == Share(1, 4)


def test_a_memory_forgotten_within_a_week_was_not_worth_storing(store: Store, clock: Clock) -> None:
    soon, late, back = (
        remembered(store, title).rpartition("/")[2] for title in ("Webhooks", "Invoices", "Lifts")
    )
    clock.pass_days(3)
    forget(store, soon)
    forget(store, back)
    restore(store, back)
    clock.pass_days(6)
    forget(store, late)

    assert insight(store, days=30).forgotten_soon == Share(1, 3)
    assert insight(store, days=7).forgotten_soon == Share(0, 0)


def test_candidates_count_by_the_verdict_that_stands(store: Store) -> None:
    note(store, "judged", back=2, candidates=["one"], verdict="rejected")
    note(store, "judged", back=2, candidates=["two"], verdict="approved")
    note(store, "judged", back=1, candidates=["two", "three"], verdict="rejected")
    note(store, "judged", back=1, candidates=["four"], verdict="expired")
    note(store, "judged", back=20, candidates=["old"], verdict="rejected")

    assert insight(store, days=7).rejected == Share(3, 4)


def test_memories_are_counted_by_type_age_and_folder(store: Store, clock: Clock) -> None:
    remembered(store, "Webhooks", type="decision")
    clock.pass_days(31)
    remembered(store, "Invoices", type="decision")
    remembered(store, "Lifts", type="gotcha")
    clock.pass_days(8)
    remembered(store, "Plants", type="gotcha")

    figures = insight(store, days=7)

    assert figures.counts.by_type == {"decision": 2, "gotcha": 2}
    assert figures.ages == (1, 2, 1, 0, 0)
    size_by_folder = {folder.name: (folder.files, folder.size) for folder in figures.folders}
    assert size_by_folder["knowledge"] == (4, figures.size.memories)
    assert figures.size.memories > 0


@pytest.mark.parametrize("days", [0, -1, 100_000])
def test_a_range_that_makes_no_sense_is_refused(store: Store, days: int) -> None:
    with pytest.raises(Rejected):
        insight(store, days=days)
