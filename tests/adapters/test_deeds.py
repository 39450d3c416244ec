"""The deeds and the sessions, both derived from the ledger."""

from mcp_server.actions.files.sync import catch_up
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.adapters.index.events import deeds, replay, sessions
from mcp_server.adapters.ledger import Watermark
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.conftest import Open

EVENTS = ("remembered", "revised", "forgotten", "restored")


def now_at(store: Store) -> Watermark:
    catch_up(store)
    with store.database.read() as db:
        return replay.taken_in(db)


def test_the_history_tells_what_was_done_to_a_memory_and_who_did_it(store: Store) -> None:
    stored = remember(store, Draft("Port", "Staging listens on 8080.", session="one"))
    forget(store.in_session("two"), stored.memory.id)

    catch_up(store)
    with store.database.read() as db:
        listed = deeds.listed(db, ref=f"{store.vaults[-1].key}/{stored.memory.id}", limit=10)

    assert [(deed.event, deed.session) for deed in listed] == [("forgotten", "two"), ("remembered", "one")]
    assert listed[0].id == stored.memory.id
    assert listed[0].detail["forever"] is False


def test_what_another_session_did_since_is_told_once_and_survives_a_new_index(
    store: Store, open_here: Open
) -> None:
    remember(store, Draft("Before", "Known already.", session="other"))
    watermark = now_at(store)
    remember(store, Draft("Own", "Mine.", session="me"))
    theirs = remember(store, Draft("Theirs", "By the other session.", session="other"))

    def deeds_of_others() -> list[str]:
        catch_up(store)
        with store.database.read() as db:
            return [deed.id for deed in deeds.since(db, watermark, but="me", events=EVENTS)]

    assert deeds_of_others() == [theirs.memory.id]

    for path in store.home.glob("memory.db*"):
        path.unlink()
    store = open_here().store()
    assert deeds_of_others() == [theirs.memory.id]
    watermark = now_at(store)
    assert deeds_of_others() == []


def test_a_session_keeps_what_was_said_of_it_and_opens_again_when_it_goes_on(store: Store) -> None:
    def note(event: str, **data: object) -> sessions.SessionRow:
        store.ledger.append(event, store.clock(), session="8d7c-long-id", **data)
        catch_up(store)
        with store.database.read() as db:
            row = sessions.with_name(db, "8d7c1234")
        assert row
        return row

    note("session_started", short="8d7c1234", vault="p", folder="/f")
    assert note("session_titled", topic="Webhooks").topic == "Webhooks"
    assert note("session_ended").ended == store.now()
    on = note("session_told", watermark={"host-2026-11.jsonl": 12})
    assert (on.topic, on.folder, on.watermark, on.ended) == ("Webhooks", "/f", {"host-2026-11.jsonl": 12}, 0)
