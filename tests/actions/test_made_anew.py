"""Whatever was done with memories, an index rebuilt of files and ledger says the same of them."""

from pathlib import Path

import pytest

from mcp_server.actions.capture.capture import keep
from mcp_server.actions.capture.note import note_session
from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.sync import rebuild, sync
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.judge.contradiction import tell_apart
from mcp_server.actions.memory.promote import demote, pin, promote
from mcp_server.actions.memory.trust import invalidate, validate
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.sessions.quality import mark_used, note_use
from mcp_server.actions.sessions.session_history import end_session, title_session
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.actions.changing_imports import OF_IMPORTS
from tests.actions.changing_ways import WAYS, Act, Place, remembered
from tests.conftest import Clock
from tests.index_rows import all_rows
from tests.recorded import Recorded, seen


def _asked(place: Place) -> Act:
    """One is hot by its third recall, one is not, and of one what it says was of use."""
    hot, used = (
        remembered(place.store, "Heron server", "It is heron_port."),
        remembered(place.store, "Egret server"),
    )

    def recall_again() -> None:
        for session in ("s1", "s2"):
            for question in ("heron", "egret", "heron"):
                recall(place.store, Query(f"{question} server", limit=1), given_to=session)
        inject(place.store.in_session("s1"), "where does the heron server listen?")
        inject(place.store.in_session("s1"), "please write a poem about autumn")
        note_use(place.store.in_session("s1"), "It is heron_port.", prompt="")
        mark_used(place.store.in_session("s2"), [used])
        place.clock.pass_days(20)
        recall(place.store, Query("which swallow bears a coconut"), given_to="s3")
        assert hot in inject(place.store.in_session("s3"), "where does the heron server listen?")

    return recall_again


def _rated(place: Place) -> Act:
    first, second = remembered(place.store), remembered(place.store, "Cache rule", "Keep pages for an hour.")

    def rated() -> None:
        validate(place.store, first, note="tried it")
        place.clock.pass_days(20)
        invalidate(place.store, first, reason="outdated", note="they moved")
        promote(place.store, first)
        demote(place.store, first)
        promote(place.store, second)
        pin(place.store, first, pinned=True)

    return rated


def _about_a_changed_file(place: Place) -> Act:
    assert place.store.project
    path = place.store.project.root / "heron.py"
    path.write_text("port = 1", encoding="utf-8")
    remembered(place.store, touches=("heron.py",), level=Level.PROJECT)
    return lambda: path.write_text("port = 2", encoding="utf-8")


def _told_apart(place: Place) -> Act:
    first, second = (
        remembered(place.store, "Left", "It is on port 80."),
        remembered(place.store, "Right", "It is on port 81."),
    )
    return lambda: tell_apart(place.store, first, [second])


def _shadowed(place: Place) -> Act:
    old = remembered(place.store)
    draft = Draft("Retry rule", "Wait an hour.", level=Level.PROJECT, supersedes=(old,))
    return lambda: compare_and_store(place.store, draft)


def _kept(place: Place) -> Act:
    """A conversation that was kept, with a sentence that was sighted in it; more of it waits."""
    recorded = Recorded(place.folder / "transcripts", cwd=place.folder)
    recorded.user("We decided to keep rates in Redis for the speed.")
    transcript = seen(place.store, recorded)

    def keep_again() -> None:
        keep(place.store, transcript)
        recorded.user("And the totals are rounded per line.")
        seen(place.store, recorded)

    return keep_again


def _in_sessions(place: Place) -> Act:
    def lived() -> None:
        for session in ("8d7cabcd-1111", "8d7cabcd-9999"):
            note_session(place.store.in_session(session), folder=str(place.folder))
            remembered(
                place.store,
                f"Port {session}",
                f"Service {session} listens.",
                session=session,
                tags=("deploy",),
            )
            recall(place.store, Query("services listen"), given_to=session)
        title_session(place.store, "8d7cabcd-1111", topic="Ports")
        end_session(place.store, "8d7cabcd-1111", summary="All of them.")

    return lived


USES = {
    "ask and use": _asked,
    "rate, promote and pin": _rated,
    "change a file that it is about": _about_a_changed_file,
    "tell apart": _told_apart,
    "stand in for the person's in a project": _shadowed,
    "keep a conversation": _kept,
    "begin, name and end sessions": _in_sessions,
}
EVERY_WAY = {**WAYS, **OF_IMPORTS, **USES}


@pytest.mark.feature("B-36")
@pytest.mark.parametrize("way", EVERY_WAY)
def test_an_index_made_anew_says_the_same(
    store: Store, clock: Clock, tmp_path: Path, steady_use: None, way: str
) -> None:
    before = all_rows(store)
    act = EVERY_WAY[way](Place(store, clock, tmp_path))
    act()
    sync(store)
    followed = all_rows(store)
    assert followed != before, "nothing was noted of it: the test tells nothing"

    rebuild(store)

    made_anew = all_rows(store)
    for table, rows in followed.items():
        assert made_anew[table] == rows, table
